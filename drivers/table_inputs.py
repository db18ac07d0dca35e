"""All inputs and lamps of one table behind one object: header pins and I/O node in, signals out.

A signal that came from the I/O node stays there until it is acknowledged, so that neither a killed program nor a
pulled cable loses or doubles a roll:

    inputs = TableInputs(Wiring(), pin_factory=open_pin_factory("lgpio"), node_port="/dev/serial/by-id/...")
    if last_report_in_journal is not None:
        inputs.resume(*last_report_in_journal)
    while True:
        for received in inputs.poll(monotonic_ms()):
            journal.append(... received.signal, received.report ...)   # flushed when this returns
            inputs.acknowledge(received)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from drivers.bet_status_decoder import BUTTONS, BetStatusDecoder
from drivers.dice_keys_decoder import DiceKeysDecoder
from drivers.header import HeaderInputs, HeaderLamps
from drivers.node_link import LinkEvent, NodeDown, NodeLink, NodeTime, NodeUp, Report
from drivers.puck_decoder import PuckDecoder
from drivers.reserve_decoder import ReserveDecoder
from drivers.signals import (
    POSITIONS,
    DiceEntryAbandoned,
    DieKeyed,
    InputUnavailable,
    NodeFound,
    NodeLost,
    Position,
    Signal,
)

DICE = (1, 2, 3, 4, 5, 6)
# BCM 0 and 1 belong to the identification of add-on boards.
HEADER_PINS = range(2, 28)
# The pins a Pico brings out; 23 to 25 are its own.
NODE_PINS = (*range(23), 26, 27, 28)
# In the order of BUTTONS: box_4 ... box_10, on, off, and for the buttons also buy, lay.
_BUTTON_PINS = (26, 12, 16, 20, 21, 3, 5, 6, 13, 19)
_LAMP_PINS = (18, 23, 24, 25, 8, 7, 14, 15)
# `received.report` belongs to the roll that a die becomes part of, and a die given up becomes part of none.
_WITHOUT_REPORT = (DieKeyed, DiceEntryAbandoned)


@dataclass(frozen=True)
class Wiring:
    """Which pin is what, and how long things settle (milliseconds).

    Header pins have BCM numbers. Together they take the whole header, so SPI, I2C, 1-Wire and the serial console are
    off, and the lamps of BUY and LAY are on the I/O node with the dice keys. ValueError: a pin is used twice or unfit.
    """

    puck: Mapping[Position, int] = field(default_factory=lambda: {4: 4, 5: 17, 6: 27, 8: 22, 9: 10, 10: 9, "off": 11})
    buttons: Mapping[str, int] = field(default_factory=lambda: dict(zip(BUTTONS, _BUTTON_PINS, strict=True)))
    lid: int = 2
    lamps: Mapping[str, int] = field(default_factory=lambda: dict(zip(BUTTONS[:8], _LAMP_PINS, strict=True)))
    dice_keys: Mapping[int, int] = field(default_factory=lambda: {1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7})
    node_lamps: Mapping[str, int] = field(default_factory=lambda: {"buy": 8, "lay": 9})
    puck_settle_ms: int = 60
    puck_lift_ms: int = 300
    button_settle_ms: int = 20
    pick_ms: int = 10_000
    lid_settle_ms: int = 50
    dice_key_settle_ms: int = 10
    hold_ms: int = 2_000
    abandon_ms: int = 10_000

    def __post_init__(self) -> None:
        header = {**self.header_inputs(), **{f"lamp {name}": pin for name, pin in self.lamps.items()}}
        _check_pins("header", header, HEADER_PINS)
        node = {f"dice key {die}": pin for die, pin in self.dice_keys.items()}
        node |= {f"lamp {name}": pin for name, pin in self.node_lamps.items()}
        _check_pins("node", node, NODE_PINS)
        for what, names, known in (
            ("puck place", self.puck, POSITIONS),
            ("button", self.buttons, BUTTONS),
            ("lamp", (*self.lamps, *self.node_lamps), BUTTONS),
            ("dice key", self.dice_keys, DICE),
        ):
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"there is no {what} {unknown[0]!r}")
        if not 2 <= self.dice_key_settle_ms <= 255:
            raise ValueError("dice_key_settle_ms is between 2 and 255")

    def header_inputs(self) -> dict[str, int]:
        """The header's inputs by name: puck_4 ... puck_10, puck_off, the buttons, lid."""
        puck = {f"puck_{position}": pin for position, pin in self.puck.items()}
        return {**puck, **self.buttons, "lid": self.lid}


