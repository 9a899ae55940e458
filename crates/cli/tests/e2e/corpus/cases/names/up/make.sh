printf -- '../x' > name
