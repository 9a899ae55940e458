#!/bin/sh
# What a check can come to. `$1`: the folder outside, when crew runs it.
outside=${1-}
if grep -q broken src/part-32.txt; then
    echo "part 32 is broken"
    exit 1
fi
[ -n "$outside" ] || exit 0
if [ -e work/f-waived.txt ] && [ ! -e "$outside/tool" ]; then
    echo "the tool is missing"
    exit 127
fi
if [ -e work/f-moved.txt ]; then
    : >"$outside/checking"
    looks=0
    until [ -e "$outside/moved" ] || [ "$looks" -gt 40000 ]; do
        looks=$((looks + 1))
        sleep 0.05
    done
fi
