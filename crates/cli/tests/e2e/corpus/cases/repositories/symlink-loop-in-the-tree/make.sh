ln -s loop loop
ln -s /etc/passwd out
git add .
git commit --quiet --message=links
ticket t-1
