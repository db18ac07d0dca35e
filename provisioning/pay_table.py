"""The pay table of a rule set: what each bet wins on and pays, as one would hang it on a wall.

Everything is read from the compiled rules, so that the table says what is settled.
"""

import html
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from device.throw_results import labels, wins
from engine_lite.house_edge import bets_as_made, per_cent
from engine_lite.rules import COLLECT, LOSE, NUMBERS, PUSH, BetRule, RuleSet

# Columns of the text, in characters.
_TEXT_WIDTH, _WHAT_WIDTH, _PAYS_WIDTH = 96, 50, 9

_GROUPS = (
    ("Line bets", ("line",)),
    ("Odds on line bets", ("odds",)),
    ("Bets that stay until they are decided", ("multi_roll",)),
    ("Bets on the next roll", ("one_roll",)),
    ("Bets on a whole hand", ("collect", "points")),
)


@dataclass(frozen=True)
class PaidBet:
    """One bet: its name, what it wins on with what that pays, and what else is to be known."""

    name: str
    lines: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class PayTable:
    """All that stands on the wall; groups are titles with their bets, options names with values and meanings."""

    title: str
    name: str
    version: int
    source: str
    warnings: tuple[str, ...]
    groups: tuple[tuple[str, tuple[PaidBet, ...]], ...]
    options: tuple[tuple[str, str, str], ...]


def pay_table(data: dict[str, Any], rules: RuleSet) -> PayTable:
    """The pay table of sound `data` that was compiled to `rules`."""
    of_kind: dict[str, list[BetRule]] = {}
    for rule in bets_as_made(rules):
        of_kind.setdefault(rule.kind, []).append(rule)
    groups = []
    for title, stages in _GROUPS:
        bets = []
        for kind in data["order"]:
            bet = data["bets"][kind]
            if bet["stage"] not in stages:
                continue
            if "each" in bet:
                bets.append(_each(rules, kind, bet))
            else:
                bets.append(_paid_bet(rules, bet["name"], of_kind[kind]))
        if bets:
            groups.append((title, tuple(bets)))
    options = [
        (name, _shown_option(value), data["options"][name]["about"]) for name, value in sorted(rules.options.items())
    ]
    return PayTable(
        rules.title,
        rules.name,
        rules.version,
        str(data.get("source", "")),
        tuple(rules.warnings),
        tuple(groups),
        tuple(options),
    )


def _shown_option(value: object) -> str:
    if isinstance(value, list) and len(value) == 2:
        return f"{value[0]} to {value[1]}"
    return value if isinstance(value, str) else json.dumps(value)


def _paid_bet(rules: RuleSet, name: str, bets: Sequence[BetRule]) -> PaidBet:
    describe: dict[str, Callable[[RuleSet, Sequence[BetRule]], tuple[list[tuple[str, str]], list[str]]]] = {
        "line": _line,
        "collect": _collect,
        "points": _points,
    }
    lines, remarks = describe.get(bets[0].stage, _held)(rules, bets)
    return PaidBet(name, tuple(lines) or (("never wins", "nothing"),), tuple(remarks + _terms(bets[0])))


def _each(rules: RuleSet, kind: str, bet: dict[str, Any]) -> PaidBet:
    """One entry of the data that is a bet of its own on each of its results."""
    found: dict[str, list[str]] = {}
    for result in sorted(bet["each"]):
        rule = rules.one(f"{kind}_{result.replace('-', '_')}")
        assert rule is not None
        for _, pays in wins(rules, rule):
            found.setdefault(_to(*pays), []).append(result)
    return PaidBet(bet["name"], tuple((_or(results), pays) for pays, results in found.items()), ())


def _line(rules: RuleSet, bets: Sequence[BetRule]) -> tuple[list[tuple[str, str]], list[str]]:
    first = bets[0]
    there = rules.rule(first.kind, NUMBERS[0])
    assert there is not None
    win = rules.winning(there)
    assert win is not None
    lines = [(f"{_or(won)} on its first roll", _to(*pays)) for won, pays in wins(rules, first)]
    right = rules.outcome(there, 1, 3) == win
    lines.append(("then its number before 7" if right else "then 7 before its number", _to(win.num, win.den)))
    remarks = []
    if lost := labels(rules, first, LOSE):
        remarks.append(f"Loses on {_or(lost)} on its first roll.")
    if pushed := labels(rules, first, PUSH):
        remarks.append(f"{_or(pushed)} on its first roll: no decision, the bet is handed back.")
    return lines, remarks


