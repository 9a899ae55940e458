chmod 666 crew.toml
