complete --keep-order --exclusive --command crew --arguments "(CREW_COMPLETE=fish crew -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
