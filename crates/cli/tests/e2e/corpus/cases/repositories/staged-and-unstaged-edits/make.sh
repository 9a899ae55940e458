echo staged > staged
git add staged
echo edited >> README
echo new > new
ticket t-1
