"""What puts a terminal on a table: command line, configuration, central-side set-up."""
