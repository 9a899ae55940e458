#!/bin/sh
# `$1`: the folder outside, when crew runs it. What is a matter of time here is made certain by waiting for a fact:
# * g-commits and g-1 have a checkout each until all others are in the train, so that none of those is tried before;
# * the first batch, which is broken, waits until the second one is tried too. That one never ends by itself: its run
#   is cancelled once the first one has failed;
# * what is merged up to g-5 waits until an edit was in the way of g-6: the run of g-6 overtakes it, so that g-5 is to
#   land together with g-6.
outside=${1-}
wait_for() {
    looks=0
    until "$@" || [ "$looks" -gt 12000 ]; do
        looks=$((looks + 1))
        sleep 0.05
    done
}
if [ -n "$outside" ]; then
    if [ -e work/g-1.txt ] || [ -e work/g-commits.txt ]; then
        wait_for test -e "$outside/lined-up"
    fi
    if [ -e work/broken.txt ]; then
        if [ -e work/g-6.txt ]; then
            wait_for false
        fi
        wait_for test -e "$outside/both-tried"
    elif [ -e work/g-5.txt ] && [ ! -e work/g-6.txt ]; then
        wait_for test -e "$outside/put-off"
    fi
fi
[ ! -e work/broken.txt ]
