ticket good-1
for name in 'a b' -rf "$(printf 'a\nb')" 'a|b' "$(printf '\342\200\256evil')" "$(printf '\377\376')" "$(repeat a 240)" x.lock CON .. ; do
    cp .tickets/good-1.md ".tickets/$name.md"
done
