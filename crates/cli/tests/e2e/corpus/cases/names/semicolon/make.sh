printf -- 'a\073b' > name
