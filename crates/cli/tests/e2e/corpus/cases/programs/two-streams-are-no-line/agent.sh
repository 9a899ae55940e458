#!/bin/sh
cat > /dev/null
printf DO
printf NE\\n >&2
echo NO
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
