#!/bin/sh
# A host of pull requests, behind the face of `gh`. Its state is in files: one folder for each pull request.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd)
state=$home/host
mkdir -p "$state"
printf '%s\n' "$*" >> "$state/log"
env > "$state/env"
if [ -e "$state/trouble" ]; then . "$state/trouble"; fi
remote() { git --git-dir="$home/remote.git" "$@"; }
text() { if [ -e "$1" ]; then cat "$1"; else printf '%s' "$2"; fi; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/["\\]/\\&/g')"; }
url() { printf 'https://example.com/team/it/pull/%s' "$1"; }
# The head of a pull request. It stays as it is once that is merged, and a branch that goes away closes it.
tip() {
    if [ "$(cat "$1/state")" = OPEN ]; then
        if head_now=$(remote rev-parse --verify -q "refs/heads/$(cat "$1/head")"); then
            printf '%s' "$head_now" > "$1/oid"
            remote update-ref "refs/pull/${1##*/}/head" "$head_now"
        else
            printf CLOSED > "$1/state"
        fi
    fi
    cat "$1/oid"
}
kind="$1 $2"
case "$kind" in
"api --hostname")
    # Each review and each comment is a line. Whoever may read a public repository may write them.
    for word in "$@"; do path=$word; done
    path=${path%%\?*}
    of=${path%/*}; of=${of##*/}
    case "$*" in
    *" --jq .permission "*) text "$state/permissions/$of" write ;;
    *" --jq "*OWNER*MEMBER*COLLABORATOR*)
        text "$state/$of/${path##*/}" '' | grep -E '"author_association":"(OWNER|MEMBER|COLLABORATOR)"' || true ;;
    *) printf "[%s]" "$(text "$state/$of/${path##*/}" "" | paste -s -d, -)" ;;
    esac
    exit
    ;;
"repo view")
    merges=false
    if [ -e "$state/linear" ]; then merges=true; fi
    printf '{"mergeCommitAllowed":%s,"squashMergeAllowed":true,"rebaseMergeAllowed":true}' "$merges"
    exit
    ;;
"auth status")
    # Another account of the host has credentials that have run out.
    if [ -e "$state/stale" ]; then case "$*" in *--active*) ;; *) echo "X Failed to log in" >&2; exit 1 ;; esac; fi
    exit
    ;;
"pr view"|"pr merge")
    number=${3##*/}
    at=$state/$number
    shift 3
    ;;
*) shift 2 ;;
esac
head= base= title= draft=false labels= way=
while [ $# -gt 0 ]; do
    case "$1" in
    --head) head=$2; shift ;;
    --base) base=$2; shift ;;
    --title) title=$2; shift ;;
    --label) labels="$labels$2 "; shift ;;
    --match-head-commit) head=$2; shift ;;
    --draft) draft=true ;;
    --merge|--squash|--rebase) way=$1 ;;
    esac
    shift
done
case "$kind" in
"pr list")
    all=
    for at in "$state"/[0-9]*; do
        [ -e "$at/head" ] && [ "$(cat "$at/head")" = "$head" ] || continue
        n=${at##*/}
        one="{\"number\":$n,\"url\":\"$(url "$n")\",\"state\":\"$(cat "$at/state")\",\"headRefOid\":\"$(tip "$at")\",\"isCrossRepository\":false}"
        all="$one${all:+,$all}"
    done
    printf '[%s]' "$all"
    ;;
"pr create")
    n=1
    while [ -e "$state/$n" ]; do n=$((n+1)); done
    remote rev-parse --verify -q "refs/heads/$head" > /dev/null || { echo "head branch not found" >&2; exit 1; }
    mkdir "$state/$n"
    printf '%s' "$head" > "$state/$n/head"
    printf '%s' "$base" > "$state/$n/base"
    printf '%s' "$title" > "$state/$n/title"
    printf '%s' "$labels" > "$state/$n/labels"
    printf '%s' "$draft" > "$state/$n/draft"
    cat > "$state/$n/body"
    printf 'OPEN' > "$state/$n/state"
    tip "$state/$n" > /dev/null
    url "$n"
    echo
    ;;
"pr view")
    merge=null
    if [ -e "$at/merge" ]; then merge="{\"oid\":\"$(cat "$at/merge")\"}"; fi
    printf '{"state":"%s","headRefOid":"%s","baseRefName":"%s","isDraft":%s,"mergeable":"%s","reviewDecision":%s,"mergeCommit":%s}' \
        "$(cat "$at/state")" "$(tip "$at")" "$(cat "$at/base")" "$(cat "$at/draft")" "$(text "$at/mergeable" MERGEABLE)" \
        "$(quoted "$(text "$at/decision" '')")" "$merge"
    ;;
"pr merge")
    if [ -e "$state/protected" ]; then echo "the base branch policy prohibits the merge" >&2; exit 1; fi
    if [ -e "$state/linear" ] && [ "$way" = --merge ]; then
        echo "GraphQL: Merge method merge commits are not allowed (mergePullRequest)" >&2
        exit 1
    fi
    [ "$(tip "$at")" = "$head" ] || { echo "head branch was modified" >&2; exit 1; }
    . "$home/bin/squash"
    ;;
esac
if [ -e "$state/after" ]; then . "$state/after"; fi
