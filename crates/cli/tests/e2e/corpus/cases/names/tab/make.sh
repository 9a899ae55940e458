printf -- 'a\011b' > name
