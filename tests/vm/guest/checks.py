"""What the drivers of a table must do on a GPIO chip of the kernel.

A check returns what it has seen in one line, or raises CheckFailed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from drivers.signals import (
    BOXES,
    POSITIONS,
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    InputAvailable,
    InputUnavailable,
    PuckFault,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Status,
)
from tests.vm.guest.other_processes import contacts_held, lines_held, play, run_apart
from tests.vm.guest.table import (
    INPUTS,
    LAMPS,
    QUIET_S,
    SIGNAL_WITHIN_S,
    START,
    WIRING,
    CheckFailed,
    Table,
    expect_lit,
    move,
    table_at_rest,
)

_STATUSES: tuple[Status, ...] = ("on", "off", "buy", "lay")
# The promise for an edge that is lost; one that is not must not take longer, even on so slow a processor.
_BEYOND_DEBOUNCE_MS_MAX = 100.0
# A held line is tried again every now and then.
_BACK_WITHIN_S = 15.0
# Of the emulated processor, while the table runs with nothing going on.
_IDLE_SHARE_MAX = 0.5
_KERNEL_COMPLAINTS = ("WARNING:", "BUG:", "Oops", "general protection fault", "Call Trace")


def root_is_read_only() -> str:
    """lgpio alone cannot start where the product starts: working directory /, nothing to write there."""
    bare = {name: value for name, value in os.environ.items() if name != "LG_WD"}
    ended = subprocess.run([sys.executable, "-c", "import lgpio"], capture_output=True, text=True, env=bare)
    if Path.cwd() != Path("/") or os.access("/", os.W_OK) or ended.returncode == 0:
        raise CheckFailed("the guest's working directory can be written")
    return f"lgpio alone says {ended.stderr.strip().splitlines()[-1]}"


def starts_in_a_read_only_root() -> str:
    """open_pin_factory and TableInputs do start there, and every pin of the wiring is to be had."""
    started = time.monotonic()
    table = Table()
    took_s = time.monotonic() - started
    _expect_all_pins(table)
    table.inputs.close()
    return f"{len(INPUTS)} inputs and {len(LAMPS)} lamps, {took_s:.1f} s with loading lgpio"


def opened_again_in_one_process() -> str:
    """Pins that were given back can be taken again by the same process, and hint again."""
    for _ in range(2):
        with table_at_rest() as table:
            table.hints_ns.clear()
            move("puck_9", closed=True)
            table.expect([PuckMoved(9, "on", initial=False)])
            if not table.hints_ns:
                raise CheckFailed("no edge was hinted")
        move("puck_9", closed=False)
    return "twice"


def active_at_start_is_initial() -> str:
    """What is closed before the start is told as a state: no move of the puck, no press."""
    with contacts_held(("puck_6", "lid", "buy")):
        table = Table()
        table.run(SIGNAL_WITHIN_S, until=lambda: len(table.seen) >= 3)
        table.run(QUIET_S)
        table.inputs.close()
    wanted = {PuckMoved(6, "on", initial=True), ReserveClosed(initial=True), ButtonHeldAtStart("buy")}
    if set(table.signals()) != wanted or len(table.seen) != len(wanted):
        raise CheckFailed(f"seen were {table.signals()}")
    return "puck on the 6, lid shut, BUY held down"


def every_input_alone() -> str:
    """Each contact makes its own input active and no other; open again, none is."""
    with table_at_rest() as table:
        for name in INPUTS:
            move(name, closed=True)
            table.expect_active({name})
            move(name, closed=False)
            table.expect_active(set())
    return f"{', '.join(INPUTS)}"


def puck() -> str:
    """The puck on each of its places, lifted, and seen by two sensors at once."""
    with table_at_rest() as table:
        for position in POSITIONS:
            for other in POSITIONS:
                move(f"puck_{other}", closed=other == position)
            table.expect([PuckMoved(position, "off" if position == "off" else "on", initial=False)])
        move("puck_off", closed=False)
        table.expect([PuckLifted(initial=False)])
        move("puck_4", closed=True)
        move("puck_10", closed=True)
        table.expect([PuckFault(("4", "10"), initial=False)])
    return "7 places, lifted, two sensors at once"


def buttons() -> str:
    """Each box button and status button: its signal for the press, none for the release."""
    with table_at_rest() as table:
        for box in BOXES:
            table.press(f"box_{box}", [BoxPicked(box)])
            table.press(f"box_{box}", [BoxPicked(None)])
        for status in _STATUSES:
            table.press(status, [BetStatusKeyed(status, None)])
        table.press("box_8", [BoxPicked(8)])
        table.press("buy", [BetStatusKeyed("buy", 8), BoxPicked(None)])
    return "6 box buttons, 4 status buttons, BUY for the 8"


def lid() -> str:
    """The lid of the reserve shut and open."""
    with table_at_rest() as table:
        move("lid", closed=True)
        table.expect([ReserveClosed(initial=False)])
        move("lid", closed=False)
        table.expect([ReserveOpened(initial=False)])
    return "shut, open"


def lamps() -> str:
    """Each lamp lit alone and dark again, all together, and all dark after the end."""
    names = [name.removeprefix("lamp_") for name in LAMPS]
    with table_at_rest() as table:
        for name in names:
            table.inputs.set_lamps({name: True})
            expect_lit({name})
            table.inputs.set_lamps({name: False})
            expect_lit(set())
        table.inputs.set_lamps(dict.fromkeys(names, True))
        expect_lit(set(names))
    expect_lit(set())
    return ", ".join(names)


def fast_presses() -> str:
    """Presses of 30 ms: none is lost and none doubled."""
    presses = 50
    with table_at_rest() as table:
        play(table, [("on", True, 30), ("on", False, 30)] * presses)
        table.expect([BetStatusKeyed("on", None)] * presses)
    return f"{presses} presses of 30 ms, 30 ms apart"


def bounces() -> str:
    """A contact that bounces at both ends of a press is pressed once; one that only chatters is not pressed."""
    presses, chatter = 20, [("lay", True, 1), ("lay", False, 2)]
    press = [*chatter * 4, ("lay", True, 40), *chatter * 4, ("lay", False, 40)]
    with table_at_rest() as table:
        edges = len(play(table, press * presses))
        table.expect([BetStatusKeyed("lay", None)] * presses)
        play(table, chatter * 50)
        table.expect([])
    return f"{edges} edges were {presses} presses, 100 edges of chatter none"


def latency() -> str:
    """From the edge to the signal, the debounce time apart."""
    presses = 200
    with table_at_rest() as table:
        table.hints_ns.clear()
        pressed_ns = play(table, [("off", True, 45), ("off", False, 45)] * presses)[::2]
        seen_ns = [seen.time_ns for seen in table.seen]
        table.expect([BetStatusKeyed("off", None)] * presses)
    settle_ms = WIRING.timing.settle_ms("off")
    to_hint = [(next(ns for ns in table.hints_ns if ns >= edge) - edge) / 1e6 for edge in pressed_ns]
    to_signal = [(seen - edge) / 1e6 for edge, seen in zip(pressed_ns, seen_ns, strict=True)]
    beyond = [ms - settle_ms for ms in to_signal]
    figures = (
        f"{presses} presses, ms p50/p99: edge to hint {_spread(to_hint)}, edge to signal {_spread(to_signal)}, "
        f"of it beyond the {settle_ms} ms of debounce {_spread(beyond)} (TCG, 250 million instructions a second)"
    )
    if _percentile(beyond, 99) > _BEYOND_DEBOUNCE_MS_MAX:
        raise CheckFailed(figures)
    return figures


def a_press_on_another_line_is_not_taken() -> str:
    """A control: what expects a press must fail when it is another contact that moves."""
    with table_at_rest() as table:
        move("off", closed=True)
        return _must_fail(lambda: table.expect([BetStatusKeyed("on", None)]))


def too_short_presses_are_not_taken() -> str:
    """A control: what counts presses must fail when they are shorter than the debounce time."""
    presses = 10
    with table_at_rest() as table:
        play(table, [("on", True, 1), ("on", False, 40)] * presses)
        return _must_fail(lambda: table.expect([BetStatusKeyed("on", None)] * presses))


def line_held_by_another_program() -> str:
    """Its input alone is unavailable, with pin and signal named, and comes back when the other program ends.

    The puck may lie where nobody can look, so nothing is said of it before another place sees it.
    """
    held = ("puck_6", "lamp_box_4")
    with lines_held(held):
        table = Table()
        table.run(SIGNAL_WITHIN_S, until=lambda: len(table.seen) > len(held))
        table.run(QUIET_S)
        reasons = {signal.name: signal.reason for signal in table.signals() if isinstance(signal, InputUnavailable)}
        others = [signal for signal in table.signals() if not isinstance(signal, InputUnavailable)]
        if reasons.keys() != {*held} or others != [ReserveOpened(initial=True)]:
            raise CheckFailed(f"seen were {table.signals()}")
        for name, reason in reasons.items():
            if name not in reason or f"GPIO{WIRING.pins[name].number} " not in reason:
                raise CheckFailed(f"{name} and its pin are not named in {reason!r}")
        table.seen.clear()
        move("puck_8", closed=True)
        table.expect([PuckMoved(8, "on", initial=True)])
        move("lid", closed=True)
        table.expect([ReserveClosed(initial=False)])
        table.inputs.set_lamps({"on": True, "box_4": True})
        expect_lit({"on"})
    ended = time.monotonic()
    table.run(_BACK_WITHIN_S, until=lambda: len(table.seen) >= len(held))
    back_s = time.monotonic() - ended
    table.run(QUIET_S)
    if set(table.signals()) != {InputAvailable(name) for name in held} or len(table.seen) != len(held):
        raise CheckFailed(f"after the other program had ended, seen were {table.signals()}")
    table.seen.clear()
    expect_lit({"on", "box_4"})
    move("puck_8", closed=False)
    move("puck_6", closed=True)
    table.expect([PuckMoved(6, "on", initial=False)])
    table.inputs.close()
    return f"{reasons['puck_6']!r}; both back {back_s:.1f} s after the other program ended"


def chip_that_vanishes() -> str:
    """The chip goes while all its lines are open: every input is unavailable, and the process neither dies nor races.

    A chip that returns is another one for lgpio: this process stays without it, which it must not conceal.
    """
    table = Table()
    table.expect(START)
    before = _processor_share(table)
    gone = time.monotonic()
    run_apart(table, "unplug()")
    if not table.run(SIGNAL_WITHIN_S, until=lambda: _unavailable(table) == {*INPUTS}):
        raise CheckFailed(f"not told to be unavailable: {sorted({*INPUTS} - _unavailable(table))}")
    told_ms = (time.monotonic() - gone) * 1000
    table.inputs.set_lamps({"on": True})
    share = _processor_share(table)
    run_apart(table, "plug()")
    table.run(_BACK_WITHIN_S)
    rows = table.inputs.hardware()["inputs"]
    available = {row["name"] for row in rows if row["unavailable"] is None} & {*INPUTS}
    table.inputs.close()
    if available:
        raise CheckFailed(f"called available: {sorted(available)}")
    figures = (
        f"all told after {told_ms:.0f} ms; share of the processor {before:.0%} before, {share:.0%} without the chip"
    )
    if share > _IDLE_SHARE_MAX:
        raise CheckFailed(figures)
    return figures


def chip_that_returned() -> str:
    """A terminal that starts after that has all its pins."""
    with table_at_rest() as table:
        _expect_all_pins(table)
        move("puck_9", closed=True)
        table.expect([PuckMoved(9, "on", initial=False)])
        table.inputs.set_lamps({"on": True})
        expect_lit({"on"})
    return f"a new process has {len(INPUTS)} inputs and {len(LAMPS)} lamps"


def kernel_is_sound() -> str:
    """Nothing that was asked of the kernel made it complain, or what the other checks saw would be worth little."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout.splitlines()
    complaints = [line for line in log if any(word in line for word in _KERNEL_COMPLAINTS)]
    if complaints:
        raise CheckFailed(f"{len(complaints)} complaints, the first {complaints[0]}")
    return f"no complaint in {len(log)} lines of its log"


