# Two steps and one attempt for t-1. Of a `stream` its agent prints every byte, and it commits work.
ticket t-1
sed -i 's/^# max_steps.*/max_steps = 2/; s/^# attempts.*/attempts = 1/' crew.toml
if [ -e stream ]; then
    agent 'cat stream
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work'
fi
git add --all -- . ':!.tickets'
git commit --quiet --message=agent
