# Words for the make.sh of a case, which is run by sh in the case's repository.

# ticket ID [LINE]: a ticket as crew writes one, with a further line in its front matter.
ticket() {
    mkdir -p .tickets
    {
        printf -- '---\nid: %s\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-01-02T03:04:05Z\ntype: task\npriority: 2\n' "$1"
        [ $# -lt 2 ] || printf '%s\n' "$2"
        printf -- '---\n# Do %s\n' "$1"
    } > ".tickets/$1.md"
}

# front LINES: the ticket t-1 with these lines behind its id and status.
front() {
    mkdir -p .tickets
    printf -- '---\nid: t-1\nstatus: open\n%s\n---\n# One\n' "$1" > .tickets/t-1.md
}

# nothing: no repository, no file.
nothing() {
    rm -rf .git .tickets ./*
}

# plain: a repository with a commit, and nothing of crew's.
plain() {
    nothing
    git init --quiet --initial-branch=main "$@"
    echo hello > README
    git add .
    git commit --quiet --message=first
}

# repeat WORD COUNT: a word so many times.
repeat() {
    awk -v word="$1" -v count="$2" 'BEGIN { while (count-- > 0) printf "%s", word }'
}

# agent LINES: what the agent does, in sh.
agent() {
    printf '#!/bin/sh\ncat > /dev/null\n%s\n' "$1" > agent.sh
    chmod +x agent.sh
}

# once: a ticket has one attempt, so that none is waited for.
once() {
    sed -i 's/^debounce = .*/&\nattempts = 1/' crew.toml
    git commit --quiet --message=once crew.toml
}
