printf "*.bin filter=lfs diff=lfs merge=lfs -text\n" > .gitattributes
printf "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n" > big.bin
git add .
git commit --quiet --message=lfs
ticket t-1
