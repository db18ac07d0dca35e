"""Setting a Debian or Raspberry Pi OS up as a table's computer, and taking that back."""
