git switch --quiet --create side
echo side > README
git commit --quiet --all --message=side
git switch --quiet main
echo other > README
git commit --quiet --all --message=other
git rebase side > /dev/null 2>&1 || :
ticket t-1
