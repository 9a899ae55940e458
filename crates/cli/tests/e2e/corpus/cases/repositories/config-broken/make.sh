echo "[broken" >> .git/config
ticket t-1
