echo a > Twin
echo b > twin
git add .
git commit --quiet --message=twins
ticket t-1
