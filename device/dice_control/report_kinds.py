"""The reports of dice control by name, and the days they are of: apart, so that the terminal need not load the rest."""

from datetime import date

LOG, STATUS, REPORT, FAIRNESS = "log", "status", "report", "fairness"
KINDS = (LOG, STATUS, REPORT, FAIRNESS)
# With room on either side for the hours of any zone: beyond it a calendar ends.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
