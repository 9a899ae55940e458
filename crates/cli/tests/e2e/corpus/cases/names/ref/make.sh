printf -- 'refs/heads/main' > name
