printf -- 'a\174b' > name