def _held(rules: RuleSet, bets: Sequence[BetRule]) -> tuple[list[tuple[str, str]], list[str]]:
    """Lines such as "4 or 10 before 7", where numbers that pay the same share one; on one roll only what wins."""
    found: list[tuple[list[str], list[str], str]] = []
    pushed: list[str] = []
    for rule in bets:
        # Easy ways last: "before 7 or any other 4".
        lost = [] if rule.stage == "one_roll" else sorted(labels(rules, rule, LOSE), key=lambda said: said[0] == "a")
        pushed += labels(rules, rule, PUSH)
        for won, ratio in wins(rules, rule):
            pays = _to(*ratio)
            for other_won, other_lost, other_pays in found:
                if pays == other_pays and lost == other_lost:
                    other_won += won
                    break
                if pays == other_pays and won == other_won:
                    other_lost += lost
                    break
            else:
                found.append((list(won), list(lost), pays))
    lines = [(f"{_or(won)} before {_or(lost)}" if lost else _or(won), pays) for won, lost, pays in found]
    return lines, [f"{_or(pushed)}: no decision, the bet is handed back."] if pushed else []


def _collect(rules: RuleSet, bets: Sequence[BetRule]) -> tuple[list[tuple[str, str]], list[str]]:
    rule = bets[0]
    assert rule.by_count is not None
    win = rule.by_count[0]
    wanted, lost = labels(rules, rule, COLLECT), labels(rules, rule, LOSE)
    return [(f"each of {_joined(wanted, 'and')} before {_or(lost)}", _to(win.num, win.den))], []


def _points(_rules: RuleSet, bets: Sequence[BetRule]) -> tuple[list[tuple[str, str]], list[str]]:
    by_count = bets[0].by_count
    assert by_count is not None
    lines = [
        ("all six points" if count == len(NUMBERS) else f"{count} different points", _to(win.num, win.den))
        for count, win in sorted(by_count.items())
    ]
    lost = [str(count) for count in range(len(NUMBERS)) if count not in by_count]
    return lines, [f"Points that the shooter makes before the seven-out; {_or(lost)} of them lose."]


def _terms(rule: BetRule) -> list[str]:
    """When a bet is taken, when it is off, and what it costs beside the stake."""
    remarks = []
    if rule.placed == "new_shooter":
        remarks.append("Taken before a shooter's first roll only.")
    elif rule.placed == "point":
        remarks.append("Taken once there is a point.")
    elif rule.placed == "come_out":
        remarks.append("Taken on a come-out only.")
    if rule.switchable and not rule.works_on_come_out:
        remarks.append("Off on a come-out unless the player calls it on.")
    if rule.switchable and not rule.works_on_point:
        remarks.append("Off on a point unless the player calls it on.")
    commission = rule.commission
    if commission is not None:
        rounding = {"down": "rounded down", "up": "rounded up", "nearest": "rounded to the nearest"}
        taken = "when the bet is put down" if commission.up_front else "from the win"
        if commission.up_front and rule.stays_up:
            taken += " and again when it wins and stays"
        remarks.append(
            f"Commission {_rate(commission.num, commission.den)} of the {commission.base}, "
            f"{rounding[commission.rounding]}, at least {commission.minimum} chip unit"
            f"{'' if commission.minimum == 1 else 's'}, taken {taken}."
        )
    return remarks


def _rate(num: int, den: int) -> str:
    return f"{num * 100 // den} %" if num * 100 % den == 0 else per_cent((num, den))


def _to(num: int, den: int) -> str:
    return f"{num} to {den}"


def _or(labels: Sequence[str]) -> str:
    return _joined(labels, "or")


def _joined(labels: Sequence[str], last: str) -> str:
    if not labels:
        return "nothing"
    *most, end = labels
    return f"{', '.join(most)} {last} {end}" if most else end


# Text


def pay_table_text(table: PayTable) -> list[str]:
    """The lines of the pay table for a terminal or a plain printer."""
    names = max((len(bet.name) for _, bets in table.groups for bet in bets), default=0)
    lines = [table.title, "=" * len(table.title)]
    for warning in table.warnings:
        lines += _wrapped(f"WARNING: {warning}")
    for title, bets in table.groups:
        lines += ["", title.upper()]
        for bet in bets:
            name = bet.name
            for what, pays in bet.lines:
                *most, end = textwrap.wrap(what, _WHAT_WIDTH, break_on_hyphens=False)
                for part in most:
                    lines.append(f"{name:{names}}  {part}")
                    name = ""
                lines.append(f"{name:{names}}  {end:{_WHAT_WIDTH}}  {pays:>{_PAYS_WIDTH}}")
                name = ""
            for remark in bet.remarks:
                lines += [f"{'':{names}}    {part}" for part in textwrap.wrap(remark, _WHAT_WIDTH)]
    lines += ["", "OPTIONS IN FORCE"]
    for option, value, about in table.options:
        lines += _wrapped(f"{option} = {value}: {about}")
    return [*lines, "", *_wrapped(f"Source: {table.source}"), f"Rule set {table.name}, version {table.version}"]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _TEXT_WIDTH, subsequent_indent="    ")


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its widest cell but the last; `right` ones aligned so."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))] if rows else []
    widths[-1:] = [0]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


