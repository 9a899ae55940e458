mkdir ../elsewhere
ln -s ../elsewhere .crew
ticket t-1
