printf -- 'a\342\200\213b' > name
