mkdir .crew
: > .crew/journal.db
ticket t-1
