mkdir .crew
echo hello > .crew/journal.db
ticket t-1
