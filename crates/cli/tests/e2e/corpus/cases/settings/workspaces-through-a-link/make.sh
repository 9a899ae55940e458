mkdir ../out
ln -s ../out out
ticket t-1
