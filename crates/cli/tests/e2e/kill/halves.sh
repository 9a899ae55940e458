#!/bin/sh
# An agent whose one step has two halves, and waits between them to be let go on.
set -eu
printf '%s\n' "$CREW_RUN_ID" >>"$KILL_DIR/starts"
cat >/dev/null
printf 'first\n' >halves.txt
printf '{"crew":"usage","input_tokens":3,"output_tokens":30,"cost_usd":0.5}\n'
: >"$KILL_DIR/half"
until [ -e "$KILL_DIR/go" ]; do sleep 0.02; done
printf 'second\n' >>halves.txt
git add -A
git commit -q -m 'Both halves'
printf '{"crew":"usage","input_tokens":4,"output_tokens":40,"cost_usd":0.25}\n'
printf 'SUMMARY: both halves\nDONE\n'
