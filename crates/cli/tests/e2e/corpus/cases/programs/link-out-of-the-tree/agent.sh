#!/bin/sh
cat > /dev/null
ln -s /etc/passwd passwd
git add .
git commit --quiet --message=work
echo DONE
