printf -- '..' > name
