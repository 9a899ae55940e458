rm -rf .tickets
