rm -rf .tickets
echo x > .tickets
