#!/bin/sh
# The agent of the failpoints. What a ticket needs done is done the same way whenever, and however often, it is begun:
# so the target's content is the same, whatever was killed meanwhile.
set -eu
outside=$KILL_DIR
ticket=$CREW_TICKET_ID
printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$$" >>"$outside/starts"
# Nobody else may be at work on this ticket.
before=$(cat "$outside/at-$ticket" 2>/dev/null || :)
if tr '\0' '\n' <"/proc/${before:-none}/environ" 2>/dev/null | grep -qx "CREW_TICKET_ID=$ticket"; then
    printf '%s %s %s\n' "$CREW_RUN_ID" "$ticket" "$before" >>"$outside/overlaps"
fi
printf '%s\n' "$$" >"$outside/at-$ticket"
prompt=$(cat)

commit() {
    git add -A
    git diff --cached --quiet || git commit -q -m "$ticket: $1"
    printf '%s %s\n' "$ticket" "$(git rev-parse HEAD)" >>"$outside/commits"
}

# Everybody's lines, in an order that does not depend on who was first.
unite() {
    sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' shared.txt | sort -u >.git/united
    mv .git/united shared.txt
}

share() {
    printf '%s\n' "$ticket" >>shared.txt
    unite
    commit "a line"
}

wait_for() {
    looks=0
    until "$@"; do
        looks=$((looks + 1))
        [ "$looks" -lt 6000 ] || exit 0
        sleep 0.1
    done
}

has_landed() {
    grep -q '^status: closed' "$outside/../repo/.tickets/$1.md"
}

mkdir -p work
unite
if [ -e .git/MERGE_HEAD ]; then
    git add -A
    git commit -q --no-edit
fi
if [ "$CREW_ROLE" = resolver ]; then
    commit "what was left"
    target=$(printf '%s\n' "$prompt" | sed -n 's/.*`git merge \([0-9a-f]*\)`.*/\1/p' | head -n 1)
    git merge -q "$target" || {
        unite
        git add -A
        git commit -q --no-edit
    }
    commit "resolved"
fi

case $ticket in
    k-00) # files of every kind of change, and one that nobody commits
        printf 'changed\n' >src/part-20.txt
        rm -f src/part-21.txt
        chmod +x src/part-22.txt
        mkdir -p work/deep/er
        printf 'new\n' >work/deep/er/new.txt
        commit "changes"
        printf 'left\n' >work/left.txt
        ;;
    k-01) share ;;
    k-02) # the same place as k-01, from before it
        wait_for has_landed k-01
        share
        ;;
    k-03) # a mistake first
        rm -f work/k-03.broken
        printf 'right\n' >work/k-03.txt
        if [ ! -e "$outside/broken-k-03" ]; then
            : >work/k-03.broken
            : >"$outside/broken-k-03"
        fi
        commit "a try"
        ;;
    k-04) # a key is missing
        printf 'begun\n' >work/k-04.txt
        commit "the beginning"
        if [ ! -e "$outside/key" ]; then
            printf 'BLOCKED: no key\n'
            exit 0
        fi
        ;;
    k-05) # a question
        if [ ! -e "$outside/answered" ]; then
            printf 'QUESTION: what is the answer?\n'
            exit 0
        fi
        printf 'forty-two\n' >work/k-05.txt
        commit "the answer"
        ;;
    k-06) # more objects than become files one by one, and somebody who stays behind
        setsid sleep 600 &
        mkdir -p many
        n=0
        while [ "$n" -lt 120 ]; do
            n=$((n + 1))
            printf '%s\n' "$n" >"many/$n"
        done
        commit "many"
        ;;
    k-07) # to be dropped in the middle, with work that is on another branch and work that is nowhere
        git checkout -q -B side
        printf 'side\n' >work/side.txt
        commit "beside"
        git checkout -q -
        mkdir -p work
        printf 'nowhere\n' >work/k-07.txt
        : >"$outside/waiting"
        wait_for false
        ;;
esac
printf '{"crew":"usage","input_tokens":1,"output_tokens":1,"cost_usd":0.001}\n'
printf 'SUMMARY: done\nDONE\n'
