# A hundred folders of a thousand files. Only to make them takes a disk long: the person's checkout leaves them out, and the agent's is in
# memory where there is room for it.
plain
git sparse-checkout set --no-cone '/*' '!/d*/'
{
    printf 'blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\nmark :2\ncommitter Grace <grace@example.org> 1700000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n'
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "M 100644 :1 d%02d/f%d\n", i / 1000, i }'
    printf '\n'
} | git fast-import --quiet
git reset --quiet --hard main
agent 'git ls-files | wc -l; echo work > work.txt && git add work.txt && git commit -qm work && echo DONE'
ticket t-1
mkdir -p "$HOME/.local"
ln -s "$(mktemp -d -p /dev/shm 2> /dev/null || mktemp -d)" "$HOME/.local/state"
