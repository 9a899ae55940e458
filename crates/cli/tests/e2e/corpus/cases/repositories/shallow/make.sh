plain
echo more > more
git add .
git commit --quiet --message=more
from=$PWD
cd ..
mv repo source
git clone --quiet --depth=1 "file://$PWD/source" repo
