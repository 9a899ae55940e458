#!/bin/sh
# The agent of the kill test: a program that works in pieces, slowly enough to be killed between any two of them.
# What it has done it tells a folder outside (KILL_DIR), always after it is done: what stands there must never be lost.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"
# Nobody else may be at work on this ticket: what is left of a step that was killed is ended before the next one starts.
before=$(cat "$outside/at-$ticket" 2>/dev/null || :)
if tr '\0' '\n' <"/proc/${before:-none}/environ" 2>/dev/null | grep -qx "CREW_TICKET_ID=$ticket"; then
    printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$before" >>"$outside/overlaps"
fi
printf '%s\n' "$$" >"$outside/at-$ticket"
prompt=$(cat)
# STEPS PIECES PAUSE LEAVE CHILD BREAK SHARED WAIT
. "$outside/plans/$ticket"

token() {
    od -An -N12 -tx1 /dev/urandom | tr -d ' \n'
}

# Appends a line that nobody can guess to a file.
add() {
    new=$(token)
    printf '%s %s\n' "$ticket" "$new" >>"$1"
    printf '%s %s %s\n' "$ticket" "$new" "$1" >>"$outside/tokens"
}

commit() {
    git add -A
    git diff --cached --quiet || git commit -q -m "$ticket: $1"
    printf '%s %s\n' "$ticket" "$(git rev-parse HEAD)" >>"$outside/commits"
}

# Both sides' lines stay, each once: git makes one conflict of two that are close, and both of its sides may hold what lay
# between them. Also when this is killed half-way: a file that is being rewritten in place is empty for a moment.
unite() {
    awk '
        /^<<<<<<< / { within = 1; split("", seen); next }
        within && /^=======$/ { next }
        within && /^>>>>>>> / { within = 0; next }
        within && seen[$0]++ { next }
        { print }
    ' shared.txt >.git/united
    mv .git/united shared.txt
}

unite
if [ -e .git/MERGE_HEAD ]; then
    git add -A
    git commit -q --no-edit
fi
if [ "$CREW_ROLE" = resolver ]; then
    commit "what was left"
    target=$(printf '%s\n' "$prompt" | sed -n 's/.*`git merge \([0-9a-f]*\)`.*/\1/p' | head -n 1)
    sleep "$PAUSE"
    git merge -q "$target" || {
        sleep "$PAUSE"
        unite
        git add -A
        git commit -q --no-edit
    }
    commit "resolved"
fi

# A child that holds this program's output open, or one that has left its session: crew ends them with the step.
case $CHILD in
    plain) sleep 600 & ;;
    daemon) setsid sleep 600 & ;;
esac

printf '{"crew":"usage","input_tokens":1,"output_tokens":1,"cost_usd":0.001}\n'
mkdir -p work
rm -f "work/$ticket.broken"
piece=0
while [ "$piece" -lt "$PIECES" ]; do
    piece=$((piece + 1))
    add "work/$ticket.txt"
    sleep "$PAUSE"
    commit "step $CREW_STEP, piece $piece"
done

if [ "$WAIT" = yes ]; then
    looks=0
    while [ ! -e "$outside/over" ]; do
        looks=$((looks + 1))
        [ "$looks" -lt 20 ] || exit 0
        sleep 0.05
    done
fi
[ "$CREW_STEP" -ge "$STEPS" ] || exit 0

if [ "$SHARED" = yes ] && ! grep -q "^$ticket " shared.txt; then
    add shared.txt
fi
if [ "$BREAK" = yes ] && [ ! -e "$outside/broken-$ticket" ]; then
    : >"work/$ticket.broken"
    : >"$outside/broken-$ticket"
    commit "a mistake"
fi
if [ "$LEAVE" = yes ]; then
    add "work/$ticket.left.txt"
    add "work/new in $ticket.txt"
else
    commit "the rest"
fi
printf 'SUMMARY: %s\n' "$(tail -n 1 "work/$ticket.txt")"
printf 'DONE\n'
