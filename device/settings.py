"""What a terminal is told when it starts; provisioning reads it from a file, tests make it directly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from device.alert_conditions import GraceTimes
from device.dice_control import dice_rules
from device.dice_control.dice_rules import DiceRules
from device.dice_control.reserve_conditions import ReserveTimes
from device.table_terms import TableTerms
from drivers.wiring import Wiring

LOOPBACK: Final = "127.0.0.1"
"""Where programs on the same computer reach a console."""


@dataclass(frozen=True)
class UplinkSettings:
    """Where the journal is delivered: NATS servers (URLs) and the name of the stream, an HTTPS address, or both.

    No `servers`: not by NATS. `ca` is a file of the certificates that alone vouch for the central systems; None: those
    that the operating system trusts.
    """

    servers: Sequence[str] = ()
    stream: str = "CRAPS"
    https: str | None = None
    ca: Path | None = None


@dataclass(frozen=True)
class PlayersDisplaySettings:
    """Whether there is a screen for the players, what it shows where the rules of the house allow it, and its text."""

    enabled: bool = False
    last_rolls: bool = True
    point: bool = True
    streak: bool = True
    hot_and_cold: bool = True
    pay_table: bool = True
    house_text: str = ""


@dataclass(frozen=True)
class Settings:
    """One terminal: which table it is, what it is wired to and where its pages are.

    `site` and `table` are words of letters, digits, `-` and `_`, as they stand in the subject of the uplink. `uplink`
    None: nothing is delivered. `node_port` is a path, or usb: and the node's USB serial number; None: there is no I/O
    node. `pin_library` is lgpio, rpigpio or mock.
    """

    site: str
    table: str
    terms: TableTerms
    host: str = LOOPBACK
    port: int = 8080
    # The language of the console where nobody touches another; None: that of the rule set in force.
    language: str | None = None
    uplink: UplinkSettings | None = None
    # After so long without a touch, whoever has signed in with a PIN is signed out.
    sign_out_after_s: int = 120
    # What was delivered so many days ago may be pruned; without an uplink, nothing ever is.
    retention_days: int = 180
    pin_library: str = "mock"
    node_port: str | None = None
    wiring: Wiring = field(default_factory=Wiring)
    # Where a virtual table keeps its puck and its node's keys; None on a table that has real hardware.
    virtual_folder: Path | None = None
    grace: GraceTimes = field(default_factory=GraceTimes)
    reserve: ReserveTimes = field(default_factory=ReserveTimes)
    # A house's own rule set names one of these.
    dice_rules: DiceRules = field(default_factory=lambda: dice_rules.load("us-vegas"))
    # Who may explain and acknowledge as a supervisor; None: any name but of those concerned.
    supervisors: tuple[str, ...] | None = None
    players_display: PlayersDisplaySettings = field(default_factory=PlayersDisplaySettings)
    # The file of the word that whoever proposes bets must send; None: they must be programs of this machine.
    proposals_token_file: Path | None = None
    hosts: Sequence[str] = field(default=(LOOPBACK, "localhost"))
