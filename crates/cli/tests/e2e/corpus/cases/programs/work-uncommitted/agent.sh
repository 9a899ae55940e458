#!/bin/sh
cat > /dev/null
echo work > work.txt
echo DONE