# The page to print


def pay_table_html(table: PayTable) -> str:
    """One page in ASCII without anything from elsewhere, black on white, that fills A4 or A3."""
    e = html.escape
    warnings = "".join(f'<p class="warning"><strong>Warning.</strong> {e(said)}</p>\n' for said in table.warnings)
    groups = []
    for title, bets in table.groups:
        rows = "".join(_html_bet(bet) for bet in bets)
        groups.append(f"<section>\n<h2>{e(title)}</h2>\n<table>\n{rows}</table>\n</section>\n")
    options = "".join(
        f"<li><b>{e(name.replace('_', ' '))}: {e(value)}.</b> {e(about)}</li>\n" for name, value, about in table.options
    )
    page = Template(_PAGE).substitute(
        title=e(table.title),
        warnings=warnings,
        groups="".join(groups),
        options=options,
        source=e(table.source),
        name=e(table.name),
        version=table.version,
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _html_bet(bet: PaidBet) -> str:
    e = html.escape
    rows = []
    for place, (what, pays) in enumerate(bet.lines):
        name = f'<th scope="rowgroup" rowspan="{len(bet.lines)}">{e(bet.name)}</th>' if place == 0 else ""
        # A combination such as 3-4 is never broken at its hyphen.
        unbroken = re.sub(r"(\d)-(\d)", "\\1\N{NON-BREAKING HYPHEN}\\2", what)
        rows.append(f'<tr>{name}<td>{e(unbroken)}</td><td class="pays">{e(pays)}</td></tr>\n')
    if bet.remarks:
        rows.append(f'<tr><td colspan="3" class="remark">{e(" ".join(bet.remarks))}</td></tr>\n')
    return f"<tbody>\n{''.join(rows)}</tbody>\n"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title: pay table</title>
<style>
/* Lengths follow the sheet's width when printed, so that A3 shows the same page larger. */
@page { margin: 12mm; }
* { box-sizing: border-box; }
html { font: 15px/1.35 "Liberation Sans", "DejaVu Sans", Arial, sans-serif; color: #000; background: #fff; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 2rem; line-height: 1.15; margin: 0 0 .6rem; padding-bottom: .5rem; border-bottom: .25rem solid #000; }
.warning { border: .2rem solid #000; padding: .5rem .8rem; margin: .6rem 0; font-size: 1.05rem; }
main { columns: 2; column-gap: 2.2rem; }
section { margin: 0 0 1.1rem; }
h2 { font-size: 1.05rem; margin: 0 0 .1rem; break-after: avoid; }
table { width: 100%; border-collapse: collapse; border-top: 2px solid #000; }
tbody { break-inside: avoid; border-bottom: 1px solid #000; }
tr { break-inside: avoid; }
th, td { text-align: left; vertical-align: baseline; padding: .16rem .7rem .16rem 0; font-weight: normal; }
th { font-weight: bold; width: 31%; }
.pays { font-weight: bold; text-align: right; white-space: nowrap; padding-right: 0; }
.remark { font-size: .8rem; padding-top: 0; }
footer { font-size: .8rem; margin-top: .5rem; border-top: .15rem solid #000; padding-top: .4rem; }
footer h2 { font-size: .9rem; }
footer ul { margin: .1rem 0 .5rem; padding-left: 1.1rem; columns: 2; column-gap: 2.2rem; }
footer li { break-inside: avoid; }
footer p { margin: .1rem 0; }
@media (max-width: 44rem) { main, footer ul { columns: 1; } }
@media print {
  html { font-size: 1.5vw; }
  body { max-width: none; padding: 0; }
  main, footer ul { columns: 2; }
}
</style>
</head>
<body>
<h1>$title</h1>
${warnings}<main>
${groups}</main>
<footer>
<h2>Options in force</h2>
<ul>
${options}</ul>
<p>Source: $source</p>
<p>Rule set $name, version $version</p>
</footer>
</body>
</html>
"""
