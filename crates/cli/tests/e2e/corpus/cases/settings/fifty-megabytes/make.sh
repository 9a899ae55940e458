head -c 52428800 /dev/zero | tr "\0" "#" >> crew.toml
