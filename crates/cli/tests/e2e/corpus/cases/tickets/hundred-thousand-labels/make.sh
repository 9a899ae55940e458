front "tags: [$(repeat 'a, ' 100000)b]"
