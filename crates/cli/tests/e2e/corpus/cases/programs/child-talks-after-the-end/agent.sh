#!/bin/sh
cat > /dev/null
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
(sleep 1; echo "BLOCKED: too late"; sleep 600) &
echo DONE
