mkdir -p .git/refs/heads
: > .git/refs/heads/main.lock
touch -d 2020-01-01 .git/refs/heads/main.lock
ticket t-1
