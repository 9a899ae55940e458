mv crew.toml ../crew.toml
ln -s ../crew.toml crew.toml
