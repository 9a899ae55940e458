ticket good-1
cp .tickets/good-1.md ../outside.md
ln -s ../../outside.md .tickets/t-1.md
ln -s /dev/zero .tickets/t-2.md
ln -s t-3.md .tickets/t-3.md
mkdir .tickets/t-4.md
mkfifo .tickets/t-5.md
