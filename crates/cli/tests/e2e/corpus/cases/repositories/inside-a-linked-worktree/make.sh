git worktree add --quiet -b other ../other
ticket t-1
