#!/bin/sh
# An agent of the storm: quick, so that two hundred tickets are soon done. What it says outside, it has done before.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"
# Nobody else may be at work on this ticket.
before=none
[ ! -e "$outside/at-$ticket" ] || read -r before <"$outside/at-$ticket" || :
if [ -e "/proc/$before" ] && tr '\0' '\n' <"/proc/$before/environ" 2>/dev/null | grep -qx "CREW_TICKET_ID=$ticket"; then
    printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$before" >>"$outside/overlaps"
fi
printf '%s\n' "$$" >"$outside/at-$ticket"

# A line that nobody can guess.
add() {
    read -r token </proc/sys/kernel/random/uuid
    printf '%s %s\n' "$ticket" "$token" >>"$1"
    printf '%s %s %s\n' "$ticket" "$token" "$1" >>"$outside/tokens"
}

[ -d work ] || mkdir work
add "work/$ticket.txt"
case $ticket in
    *[05]) ;; # nobody commits it
    *)
        git add -A
        git commit -q -m "$ticket"
        # A branch is a file, or it is packed.
        tip=$(git rev-parse HEAD)
        printf '%s %s\n' "$ticket" "$tip" >>"$outside/commits"
        ;;
esac
case $ticket in
    *3) setsid sleep 600 & ;; # stays behind
    *7) add "work/$ticket.left" ;;
esac
printf 'DONE\n'
