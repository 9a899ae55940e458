#!/bin/sh
# Runs every tests/*.test. Each is lines of `expect`; the exit code is 1 if any of them failed.
cd -- "$(dirname -- "$0")/.." || exit 2
passed=0
failed=0

# expect WANTED TOOL [ARGUMENT...]: the tool prints what is wanted.
expect() {
    wanted=$1
    shift
    got=$(sh ./textkit "$@" 2>&1)
    if [ "$got" = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL: textkit %s\n  wanted: %s\n  got:    %s\n' "$*" "$wanted" "$got"
    fi
}

for file in tests/*.test; do
    . "./$file"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
