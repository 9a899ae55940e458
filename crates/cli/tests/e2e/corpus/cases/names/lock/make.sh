printf -- 'a.lock' > name
