# It says that it is done, and somebody kills it at once: what was said stands only when the program ends well.
agent 'if [ -e work.txt ]; then echo DONE; exit; fi
echo work > work.txt && git add . && git commit --quiet --message=work
echo DONE
kill -KILL $$'
git add agent.sh
git commit --quiet --message=agent
