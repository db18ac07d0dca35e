"""Releases: made into packages and signed bundles, and put in the place of each other on a table's computer."""
