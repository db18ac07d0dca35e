"""A card for a new unit: made at the centre, it installs the unit, enrols it and vanishes."""
