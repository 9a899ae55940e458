git config commit.gpgSign true
git config gpg.program /bin/false
ticket t-1
