#!/bin/sh
# The agent of `crew demo`. To crew it is an agent like any other: crew starts it once a step, in a workspace of its own,
# with the prompt on its standard input; it works, commits, and prints DONE. Only that it thinks of nothing by itself: what
# it writes for each ticket, and what goes wrong with it, stands below.
set -e
prompt=$(cat)

# say TEXT: one line of output, and time to read it.
say() {
    printf '%s\n' "$*"
    sleep "$PACE"
}

# once NAME: whether this is the first time that somebody asks so.
once() {
    if [ -e "$DEMO/$1" ]; then return 1; fi
    : > "$DEMO/$1"
}

# commit SUMMARY: what there is, if there is anything.
commit() {
    git add --all
    git diff --cached --quiet || git commit --quiet --message "$1"
    summary=$1
}

# is_told TEXT: whether the prompt has it.
is_told() {
    case $prompt in *"$1"*) return 0 ;; esac
    return 1
}

# Adds a language to greet, behind the one that is there.
teach() {
    case $(cat lib/greet.sh) in *" $1)"*) return 0 ;; esac
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in *' en)'*) printf '        %s) word=%s ;;\n' "$1" "$2" ;; esac
    done < lib/greet.sh > lib/greet.new
    mv lib/greet.new lib/greet.sh
    printf "expect '%s, Ada!' greet %s Ada\n" "$2" "$1" > "tests/greet-$1.test"
}

