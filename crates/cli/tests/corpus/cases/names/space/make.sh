printf -- 'a b' > name
