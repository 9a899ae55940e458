git update-ref refs/heads/HEAD HEAD
ticket t-1
