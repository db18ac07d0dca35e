"""What a table is opened under."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import RuleSet
from engine_lite.table import Table


@dataclass(frozen=True)
class TableTerms:
    """What a table is opened under: the rule set's data, options, unit and limits (chip units)."""

    rule_set: Mapping[str, Any]
    options: Mapping[str, Any]
    unit: int
    minimum: int
    maximum: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "TableTerms":
        """The terms that stand in an event, as `data` gives them."""
        limits = data["limits"]
        return cls(data["rule_set"], data["options"], data["unit"], limits["min"], limits["max"])

    def table(self) -> Table:
        """A new table under these terms. Raises RuleError or ValueError when they are not sound."""
        return Table(compile_rules(dict(self.rule_set), dict(self.options)), self.unit, self.minimum, self.maximum)

    def data(self) -> dict[str, Any]:
        """The terms as they stand in an event."""
        return {
            "rule_set": dict(self.rule_set),
            "options": dict(self.options),
            "unit": self.unit,
            "limits": {"min": self.minimum, "max": self.maximum},
        }

    def check(self) -> RuleSet:
        """The rule set, if a table may be opened under these terms. Raises RuleError or ValueError.

        More than `table` asks: the regulation's own bounds on the limits. What was opened once is not judged again.
        """
        rules = self.table().rules
        if self.minimum % self.unit:
            raise ValueError(f"the minimum {self.minimum} must be a multiple of the unit {self.unit}")
        bounds = rules.maximum_bounds(self.minimum)
        if bounds is not None and not bounds[0] <= self.maximum <= bounds[1]:
            raise ValueError(
                f"the maximum must be from {bounds[0]} to {bounds[1]} where the minimum is {self.minimum} "
                f"({rules.name}, {rules.limits_source})"
            )
        return rules
