printf -- 'a\033\13331mb' > name
