# Two steps and one attempt for t-1, of a program that takes itself for Claude Code: it prints the `stream` with the id of its
# session in the place of SESSION, and commits work.
ticket t-1
cat > crew.toml <<'END'
[run]
max_steps = 2
attempts = 1
debounce = "0s"
[agents]
count = 1
harness = "claude"
[harness.claude]
command = ["./agent.sh"]
END
[ -e version ] || echo '2.1.330 (Claude Code)' > version
cat > agent.sh <<'END'
#!/bin/sh
for word; do
    if [ "$word" = --version ]; then exec cat "${0%/*}/version"; fi
    case $before in --session-id | --resume) session=$word ;; esac
    before=$word
done
cat > /dev/null
sed "s/SESSION/$session/" stream
echo work > work.txt
git add .
git diff --cached --quiet || git commit --quiet --message=work
END
git add --all -- . ':!.tickets'
git commit --quiet --message=agent
