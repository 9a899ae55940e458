once
echo gone > gone
git add .
git commit --quiet --message=gone
blob=$(git rev-parse HEAD:gone)
rm -f ".git/objects/$(echo "$blob" | cut -c 1-2)/$(echo "$blob" | cut -c 3-)"
ticket t-1
