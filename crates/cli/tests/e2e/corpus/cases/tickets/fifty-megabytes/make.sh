front 'priority: 1'
head -c 52428800 /dev/zero | tr '\0' x >> .tickets/t-1.md
