git config filter.broken.clean cat
git config filter.broken.smudge false
git config filter.broken.required true
printf 'work-t-1.txt filter=broken\n' > .gitattributes
git add .gitattributes
git commit --quiet --message=attributes
ticket t-1
ticket t-2
