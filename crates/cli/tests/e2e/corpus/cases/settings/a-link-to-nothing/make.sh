ln -sf gone crew.toml
