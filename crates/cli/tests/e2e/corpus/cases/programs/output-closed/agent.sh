#!/bin/sh
cat > /dev/null
exec >&- 2>&-
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
