#!/bin/sh
cat > /dev/null
mkdir inner
git -C inner init --quiet
git -C inner commit --quiet --allow-empty --message=inner
git add . 2> /dev/null
git commit --quiet --message=work
echo DONE
