"""All inputs and lamps of one table behind one object: header pins and I/O node in, signals out.

A signal that came from the I/O node stays there until it is acknowledged, so that neither a killed program nor a
pulled cable loses or doubles a roll:

    inputs = TableInputs(Wiring(), pin_factory=open_pin_factory("lgpio"), node_port="usb:E6614C311B2A9C2F")
    inputs.resume(last_report_in_journal_by_group)
    while True:
        for received in inputs.poll(monotonic_ms()):
            journal.append(... received.signal, received.report ...)   # flushed when this returns
            inputs.acknowledge(received)
        wait(inputs.pace_ms)                                           # less on a hint, or when the node speaks
"""

from collections.abc import Callable, Mapping
from typing import Any

from drivers.bet_status_decoder import BetStatusDecoder
from drivers.closure_decoder import ClosureDecoder, door_decoder, lid_decoder
from drivers.dice_keys_decoder import DiceKeyContacts, DiceKeysDecoder
from drivers.header import HeaderInputs, HeaderLamps, pin_library
from drivers.node_link import NodeLink
from drivers.node_signals import NodeSignals, Received, ReportId
from drivers.puck_decoder import PuckDecoder
from drivers.signals import EdgeLost, InputAvailable, InputFreed, InputStuck, InputUnavailable, Signal
from drivers.slots_decoder import SlotsDecoder
from drivers.wiring import GROUPS, INPUTS, LAMPS, Wiring, group_of

__all__ = ["IDLE_LOOK_MS", "PACE_MS", "Received", "TableInputs"]

# How soon the next look is worth it: while something has not settled, and otherwise, for the edges that get lost.
PACE_MS = 5
IDLE_LOOK_MS = 25

