echo /nowhere/objects > .git/objects/info/alternates
ticket t-1
