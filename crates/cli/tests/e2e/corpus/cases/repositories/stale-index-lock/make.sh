: > .git/index.lock
touch -d 2020-01-01 .git/index.lock
ticket t-1
