printf -- 'HEAD' > name
