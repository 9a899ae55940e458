printf -- 'a\377' > name
