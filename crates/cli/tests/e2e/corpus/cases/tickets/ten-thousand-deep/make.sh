front "meta: $(repeat [ 10000)$(repeat ] 10000)"
