git branch --quiet -m main trunk
git symbolic-ref refs/heads/main refs/heads/trunk
ticket t-1
