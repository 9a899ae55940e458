printf -- 'A.LOCK' > name
