once
git update-ref refs/heads/agent HEAD
ticket t-1
