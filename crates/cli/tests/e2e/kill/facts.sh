#!/bin/sh
# The agent of the facts that happen to few tickets: each does what its ticket is there for, once, and then its work.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"
cat >/dev/null

# Whether this is done for the first time.
once() {
    [ ! -e "$outside/$1" ] && : >"$outside/$1"
}

commit() {
    git add -A
    git diff --cached --quiet || git commit -q -m "$ticket"
    printf '%s %s\n' "$ticket" "$(git rev-parse HEAD)" >>"$outside/commits"
}

wait_for() {
    looks=0
    until "$@"; do
        looks=$((looks + 1))
        [ "$looks" -lt 20000 ] || exit 0
        sleep 0.1
    done
}

work() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "$ticket" >"$1"
    commit
}

fails() {
    printf '{"crew":"failure","class":"%s","message":"%s"}\n' "$1" "$2"
    exit 1
}

case $ticket in
    f-nap) # it wakes by itself
        if once napped; then
            echo 'WAKEUP: 1s a nap'
            exit 0
        fi
        ;;
    f-early) # it is woken
        if once asleep; then
            echo 'WAKEUP: 10h a night'
            exit 0
        fi
        ;;
    f-merged) # it is submitted in its sleep
        work "work/$ticket.txt"
        echo 'WAKEUP: 10h a night'
        exit 0
        ;;
    f-unsaved) # it sleeps on what it has not committed
        mkdir -p work
        printf '%s\n' "$ticket" >"work/$ticket.txt"
        echo 'WAKEUP: 10h a night'
        exit 0
        ;;
    f-asks) # nobody answers
        if once asked; then
            echo 'QUESTION: is anybody there?'
            exit 0
        fi
        ;;
    f-empty) # it says that it is done, and did nothing
        if once empty; then
            echo 'DONE'
            exit 0
        fi
        ;;
    f-stuck) # its session is another's, and once more
        if once stuck-once || once stuck-twice; then
            fails session_in_use "it is another's"
        fi
        ;;
    f-hangs) # it is killed
        if once hangs; then
            wait_for false
        fi
        ;;
    f-auth) # nobody is let in
        if once refused; then
            fails auth "nobody is let in"
        fi
        ;;
    f-costs) # all that it may cost, and then more
        if once spent; then
            printf '{"crew":"usage","input_tokens":1,"output_tokens":1,"cost_usd":2.0}\n'
            exit 0
        fi
        printf '{"crew":"usage","input_tokens":1,"output_tokens":1,"cost_usd":0.5}\n'
        ;;
    f-held) work "held/$ticket.txt" ;;
    f-edits) work "src/part-31.txt" ;;
    f-last) # the engine has something to do until all is over
        wait_for test -e "$outside/over"
        ;;
esac
work "work/$ticket.txt"
printf 'SUMMARY: done\nDONE\n'
