printf -- 'a\042b' > name
