nothing
git init --quiet --initial-branch=main
