printf -- 'a\176b' > name
