#!/bin/sh
cat > /dev/null
git switch --quiet --create elsewhere
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
echo DONE
