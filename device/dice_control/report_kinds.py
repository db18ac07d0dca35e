"""The reports of dice control by name. Apart from what makes them, so that the terminal need not load that."""

LOG, STATUS, REPORT, FAIRNESS = "log", "status", "report", "fairness"
KINDS = (LOG, STATUS, REPORT, FAIRNESS)