# Merges the commit that the prompt names, and keeps both sides of every conflict.
merge() {
    target=${prompt#*git merge }
    target=${target%%\`*}
    git merge --quiet --no-edit "$target" > "$DEMO/merge-$CREW_TICKET_ID" 2>&1 && return 0
    while IFS= read -r line; do
        case $line in '<<<<<<<'* | '======='* | '>>>>>>>'*) ;; *) printf '%s\n' "$line" ;; esac
    done < lib/greet.sh > lib/greet.new
    mv lib/greet.new lib/greet.sh
    git add --all
    git commit --quiet --message "Merge what landed meanwhile"
}

# await NOTE TEXT: goes on when the note is there; says the text until then.
await() {
    tries=0
    while [ ! -e "$DEMO/$1" ] && [ "$tries" -lt 1200 ]; do
        tries=$((tries + 1))
        say "$2"
    done
}

# together OTHER: goes on when the other agent has begun too; the two are to get in each other's way.
together() {
    : > "$DEMO/begun-$CREW_TICKET_ID"
    await "begun-$1" 'reading lib/greet.sh'
}

# answer: what a person answered, on one line; nothing where the prompt has no answer.
answer() {
    if is_told 'The answer to your question:'; then
        answer=${prompt##*The answer to your question:}
    elif is_told 'what a person answered'; then
        answer=${prompt##*Answer: }
    else
        return 0
    fi
    printf '%s' "${answer%%Go on with ticket*}" | tr -s '\t\r\n ' ' '
}

# named ANSWER: the version that it names, in whatever words: of several the first, and none that follows a "not".
# Nothing where it names none.
named() {
    words=$(printf '%s' "$1" | tr 'A-Z' 'a-z' | tr -c 'a-z0-9.,+-' ' ')
    is_not= refused=
    set -f
    # A lone 1 is meant; one among other words may count anything.
    set -- $words
    [ "$*" != 1 ] || words=v1
    for word in $words; do
        while :; do case $word in *[.,-]) word=${word%?} ;; *) break ;; esac; done
        case $word in
            0.9 | 0,9 | .9 | v0.9) found=0.9 ;;
            1.0 | 1,0 | v1.0 | v1) found=1.0 ;;
            [0-9]*.*[0-9]* | v[0-9]*.*[0-9]*) found=${word#v} ;;
            not | never | don | isn | than | instead) is_not=yes; continue ;;
            # Between "not" and what is not: "don't call it 1.0", "instead of 0.9", "not yet 1.0".
            t | call | it | of | yet | as | version) continue ;;
            *) is_not=; continue ;;
        esac
        if [ -z "$is_not" ] && [ "${#found}" -le 20 ]; then
            echo "$found"
            return 0
        fi
        is_not= refused=$refused$found
    done
    case "$refused $words" in
        1.0\ * | *'point nine'*) echo 0.9 ;;
        0.9\ * | *'one point '*) echo 1.0 ;;
    esac
}

case $CREW_TICKET_ID in
t-1)
    say 'reading lib/ and tests/'
    if once hung; then
        say 'waiting for an answer from the model ...'
        sleep 300
    fi
    say 'writing lib/count.sh'
    cat > lib/count.sh <<'END'
# count TEXT: how many words it has.
count() {
    set -f
    # Unquoted: the shell itself takes the text apart.
    set -- $1
    echo "$#"
}
END
    cat > tests/count.test <<'END'
expect 3 count 'one  two three'
expect 0 count ''
expect 1 count '*'
END
    commit 'Count the words of a text'
    ;;
t-2)
    if is_told 'does not meet this commitment'; then
        say 'reading which promise is not kept'
        say 'adding trim to README.md'
        printf "    sh textkit trim '  a b '     # a b\\n" >> README.md
        commit 'Show trim in the README'
        # t-4 and t-8 wait for the checks of this one: they are to land together.
        await mending 'running the tests'
        say "SUMMARY: $summary"
        echo DONE
        exit 0
    fi
    say 'reading lib/ and tests/'
    say 'writing lib/trim.sh'
    cat > lib/trim.sh <<'END'
# trim TEXT: without the blanks at its ends.
trim() {
    text=$1
    while :; do
        case $text in
            ' '*) text=${text# } ;;
            *' ') text=${text% } ;;
            *) break ;;
        esac
    done
    printf '%s\n' "$text"
}
END
    say 'writing tests/trim.test'
    cat > tests/trim.test <<'END'
expect 'a b' trim '  a b '
expect '' trim '   '
END
    commit 'Trim the blanks around a text'
    ;;
t-3)
    say 'reading lib/trim.sh'
    [ -e lib/trim.sh ] || { echo 'BLOCKED: there is no trim yet'; exit 0; }
    squeeze=
    if is_told 'two blanks become two dashes'; then
        say 'reading what the gatekeeper has found'
        squeeze=" | tr -s '-'"
    fi
    say 'writing lib/slug.sh'
    cat > lib/slug.sh <<END
# slug TITLE: a title as the name of a file.
slug() {
    trim "\$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-\n'$squeeze
}
END
    say 'writing tests/slug.test'
    echo "expect 'hello-world' slug ' Hello World! '" > tests/slug.test
    if [ -n "$squeeze" ]; then
        echo "expect 'hello-world' slug 'Hello  World'" >> tests/slug.test
    fi
    commit 'Turn a title into the name of a file'
    ;;
t-4)
    more=gt
    if is_told 'FAIL: textkit repeat'; then
        say 'reading what the tests complained of'
        : > "$DEMO/mending"
        say 'mending lib/repeat.sh: it stops one too early'
        more=ge
    else
        say 'reading lib/ and tests/'
        say 'writing lib/repeat.sh and tests/repeat.test'
    fi
    cat > lib/repeat.sh <<END
# repeat NUMBER TEXT: the text so many times.
repeat() {
    left=\$1
    whole=
    while [ "\$left" -$more 1 ]; do
        whole=\$whole\$2
        left=\$((left - 1))
    done
    printf '%s\n' "\$whole"
}
END
    cat > tests/repeat.test <<'END'
expect 'ababab' repeat 3 ab
expect '' repeat 0 ab
END
    commit 'Repeat a text'
    if [ "$more" = ge ]; then await slow 'running the tests again'; fi
    ;;
t-5 | t-6)
    if is_told 'does not merge'; then
        say 'merging main'
        say 'keeping both languages'
        merge
        summary='Keep both languages'
    else
        say 'reading lib/greet.sh'
        if [ "$CREW_TICKET_ID" = t-5 ]; then
            together t-6
            say 'teaching greet French'
            teach fr Bonjour
            commit 'Greet in French'
        else
            together t-5
            say 'teaching greet German'
            teach de Hallo
            commit 'Greet in German'
        fi
    fi
    ;;
t-7)
    if is_told 'are over'; then
        say 'reading what the other two have written'
        "$CREW_TOOL" tool submit_work '{"summary": "Reverse a text"}'
        exit 0
    fi
    say 'this is work for two: handing both parts out'
    "$CREW_TOOL" tool delegate '{"tasks": [
        {"title": "Write lib/reverse.sh", "task": "A function reverse TEXT that prints TEXT backwards."},
        {"title": "Write tests/reverse.test", "task": "A test of reverse."}
    ]}'
    exit 0
    ;;
t-7-c1)
    say 'reading lib/'
    echo '# reverse TEXT: backwards.' > lib/reverse.sh
    if once crashed; then
        say 'writing lib/reverse.sh'
        kill -KILL $$
    fi
    say 'going on with lib/reverse.sh'
    cat >> lib/reverse.sh <<'END'
reverse() {
    rest=$1
    whole=
    while [ -n "$rest" ]; do
        first=${rest%"${rest#?}"}
        whole=$first$whole
        rest=${rest#?}
    done
    printf '%s\n' "$whole"
}
END
    commit 'Reverse a text'
    ;;
t-7-c2)
    say 'writing tests/reverse.test'
    echo "expect 'olleh' reverse hello" > tests/reverse.test
    commit 'Test that a text is reversed'
    ;;
t-8)
    answer=$(answer)
    if [ -n "$answer" ]; then
        say "the answer: ${answer# }"
        version=$(named "$answer")
        if [ -n "$version" ]; then
            say "understood: it is version $version"
        else
            version=0.9
            say "it names no version, so this is $version: 1.0 can come any day"
        fi
        # Whatever it is told later, this is decided.
        echo "$version" > "$DEMO/version"
    elif [ -e "$DEMO/version" ]; then
        version=$(cat "$DEMO/version")
    elif once asked; then
        say 'reading the history'
        echo 'QUESTION: Is this 0.9 or 1.0 already?'
        exit 0
    else
        version=0.9
        say "nobody has answered, so this is version $version: 1.0 can come any day"
    fi
    say "writing lib/version.sh: $version"
    cat > lib/version.sh <<END
# version: which one this is.
version() {
    echo $version
}
END
    echo "expect $version version" > tests/version.test
    commit "Say that this is version $version"
    await slow 'running the tests'
    ;;
esac
say "SUMMARY: $summary"
echo DONE
