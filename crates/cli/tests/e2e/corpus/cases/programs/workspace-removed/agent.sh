#!/bin/sh
cat > /dev/null
rm -rf "$PWD"
echo DONE
