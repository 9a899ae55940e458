git worktree add --quiet -b other ../other
git worktree add --quiet -b gone ../gone
rm -rf ../gone
ticket t-1
