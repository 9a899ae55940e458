#!/bin/sh
# What a check can come to. `$1`: the folder outside, when crew runs it.
outside=${1-}
if grep -q broken src/part-32.txt; then
    echo "part 32 is broken"
    exit 1
fi
[ -n "$outside" ] || exit 0
# The tool that the work needs is missing for the target below it, too.
if [ ! -e "$outside/tool" ]; then
    if [ -e work/f-waived.txt ]; then
        git rev-parse HEAD^1 >"$outside/needs-tool"
    fi
    if [ -e work/f-waived.txt ] || [ "$(git rev-parse HEAD)" = "$(cat "$outside/needs-tool" 2>/dev/null)" ]; then
        echo "the tool is missing"
        exit 127
    fi
fi
if [ -e work/f-moved.txt ]; then
    : >"$outside/checking"
    looks=0
    until [ -e "$outside/moved" ] || [ "$looks" -gt 40000 ]; do
        looks=$((looks + 1))
        sleep 0.05
    done
fi