# The vanishing chip comes late: the others are not to depend on how well the kernel gets over it.
CHECKS: tuple[Callable[[], str], ...] = (
    root_is_read_only,
    starts_in_a_read_only_root,
    opened_again_in_one_process,
    active_at_start_is_initial,
    every_input_alone,
    puck,
    buttons,
    lid,
    lamps,
    fast_presses,
    bounces,
    latency,
    a_press_on_another_line_is_not_taken,
    too_short_presses_are_not_taken,
    line_held_by_another_program,
    chip_that_vanishes,
    chip_that_returned,
    kernel_is_sound,
)


def _must_fail(expectation: Callable[[], None]) -> str:
    try:
        expectation()
    except CheckFailed as failure:
        return f"the control fails as it must: {failure}"
    raise CheckFailed("the control did not fail")


def _expect_all_pins(table: Table) -> None:
    hardware = table.inputs.hardware()
    if hardware["pin_library"] != "lgpio":
        raise CheckFailed(f"the pin library is {hardware['pin_library']}")
    for rows, names in (("inputs", {*INPUTS}), ("lamps", {name.removeprefix("lamp_") for name in LAMPS})):
        available = {row["name"] for row in hardware[rows] if row["unavailable"] is None}
        if not names <= available:
            raise CheckFailed(f"not available of the {rows}: {sorted(names - available)}")


def _unavailable(table: Table) -> set[str]:
    return {signal.name for signal in table.signals() if isinstance(signal, InputUnavailable)}


def _processor_share(table: Table) -> float:
    """How much of the processor this process takes, all its threads, while the table runs with nothing going on."""
    seconds = 2.0
    before = time.process_time()
    table.run(seconds)
    return (time.process_time() - before) / seconds


def _percentile(values: Sequence[float], percent: int) -> float:
    """The smallest of the values that so many percent of them do not exceed."""
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def _spread(values: Sequence[float]) -> str:
    return f"{_percentile(values, 50):.1f}/{_percentile(values, 99):.1f}"
