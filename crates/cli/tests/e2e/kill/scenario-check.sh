#!/bin/sh
# Whether somebody made a mistake.
for file in work/*.broken; do
    [ ! -e "$file" ] || { echo "$file is a mistake"; exit 1; }
done
