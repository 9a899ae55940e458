printf -- 'a\047b' > name
