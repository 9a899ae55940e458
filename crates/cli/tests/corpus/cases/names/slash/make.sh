printf -- 'a/b' > name
