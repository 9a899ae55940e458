rm -rf .tickets
mkdir ../elsewhere
ln -s ../elsewhere .tickets
front "priority: 1"
