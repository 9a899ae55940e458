printf -- '.hidden' > name
