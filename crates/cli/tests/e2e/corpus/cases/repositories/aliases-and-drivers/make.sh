git config alias.merge-tree "!touch hacked"
git config core.fsmonitor "touch hacked"
git config diff.external "touch hacked"
git config merge.x.driver "touch hacked"
printf "* merge=x\n" > .gitattributes
git add .gitattributes
git -c core.fsmonitor=false commit --quiet --message=attributes
rm -f hacked
ticket t-1
