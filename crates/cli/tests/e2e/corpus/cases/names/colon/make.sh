printf -- 'a\072b' > name
