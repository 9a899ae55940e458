echo a > a
git add .
git commit --quiet --message=a
git replace HEAD HEAD~1
ticket t-1
