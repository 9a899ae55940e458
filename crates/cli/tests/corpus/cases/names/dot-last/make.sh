printf -- 'a.' > name
