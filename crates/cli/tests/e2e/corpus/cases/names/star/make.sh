printf -- 'a\052' > name
