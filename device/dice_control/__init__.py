"""Dice control: sets and dice, the reserve, and what the regulations ask of both. Pure: no I/O, no clock."""
