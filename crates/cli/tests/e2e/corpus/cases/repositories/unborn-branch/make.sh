plain
git switch --quiet --orphan fresh
