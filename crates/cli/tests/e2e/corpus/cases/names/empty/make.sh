printf -- '' > name
