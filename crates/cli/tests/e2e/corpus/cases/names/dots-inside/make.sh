printf -- 'a..b' > name
