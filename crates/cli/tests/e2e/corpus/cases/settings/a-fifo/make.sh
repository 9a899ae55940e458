rm crew.toml
mkfifo crew.toml
