"""Every contact of a table as it is, with each edge and its time, and every lamp: for whoever tests the wiring.

Nothing is decoded and nothing is kept for a journal. The header's edges are the pin library's. The node samples every
two milliseconds and is told to settle as little as it can, so of its contacts shorter bounces are not seen.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drivers.header import HeaderInputs, HeaderLamps
from drivers.node_codec import SETTLE_MS_MIN
from drivers.node_link import NodeDown, NodeLink, NodeTime, NodeUp, Report
from drivers.wiring import Wiring

# Those of all inputs between two looks; more are noise, whatever their number.
EDGES_MAX = 10_000


@dataclass(frozen=True)
class Edge:
    """A contact has closed or opened. Times are microseconds of one board's clock, of which only differences count."""

    name: str
    at_us: int
    closed: bool


class ContactWatch:
    """Reads all contacts of a table and lights its lamps. Not for several threads.

    `levels` has the contacts that can be read now. Raises node_link.NodePortBusy when another program holds the node's
    port.
    """

    def __init__(self, wiring: Wiring, *, pin_factory: Any, node_port: str | None) -> None:
        self.levels: dict[str, bool] = {}
        self._factory = pin_factory
        # Filled by the pin library's own thread.
        self._told: deque[tuple[str, Any, bool]] = deque(maxlen=EDGES_MAX)
        self._first_ticks: Any = None
        self._node_inputs = wiring.inputs("node")
        # From each contact on, until the node has told how its contacts are and what it kept of before.
        self._catching_up = True
        self._node_levels: dict[str, bool] = {}
        self._node_lamps = tuple(wiring.lamps("node"))
        self._name_on_pin = {pin: name for name, pin in self._node_inputs.items()}
        self._lit = dict.fromkeys((*wiring.lamps("header"), *self._node_lamps), False)
        self._header: HeaderInputs | None = None
        self._lamps: HeaderLamps | None = None
        self._node: NodeLink | None = None
        try:
            pins = wiring.inputs("header")
            settle_ms = dict.fromkeys(pins, SETTLE_MS_MIN)
            self._header = HeaderInputs(pins, settle_ms=settle_ms, pin_factory=pin_factory, on_edge=self._note)
            self._lamps = HeaderLamps(wiring.lamps("header"), pin_factory=pin_factory)
            if node_port is not None:
                inputs = [(pin, SETTLE_MS_MIN) for pin in self._node_inputs.values()]
                self._node = NodeLink(node_port, inputs=inputs, outputs=list(wiring.lamps("node").values()))
                self._node.open()
        except BaseException:
            self.close()
            raise

    def _note(self, name: str, ticks: Any, closed: bool) -> None:
        self._told.append((name, ticks, closed))

    def look(self, now_ms: int) -> list[Edge]:
        """Look at everything once; the edges since the last look, in order. `now_ms` never goes back. Never waits."""
        assert self._header is not None and self._lamps is not None, "closed"
        self._header.look(now_ms)
        self._lamps.look(now_ms)
        for name in [*self.levels]:
            if name not in self._node_inputs and name not in self._header.levels:
                del self.levels[name]
        self.levels.update(self._header.levels)
        edges = []
        while self._told:
            name, ticks, closed = self._told.popleft()
            if self._first_ticks is None:
                self._first_ticks = ticks
            edges.append(Edge(name, round(self._factory.ticks_diff(ticks, self._first_ticks) * 1_000_000), closed))
        if self._node is not None:
            edges += self._look_at_node(self._node, now_ms)
        return edges

    def _look_at_node(self, node: NodeLink, now_ms: int) -> list[Edge]:
        edges = []
        for event in node.poll(now_ms):
            if isinstance(event, NodeDown):
                self._catching_up = True
            elif isinstance(event, NodeUp):
                self._catching_up = True
                self._node_levels = {name: event.levels.get(pin, False) for name, pin in self._node_inputs.items()}
            elif isinstance(event, Report) and event.pin in self._name_on_pin:
                name = self._name_on_pin[event.pin]
                self._node_levels[name] = event.closed
                if not self._catching_up:
                    edges.append(Edge(name, event.time_ms * 1_000, event.closed))
            elif isinstance(event, NodeTime):
                self._catching_up = False
        node.acknowledge(node.last_taken)
        for name in self._node_inputs:
            self.levels.pop(name, None)
        self.levels.update({} if self._catching_up else self._node_levels)
        return edges

    @property
    def unavailable(self) -> Mapping[str, str]:
        """The inputs and lamps of the header that cannot be had, by name, each with the reason."""
        assert self._header is not None and self._lamps is not None, "closed"
        return {**self._header.unavailable, **self._lamps.unavailable}

    def set_lamps(self, lit: Mapping[str, bool]) -> None:
        """Light or darken lamps by name, such as lamp_box_4; the others stay as they are."""
        assert self._lamps is not None, "closed"
        self._lit.update(lit)
        self._lamps.set_lamps(lit)
        if self._node is not None:
            self._node.set_outputs(sum(self._lit[name] << n for n, name in enumerate(self._node_lamps)))

    @property
    def node_online(self) -> bool | None:
        """Whether the node answers; None where there is none."""
        return None if self._node is None else self._node.online

    @property
    def node_firmware(self) -> str | None:
        """The version of the node's firmware, once it has told."""
        return None if self._node is None else self._node.firmware

    @property
    def node_error(self) -> str | None:
        """Why the node is not in contact."""
        return None if self._node is None else self._node.error

    def close(self) -> None:
        """Give all pins and the port back."""
        for part in (self._header, self._lamps, self._node):
            if part is not None:
                part.close()
        self._header = self._lamps = self._node = None
