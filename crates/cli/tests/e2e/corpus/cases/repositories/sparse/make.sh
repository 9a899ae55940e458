mkdir in out
echo a > in/a
echo b > out/b
git add .
git commit --quiet --message=folders
git sparse-checkout set in
ticket t-1
