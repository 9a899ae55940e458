printf -- 'a\134b' > name
