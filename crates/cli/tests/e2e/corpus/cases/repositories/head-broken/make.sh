echo nonsense > .git/HEAD
ticket t-1
