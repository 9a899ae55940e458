#!/bin/sh
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
echo DONE
