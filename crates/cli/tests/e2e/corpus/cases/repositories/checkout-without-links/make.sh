git config core.symlinks false
agent 'ln -sfn "$CREW_TICKET_ID" link && git add link && git commit -qm link && echo DONE'
git add agent.sh
git commit --quiet --message=agent
ticket t-1
