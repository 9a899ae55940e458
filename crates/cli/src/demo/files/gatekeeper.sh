#!/bin/sh
# The gatekeeper of `crew demo`: it reviews the work on tickets with the tag `review`, in a checkout of its own. It tries the
# work out, and its last line is its verdict.
set -e
cat > "$DEMO/review"
printf '%s\n' "trying out: textkit slug 'Hello  World'"
sleep "$PACE"
got=$(sh textkit slug 'Hello  World')
verdict() {
    printf '{"crew":"verdict","run_id":"%s",%s}\n' "$CREW_RUN_ID" "$1"
}
if [ "$got" = hello-world ]; then
    verdict '"verdict":"approve","acceptance_test":"two blanks become one dash","feedback":""'
else
    verdict '"verdict":"reject","reason":"two blanks become two dashes","feedback":"squeeze them, with a test"'
fi
