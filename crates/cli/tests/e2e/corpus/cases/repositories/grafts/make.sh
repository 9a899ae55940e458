echo a > a
git add .
git commit --quiet --message=a
git rev-parse HEAD > .git/info/grafts
ticket t-1
