printf -- 'a\136b' > name
