printf -- '.' > name
