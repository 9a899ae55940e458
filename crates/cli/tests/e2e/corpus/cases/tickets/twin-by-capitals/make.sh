ticket t-1
ticket T-1
