#!/bin/sh
cat > /dev/null
echo work > work.txt
git add .
printf "work\n\nTicket: t-9\nAttempt: 7\n\033[31m" | git commit --quiet --file=-
echo DONE
