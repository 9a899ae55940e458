printf '* text=auto eol=crlf\n' > .gitattributes
printf 'one\r\ntwo\r\n' > lines
git add .
git commit --quiet --message=lines
agent "printf 'three\r\n' >> lines; git add . && git commit -qm work && echo DONE"
git add .
git commit --quiet --message=agent
ticket t-1