def _check_pins(where: str, pins: Mapping[str, int], fit: range | tuple[int, ...]) -> None:
    taken: dict[int, str] = {}
    for name, pin in pins.items():
        if pin not in fit:
            raise ValueError(f"{where} pin {pin} ({name}) cannot be used; choose one of {fit[0]} to {fit[-1]}")
        if pin in taken:
            raise ValueError(f"{where} pin {pin} is wired twice: {taken[pin]} and {name}")
        taken[pin] = name


@dataclass(frozen=True)
class Received:
    """A signal, where it came from, and the last node report that went into it: (boot id, number), or None."""

    signal: Signal
    origin: str
    report: tuple[int, int] | None


class TableInputs:
    """Reads the inputs of a table. Not for several threads; `on_hint` alone is called from another one.

    `on_hint` says that a header pin moved and that a poll now is worth it. Raises node_link.NodePortBusy when another
    program holds the node's port; a port that is not there yet is waited for while the rest works.
    """

    def __init__(
        self,
        wiring: Wiring,
        *,
        pin_factory: Any,
        node_port: str | None,
        on_hint: Callable[[], None] | None = None,
    ) -> None:
        self._wiring = wiring
        self._factory_name = type(pin_factory).__name__
        self._told_unavailable: set[str] = set()
        self._puck = PuckDecoder(settle_ms=wiring.puck_settle_ms, lift_ms=wiring.puck_lift_ms)
        self._bet_status = BetStatusDecoder(settle_ms=wiring.button_settle_ms, pick_ms=wiring.pick_ms)
        self._reserve = ReserveDecoder(settle_ms=wiring.lid_settle_ms)
        self._dice_keys = self._new_dice_keys()
        self._die_on_pin = {pin: die for die, pin in wiring.dice_keys.items()}
        # The first report of what is half done; of each signal not acknowledged yet, its last and its first report.
        self._half_done_from: int | None = None
        self._outstanding: list[tuple[int, int]] = []
        self._node: NodeLink | None = None
        self._header: HeaderInputs | None = None
        self._lamps: HeaderLamps | None = None
        try:
            self._header = HeaderInputs(wiring.header_inputs(), pin_factory=pin_factory, on_hint=on_hint)
            self._lamps = HeaderLamps(wiring.lamps, pin_factory=pin_factory)
            if node_port is not None:
                self._node = NodeLink(
                    node_port,
                    inputs=list(wiring.dice_keys.values()),
                    outputs=list(wiring.node_lamps.values()),
                    settle_ms=wiring.dice_key_settle_ms,
                )
                self._node.open()
        except BaseException:
            self.close()
            raise

    def _new_dice_keys(self) -> DiceKeysDecoder:
        return DiceKeysDecoder(hold_ms=self._wiring.hold_ms, abandon_ms=self._wiring.abandon_ms)

    def resume(self, boot_id: int, report_number: int) -> None:
        """Before the first poll: the last report the journal knows. That one and those before it are done."""
        if self._node is not None:
            self._node.resume(boot_id, report_number)

    def poll(self, now_ms: int) -> list[Received]:
        """Look at everything once. Call every 20 to 50 ms and on hints; `now_ms` never goes back. Never waits."""
        assert self._header is not None, "closed"
        levels = self._header.levels()
        received = [
            Received(InputUnavailable(name, reason), "header", None)
            for name, reason in self._unavailable().items()
            if name not in self._told_unavailable
        ]
        self._told_unavailable.update(self._unavailable())
        puck = {place: levels[f"puck_{place}"] for place in self._wiring.puck if f"puck_{place}" in levels}
        if puck:
            received += [Received(s, "header:puck", None) for s in self._puck.feed(now_ms, puck)]
        buttons = {name: levels[name] for name in self._wiring.buttons if name in levels}
        received += [Received(s, "header:bet_status", None) for s in self._bet_status.feed(now_ms, buttons)]
        if "lid" in levels:
            received += [Received(s, "header:reserve", None) for s in self._reserve.feed(now_ms, levels["lid"])]
        if self._node is not None:
            for event in self._node.poll(now_ms):
                received += self._from_node(self._node, event)
            self._acknowledge_what_is_done(self._node)
        return received

    def _from_node(self, node: NodeLink, event: LinkEvent) -> list[Received]:
        if isinstance(event, NodeDown):
            return [Received(NodeLost(event.reason), "node", None)]
        if isinstance(event, NodeUp):
            signals: list[Signal] = [NodeFound(event.gap_ms, event.restarted, event.dropped)]
            if event.restarted:
                if (first := self._dice_keys.pending) is not None:
                    signals.append(DiceEntryAbandoned(first, "node_restarted"))
                self._dice_keys = self._new_dice_keys()
                self._half_done_from = None
                self._outstanding.clear()
            return [Received(signal, "node", None) for signal in signals]
        if isinstance(event, NodeTime):
            signals = self._dice_keys.poll(event.time_ms)
        else:
            signals = self._from_report(event)
        first_report = self._half_done_from or node.last_taken
        self._half_done_from = first_report if self._dice_keys.half_done else None
        assert node.boot_id is not None
        received = []
        for signal in signals:
            report = None if isinstance(signal, _WITHOUT_REPORT) else (node.boot_id, node.last_taken)
            received.append(Received(signal, "node:dice_keys", report))
            if report is not None:
                self._outstanding.append((node.last_taken, first_report))
        return received

    def _from_report(self, report: Report) -> list[Signal]:
        if report.pin not in self._die_on_pin:
            # Not one of the pins that it was told to look at: nothing that this table knows of.
            return []
        return self._dice_keys.feed(
            report.time_ms,
            self._die_on_pin[report.pin],
            report.closed,
            held_ms=report.held_ms,
            initial=report.initial,
        )

    @property
    def die_report(self) -> tuple[int, int] | None:
        """The last node report that a waiting first die is made of, None while no die waits."""
        if self._node is None or self._node.boot_id is None or self._dice_keys.pending is None:
            return None
        return (self._node.boot_id, self._node.last_taken)

    def give_up_die(self) -> None:
        """The roll was entered on the screen: a first die that waits on the keys must not begin the next one.

        To survive a crash, what was entered instead is journaled with `die_report`, which `resume` then gets.
        """
        self._dice_keys.give_up()
        if not self._dice_keys.half_done:
            self._half_done_from = None

    def acknowledge(self, received: Received) -> None:
        """What `received` led to is on the disk: the node may forget it. Saying so twice does no harm.

        Owed for every Received with a report, also for those that lead to nothing: an unacknowledged one keeps itself
        and all that follow on the node, which has room for 128 reports.
        """
        if self._node is None or received.report is None or received.report[0] != self._node.boot_id:
            return
        for report in self._outstanding:
            if report[0] == received.report[1]:
                self._outstanding.remove(report)
                break
        self._acknowledge_what_is_done(self._node)

    def _acknowledge_what_is_done(self, node: NodeLink) -> None:
        """Up to the last report taken, short of what is half done and of what the caller still has to acknowledge."""
        needed = [first for _, first in self._outstanding]
        if self._half_done_from is not None:
            needed.append(self._half_done_from)
        node.acknowledge(min(needed) - 1 if needed else node.last_taken)

    def set_lamps(self, lit: Mapping[str, bool]) -> None:
        """Light or darken lamps by name: on, off, buy, lay, box_4 ... box_10. The others stay as they are."""
        assert self._lamps is not None, "closed"
        self._lamps.set_lamps(lit)
        if self._node is not None:
            bits = self._node.outputs
            for n, name in enumerate(self._wiring.node_lamps):
                if name in lit:
                    bits = bits | 1 << n if lit[name] else bits & ~(1 << n)
            self._node.set_outputs(bits)

    def _unavailable(self) -> dict[str, str]:
        assert self._header is not None and self._lamps is not None, "closed"
        lamps = {f"lamp_{name}": reason for name, reason in self._lamps.unavailable.items()}
        return {**self._header.unavailable, **lamps}

    def health(self) -> dict[str, Any]:
        """For the health view: pin factory, unavailable inputs with reasons, the node's state and link counters."""
        node: dict[str, Any] = {"state": "none"}
        if self._node is not None:
            node = {
                "state": "online" if self._node.online else "offline",
                "port": self._node.port,
                "error": self._node.error,
                "counters": self._node.counters(),
            }
        return {"pin_factory": self._factory_name, "unavailable": self._unavailable(), "node": node}

    def node_fileno(self) -> int | None:
        """A descriptor that becomes readable when the node says something, if there is one. It changes on reopening."""
        return None if self._node is None else self._node.fileno()

    def close(self) -> None:
        """Give all pins and the port back. What was not acknowledged stays on the node."""
        for part in (self._header, self._lamps, self._node):
            if part is not None:
                part.close()
        self._header = self._lamps = self._node = None
