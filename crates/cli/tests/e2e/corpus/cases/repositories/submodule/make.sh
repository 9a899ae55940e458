git init --quiet --initial-branch=main ../sub
git -C ../sub commit --quiet --allow-empty --message=sub
git -c protocol.file.allow=always submodule --quiet add ../sub sub
git commit --quiet --message=submodule
ticket t-1
