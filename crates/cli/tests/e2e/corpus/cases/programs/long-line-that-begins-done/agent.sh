#!/bin/sh
cat > /dev/null
printf DONE
head -c 20000000 /dev/zero | tr "\0" " "
echo
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
