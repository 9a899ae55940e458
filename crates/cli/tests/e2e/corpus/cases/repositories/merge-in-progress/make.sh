git switch --quiet --create side
echo side > README
git commit --quiet --all --message=side
git switch --quiet main
echo other > README
git commit --quiet --all --message=other
git merge side > /dev/null || :
ticket t-1
