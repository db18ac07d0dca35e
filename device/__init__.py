"""The terminal: table session, journal, console and uplink."""
