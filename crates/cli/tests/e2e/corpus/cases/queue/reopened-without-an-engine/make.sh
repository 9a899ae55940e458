ticket t-1
agent 'echo work >> work.txt; git add .; git commit --quiet --message=work; echo DONE'
