mkdir "$(printf 'a\nb')"
for name in "$(printf 'line\nfeed')" "$(printf '\377\376')" "$(printf 'tab\there')" '"quoted"' ' leading' 'trailing ' -rf 'a\b' "$(printf '\033[31mred')" "$(printf 'a\nb/c')"; do echo x > "./$name"; done
git add .
git commit --quiet --message=odd
agent "for name in *; do case $name in crew.toml | agent.sh) continue ;; esac; [ -f \"./\$name\" ] && echo y >> \"./\$name\"; done; git add . && git commit -qm work && echo DONE"
ticket t-1
