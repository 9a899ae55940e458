plain --object-format=sha256
agent "echo work > work.txt && git add . && git commit -qm work && echo DONE"
chmod +x agent.sh
git add .
git commit -qm agent
ticket t-1
