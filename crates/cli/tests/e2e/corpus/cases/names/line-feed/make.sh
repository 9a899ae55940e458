printf -- 'a\012b' > name
