#!/bin/sh
# The agents of a team: two that delegate, their children, and one that people talk to.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"
# Nobody else may be at work in this folder, which a leader may share with its children.
at=$outside/at-$(pwd -P | cksum | cut -d ' ' -f 1)
before=$(cat "$at" 2>/dev/null || :)
if [ "$(readlink "/proc/${before:-none}/cwd" 2>/dev/null || :)" = "$(pwd -P)" ]; then
    printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$before" >>"$outside/overlaps"
fi
printf '%s\n' "$$" >"$at"
prompt=$(cat)

# Whether this is done for the first time.
once() {
    [ ! -e "$outside/$1" ] && : >"$outside/$1"
}

wait_for() {
    looks=0
    until "$@"; do
        looks=$((looks + 1))
        [ "$looks" -lt 20000 ] || exit 0
        sleep 0.1
    done
}

commit() {
    git add -A
    git diff --cached --quiet || git commit -q -m "$ticket"
    printf '%s %s\n' "$ticket" "$(git rev-parse HEAD)" >>"$outside/commits"
}

# Without an engine the answer is that the call counts later.
delegate() {
    "$CREW_TOOL" tool delegate "{\"tasks\": [$1]}" >>"$outside/answers" 2>&1
}

task='"title": "A part", "task": "Do it, and say so."'
mkdir -p work
case $ticket in
    t-lead)
        if once lead; then
            # crew commits it before a child begins.
            echo begun >work/begun.txt
            delegate "{$task, \"share\": false}, {$task, \"share\": false}, {$task}, {$task}"
            exit 0
        fi
        # It brings together what its children came to: one of them is in conflict with another one.
        theirs=$(printf '%s\n' "$prompt" | sed -n 's/.*git merge \([0-9a-f]\{8,\}\).*/\1/p' | head -n 1)
        git merge -q "$theirs" || :
        printf 'both\n' >work/same.txt
        commit
        cat work/t-lead-c[123].txt >work/whole.txt
        ;;
    t-lead-c1)
        [ -e work/begun.txt ]
        echo mine >work/same.txt
        ;;
    t-lead-c2) # its work is merged after that of the first one
        echo yours >work/same.txt
        wait_for test -e "$outside/merged"
        ;;
    t-lead-c3)
        if once asked; then
            echo 'QUESTION: which part?'
            exit 0
        fi
        ;;
    t-lead-c4) # what it does cannot count
        git reset -q --hard HEAD~1
        mkdir -p work
        ;;
    t-ends)
        if once ends; then
            delegate "{$task}"
            exit 0
        fi
        # Nothing of the child that was ended is here.
        [ ! -e work/ended.txt ] && [ ! -e work/left.txt ]
        ;;
    t-ends-c1) # it is ended, since a person has its leader go on
        echo ended >work/ended.txt
        commit
        echo left >work/left.txt
        : >"$outside/worked"
        wait_for false
        ;;
    t-told) # people talk to it
        if once told; then
            echo 'MODE: plan'
            wait_for test -e "$outside/talked"
            echo 'DONE'
            exit 0
        fi
        printf '%s\n' "$prompt" | grep -c 'mind the gap' >"$outside/heard"
        ;;
esac
printf '%s\n' "$ticket" >"work/$ticket.txt"
case $ticket in
    t-lead-c[23]) ;; # crew commits what they leave
    *) commit ;;
esac
printf 'SUMMARY: done\nDONE\n'
