printf "x = %s1%s\n" "$(repeat [ 10000)" "$(repeat ] 10000)" > crew.toml
