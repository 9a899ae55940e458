printf -- 'a\015b' > name
