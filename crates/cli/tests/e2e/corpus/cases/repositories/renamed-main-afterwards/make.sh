git branch --move trunk
ticket t-1
