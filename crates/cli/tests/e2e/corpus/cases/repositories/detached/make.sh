plain
git switch --quiet --detach
