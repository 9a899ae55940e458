plain
git branch --move trunk
agent "echo work > work.txt && git add . && git commit -qm work && echo DONE"
ticket t-1
