#!/bin/sh
# The agents of the gate, and its gatekeepers.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
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

if [ "$CREW_ROLE" = gatekeeper ]; then
    printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/reviews"
    # A person decides in its place, and it is stopped.
    if [ "$ticket" = g-person ]; then
        wait_for false
    fi
    if [ ! -e "work/$ticket.txt" ]; then
        printf '%s\n' "$ticket" >>"$outside/gone"
    fi
    if [ "$ticket" = g-review ]; then
        if once asked; then
            printf 'QUESTION: does it need a test?\n'
            exit 0
        fi
        case $prompt in
            *'it needs one'*) ;;
            *) printf '%s\n' "$ticket" >>"$outside/unheard" ;;
        esac
    fi
    verdict='"verdict":"reject","reason":"it has no test"'
    if [ -e work/tested.txt ]; then
        verdict='"verdict":"approve","acceptance_test":"read it"'
    fi
    printf '{"crew":"verdict","run_id":"%s",%s}\n' "$CREW_RUN_ID" "$verdict"
    exit 0
fi

printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"

commit() {
    git add -A
    git diff --cached --quiet || git commit -q -m "$ticket"
    printf '%s %s\n' "$ticket" "$(git rev-parse HEAD)" >>"$outside/commits"
}

mkdir -p work
printf '%s\n' "$ticket" >"work/$ticket.txt"
# Those that line up are submitted one after another.
until=go-$ticket
case $ticket in
    g-2) # it breaks the checks until it is told, and stays out of the way of g-5 and g-6
        if once broken; then
            : >work/broken.txt
        else
            rm -f work/broken.txt
            until=put-off
        fi
        ;;
    g-person) # a person sends it back
        once returned || : >work/returned.txt
        ;;
    g-review) # it is rejected at first
        once untested || : >work/tested.txt
        ;;
    g-commits) # it does not keep what it has promised at first, and stays out of their way too
        if ! once unkept; then
            until=put-off
            : >work/more.txt
            printf '{"crew":"commitment","says":"there is more","run":["test","-e","work/more.txt"]}\n'
        fi
        ;;
esac
commit
case $ticket in
    g-[1-6] | g-commits) wait_for test -e "$outside/$until" ;;
    g-last) wait_for test -e "$outside/over" ;; # the engine has something to do until all is over
esac
printf 'SUMMARY: done\nDONE\n'