_HeaderDecoder = PuckDecoder | BetStatusDecoder | ClosureDecoder | SlotsDecoder | DiceKeyContacts


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
        self._pin_library = pin_library(pin_factory)
        self._stuck: set[str] = set()
        self._lit = dict.fromkeys((name for name in LAMPS if name in wiring.pins), False)
        timing = wiring.timing
        self._dice_keys = DiceKeysDecoder(
            hold_ms=timing.hold_ms, abandon_ms=timing.abandon_ms, stuck_ms=timing.stuck_ms
        )
        self._decoders = {group: self._decoder(group) for group in GROUPS if wiring.board(group) == "header"}
        self._names = {group: wiring.group(group) for group in self._decoders}
        self._node_signals = NodeSignals(wiring)
        self._node: NodeLink | None = None
        self._header: HeaderInputs | None = None
        self._lamps: HeaderLamps | None = None
        try:
            pins = wiring.inputs("header")
            settle_ms = {name: timing.settle_ms(name) for name in pins}
            self._header = HeaderInputs(pins, settle_ms=settle_ms, pin_factory=pin_factory, on_hint=on_hint)
            self._lamps = HeaderLamps(wiring.lamps("header"), pin_factory=pin_factory)
            if node_port is not None:
                self._node = NodeLink(
                    node_port,
                    inputs=[(pin, timing.settle_ms(name)) for name, pin in wiring.inputs("node").items()],
                    outputs=list(wiring.lamps("node").values()),
                )
                self._node.open()
        except BaseException:
            self.close()
            raise

    def _decoder(self, group: str) -> _HeaderDecoder:
        timing = self._wiring.timing
        if group == "puck":
            return PuckDecoder(1, settle_ms=timing.puck_settle_ms, lift_ms=timing.puck_lift_ms)
        if group == "second_puck":
            return PuckDecoder(2, settle_ms=timing.puck_settle_ms, lift_ms=timing.puck_lift_ms)
        if group == "bet_status":
            return BetStatusDecoder(settle_ms=timing.button_settle_ms, pick_ms=timing.pick_ms, stuck_ms=timing.stuck_ms)
        if group == "reserve":
            return lid_decoder(timing.lid_settle_ms)
        if group == "door":
            return door_decoder(timing.lid_settle_ms)
        if group == "slots":
            return SlotsDecoder(self._wiring.group("slots"), settle_ms=timing.slot_settle_ms)
        assert group == "dice_keys"
        return DiceKeyContacts(self._dice_keys, settle_ms=timing.dice_key_settle_ms)

    def resume(
        self,
        reports: Mapping[str, ReportId],
        dropped: tuple[int, int] | None = None,
        used_up_die: ReportId | None = None,
    ) -> None:
        """Before the first poll: by group, the last of its reports that the journal knows.

        That one and those before it are done. A group that the journal knows nothing of may be left out. `dropped`:
        the node's last boot that the journal knows, and how many changes it had dropped by then. `used_up_die`: the
        last `die_report` that the journal has with a roll.
        """
        self._node_signals.resume(reports, used_up_die)
        if self._node is not None and dropped is not None:
            self._node.resume(*dropped)

    def poll(self, now_ms: int) -> list[Received]:
        """Look at everything once. Call again within `pace_ms`, and on hints; `now_ms` never goes back. Never waits."""
        assert self._header is not None and self._lamps is not None, "closed"
        received: list[Received] = []
        for signal in self._header.look(now_ms):
            assert isinstance(signal, InputUnavailable | InputAvailable | EdgeLost)
            group = group_of(signal.name)
            received.append(Received(signal, f"header:{group}", None))
            decoder = self._decoders[group]
            # Nobody sees any more how long a key stays down; how it is found later is a state.
            lost_sight = isinstance(signal, InputUnavailable | InputAvailable)
            if lost_sight and isinstance(decoder, BetStatusDecoder | DiceKeyContacts):
                decoder.forget(signal.name)
        received += [Received(signal, "header", None) for signal in self._lamps.look(now_ms)]
        for group, decoder in self._decoders.items():
            levels = self._header.levels
            active = {name: levels[name] for name in self._names[group] if name in levels}
            received += [Received(signal, f"header:{group}", None) for signal in decoder.feed(now_ms, active)]
        if self._node is not None:
            for event in self._node.poll(now_ms):
                received += self._node_signals.take(event, self._node.boot_id)
            self._node.acknowledge(self._node_signals.done)
        for one in received:
            self._note_stuck(one.signal)
        return received

    def _note_stuck(self, signal: Signal) -> None:
        if isinstance(signal, InputStuck):
            self._stuck.add(signal.name)
        elif isinstance(signal, InputFreed):
            self._stuck.discard(signal.name)

    @property
    def pace_ms(self) -> int:
        """How soon the next poll is worth it."""
        assert self._header is not None, "closed"
        moving = self._header.unsettled or any(decoder.unsettled for decoder in self._decoders.values())
        return PACE_MS if moving else IDLE_LOOK_MS

    @property
    def die_report(self) -> ReportId | None:
        """The node report that a waiting first die is made of; None while no die waits, or where no node has it."""
        return self._node_signals.die_report

    def use_up_die(self) -> Received | None:
        """The roll was entered on the screen: a first die that waits on the keys must not begin the next one.

        To survive a crash, what was entered instead is journaled with `die_report`, asked for before. What is returned
        is to be acknowledged once that is on the disk; None where no die of a node waited.
        """
        self._dice_keys.give_up()
        return self._node_signals.use_up_die()

    def acknowledge(self, received: Received) -> None:
        """What `received` led to is on the disk: the node may forget it. Saying so twice does no harm.

        Owed for every Received with a report, also for those that lead to nothing: an unacknowledged one keeps itself
        and all that follow on the node, which has room for 128 reports.
        """
        if self._node is None or received.report is None or received.report[0] != self._node.boot_id:
            return
        self._node_signals.acknowledge(received)
        self._node.acknowledge(self._node_signals.done)

    def set_lamps(self, lit: Mapping[str, bool]) -> None:
        """Light or darken lamps by the name of their button or key, such as box_4. The others stay as they are."""
        assert self._lamps is not None, "closed"
        wired = {f"lamp_{name}": level for name, level in lit.items() if f"lamp_{name}" in self._lit}
        self._lit.update(wired)
        self._lamps.set_lamps(wired)
        if self._node is not None:
            bits = 0
            for n, name in enumerate(self._wiring.lamps("node")):
                bits |= self._lit[name] << n
            self._node.set_outputs(bits)

    @property
    def node_state(self) -> str:
        """none, online or offline."""
        if self._node is None:
            return "none"
        return "online" if self._node.online else "offline"

    def hardware(self) -> dict[str, Any]:
        """For the console's hardware page: each input and lamp with its pin and state, the node and its counters."""
        return {
            "pin_library": self._pin_library,
            "inputs": [self._input_view(name) for name in INPUTS if name in self._wiring.pins],
            "lamps": [self._lamp_view(name) for name in LAMPS if name in self._wiring.pins],
            "node": self._node_view(),
        }

    def _input_view(self, name: str) -> dict[str, Any]:
        assert self._header is not None, "closed"
        pin = self._wiring.pins[name]
        header = pin.board == "header"
        counts = self._header.counts(name) if header else {"lost_edges": 0, "glitches": 0}
        return {
            "name": name,
            "pin": str(pin),
            "group": group_of(name),
            "active": self._header.level(name) if header else self._node_signals.level(name),
            "unavailable": self._header.unavailable.get(name),
            "stuck": name in self._stuck,
            **counts,
        }

    def _lamp_view(self, name: str) -> dict[str, Any]:
        assert self._lamps is not None, "closed"
        return {
            "name": name.removeprefix("lamp_"),
            "pin": str(self._wiring.pins[name]),
            "lit": self._lit[name],
            "unavailable": self._lamps.unavailable.get(name),
        }

    def _node_view(self) -> dict[str, Any]:
        node = self._node
        crc = None if node is None else node.configuration_crc
        return {
            "state": self.node_state,
            "port": None if node is None else node.port,
            "device": None if node is None else node.device,
            "firmware": None if node is None else node.firmware,
            "configuration": None if crc is None else f"{crc:04x}",
            "error": None if node is None else node.error,
            "counters": {} if node is None else node.counters(),
        }

    def node_fileno(self) -> int | None:
        """A descriptor that becomes readable when the node says something, if there is one. It changes on reopening."""
        return None if self._node is None else self._node.fileno()

    def close(self) -> None:
        """Give all pins and the port back. What was not acknowledged stays on the node."""
        for part in (self._header, self._lamps, self._node):
            if part is not None:
                part.close()
        self._header = self._lamps = self._node = None
