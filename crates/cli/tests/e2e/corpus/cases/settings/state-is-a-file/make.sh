echo x > .crew
ticket t-1
