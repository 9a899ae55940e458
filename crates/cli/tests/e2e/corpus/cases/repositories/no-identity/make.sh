ticket t-1
