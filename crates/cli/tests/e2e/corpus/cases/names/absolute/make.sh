printf -- '/etc/passwd' > name
