printf -- 'CON' > name
