ln -sf /dev/zero crew.toml
