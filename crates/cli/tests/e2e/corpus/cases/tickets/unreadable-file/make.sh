# Root may read everything, so this is a folder without a link: the answers are the same to all.
mkdir -p .tickets
ln -s gone/away .tickets/t-1.md
