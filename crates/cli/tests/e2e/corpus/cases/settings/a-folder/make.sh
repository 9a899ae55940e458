rm crew.toml
mkdir crew.toml
