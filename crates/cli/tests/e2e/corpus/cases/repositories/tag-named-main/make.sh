git tag main HEAD~1
ticket t-1
