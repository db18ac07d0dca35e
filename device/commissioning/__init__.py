"""Commissioning: every signal of a table is tried by hand, and a signed report says what was found."""
