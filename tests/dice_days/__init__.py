"""A day at a table under each regulation, with the log, the alerts and the account worked out by hand."""
