"""Makes the golden tables: `python -m tests.golden.make_golden_tables`. It shares no code with the settlement core.

The ratios are typed here from the regulation, and everything is worked out in exact fractions.

pays-unit-1.csv and pays-unit-5.csv: what a stake of 1 to 200 chip units (of 5 to 1,000 in fives) is paid, stake apart,
rounded down to the unit, and after it the exact part that is left unpaid. In words:
  right bet of 7 on 6, seven to six: 7 x 7 / 6 = 49/6 = 8 and a sixth: "8 1/6"
  wrong bet of 10 on 4, five to eleven: 10 x 5 / 11 = 50/11 = 4 and 6 elevenths: "4 6/11"
  odds of 7 on 5, three to two: 7 x 3 / 2 = 21/2 = 10 and a half: "10 1/2"
  odds of 9 against 8, five to six: 9 x 5 / 6 = 45/6 = 7 and a half: "7 1/2"
  wrong bet of 1 on 6, four to five: 4/5, less than a chip: "0 4/5"
  in fives, right bet of 25 on 6: 25 x 7 / 6 = 175/6 = 29 and a sixth; 25 is paid, 4 and a sixth is left: "25 25/6"

commission-unit-1.csv and commission-unit-5.csv: five per cent of the bet, or of the exact win before it is rounded to
the unit, in chip units; rounded down, to the nearest (a half up) or up to the unit, and at least one or two units:
  of a bet of 30: 30 x 5 / 100 = 3/2: down 1, nearest 2, up 2, and with a minimum of two units 2, 2, 2
  of the win of a lay of 50 against 4, one to two: 50 / 2 x 5 / 100 = 5/4: down 1, nearest 1, up 2
  of the win of a buy of 70 on 5, three to two: 70 x 3 / 2 x 5 / 100 = 21/4: down 5, nearest 5, up 6
  in fives, of a bet of 190: 19/2 is 1.9 units: down 1 unit, nearest 2, up 2: 5, 10, 10
"""

import csv
import sys
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
AMOUNTS = range(1, 201)
UNITS = (1, 5)
NUMBERS = (4, 5, 6, 8, 9, 10)
ROUNDINGS = ("down", "nearest", "up")
MINIMA = (1, 2)
RATE = Fraction(5, 100)

# To one. Odds: Orden of 9 October 1979, IV.1.C, on Win and on Don't Win; Macau, Despacho 53/2010, art. 6.2 and 6.4;
# buy pays and lay pays are the same true odds. Place, place to lose: Orden, IV.1.D, right bet and wrong bet.
ODDS = {4: Fraction(2), 5: Fraction(3, 2), 6: Fraction(6, 5), 8: Fraction(6, 5), 9: Fraction(3, 2), 10: Fraction(2)}
AGAINST = {
    4: Fraction(1, 2),
    5: Fraction(2, 3),
    6: Fraction(5, 6),
    8: Fraction(5, 6),
    9: Fraction(2, 3),
    10: Fraction(1, 2),
}
RIGHT = {
    4: Fraction(9, 5),
    5: Fraction(7, 5),
    6: Fraction(7, 6),
    8: Fraction(7, 6),
    9: Fraction(7, 5),
    10: Fraction(9, 5),
}
WRONG = {
    4: Fraction(5, 11),
    5: Fraction(5, 8),
    6: Fraction(4, 5),
    8: Fraction(4, 5),
    9: Fraction(5, 8),
    10: Fraction(5, 11),
}
PAYS = {"odds": ODDS, "against": AGAINST, "right": RIGHT, "wrong": WRONG}


def whole_units(exact: Fraction, unit: int, rounding: str) -> int:
    """How many whole units an exact number of chip units is, rounded as said."""
    units = exact / unit
    below = units.numerator // units.denominator
    over = units - below
    if rounding == "down":
        return below
    if rounding == "up":
        return below + (1 if over > 0 else 0)
    return below + (1 if over >= Fraction(1, 2) else 0)


def pay(stake: int, ratio: Fraction, unit: int) -> str:
    """What is paid and, where there is one, the remainder."""
    exact = stake * ratio
    paid = whole_units(exact, unit, "down") * unit
    left = exact - paid
    return f"{paid} {left.numerator}/{left.denominator}" if left else str(paid)


def commission(base: Fraction, unit: int, rounding: str, minimum: int) -> int:
    """The commission, in chip units, on an exact bet or win of that many chip units."""
    return max(whole_units(base * RATE, unit, rounding), minimum) * unit


def pay_rows(unit: int) -> list[list[str]]:
    """A heading and a row for each stake."""
    columns = [(name, number) for name in PAYS for number in NUMBERS]
    rows = [["stake", *(f"{name} {number}" for name, number in columns)]]
    for units in AMOUNTS:
        stake = units * unit
        rows.append([str(stake), *(pay(stake, PAYS[name][number], unit) for name, number in columns)])
    return rows


def commission_rows(unit: int) -> list[list[str]]:
    """A heading and a row for each stake: of the bet, then of the win on and against each number."""
    ways = [(rounding, minimum) for rounding in ROUNDINGS for minimum in MINIMA]
    bases = [("bet", Fraction(1))]
    bases += [(f"buy {number}", ODDS[number]) for number in NUMBERS]
    bases += [(f"lay {number}", AGAINST[number]) for number in NUMBERS]
    rows = [["stake", *(f"{base} {rounding} {minimum}" for base, _ in bases for rounding, minimum in ways)]]
    for units in AMOUNTS:
        stake = units * unit
        dues = [commission(stake * ratio, unit, *way) for _, ratio in bases for way in ways]
        rows.append([str(stake), *map(str, dues)])
    return rows


def tables() -> dict[str, list[list[str]]]:
    """The rows of each file, by its name."""
    made = {}
    for unit in UNITS:
        made[f"pays-unit-{unit}.csv"] = pay_rows(unit)
        made[f"commission-unit-{unit}.csv"] = commission_rows(unit)
    return made


def read(name: str) -> list[list[str]]:
    """The rows of a file that was made."""
    with (HERE / name).open(newline="") as file:
        return list(csv.reader(file))


def main() -> int:
    """Write the files anew."""
    for name, rows in tables().items():
        with (HERE / name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
