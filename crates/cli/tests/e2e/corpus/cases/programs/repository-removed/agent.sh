#!/bin/sh
cat > /dev/null
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
rm -rf .git
echo DONE
