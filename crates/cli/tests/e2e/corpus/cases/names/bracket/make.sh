printf -- 'a\133b' > name
