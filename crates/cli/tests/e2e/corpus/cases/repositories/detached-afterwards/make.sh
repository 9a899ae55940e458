git switch --quiet --detach
ticket t-1
