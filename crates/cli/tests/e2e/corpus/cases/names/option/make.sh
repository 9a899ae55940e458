printf -- '-rf' > name
