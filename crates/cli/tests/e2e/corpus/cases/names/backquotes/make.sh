printf -- 'a\140id\140b' > name
