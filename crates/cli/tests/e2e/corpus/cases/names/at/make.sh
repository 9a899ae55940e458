printf -- '@' > name
