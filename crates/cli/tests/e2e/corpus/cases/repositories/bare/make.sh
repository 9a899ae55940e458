nothing
git init --quiet --bare
