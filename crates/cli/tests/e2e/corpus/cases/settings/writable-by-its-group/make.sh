# As a umask of 002 leaves it; the group is the own one of whoever runs this.
chmod 664 crew.toml
ticket t-1
