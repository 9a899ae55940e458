printf -- 'a@\173b' > name
