mkdir -p .crew/journal.db
ticket t-1
