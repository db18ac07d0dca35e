"""A table's data folder with a journal that was really played, its people and its key; and backups of it."""

from pathlib import Path

from device.central_history import CentralHistory, Take
from device.data_folder import JOURNAL_FILE_NAME
from device.event import Event
from device.people_file import PEOPLE_FILE, changing, with_person, with_pin
from device.table_key import KEY_FILE_NAME
from device.uplink_protocol import LogEnd
from provisioning.backup import Backup, back_up
from provisioning.backup_file import OnProgress
from tests.pruning_rig import SITE, TABLE, Game

MADE = "2026-11-30T04:05:06.789Z"
# What tests.journal_rig.KEY is made of, as the file of a key holds it; and the seed of another unit.
SEED = "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y"
CONFIGURATION = f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\nrules = "us-vegas"\n'


def quiet(_what: str) -> OnProgress:
    """Nobody looks at how far it is."""
    return lambda _done, _of: None


class Unit:
    """A unit that has played."""

    def __init__(self, data: Path) -> None:
        data.mkdir(parents=True)
        self.data = data
        self.game = Game(data / JOURNAL_FILE_NAME, hands=3)
        key = data / KEY_FILE_NAME
        key.write_text(f"{SEED}\n")
        key.chmod(0o600)

    def people(self) -> bytes:
        """Give it a supervisor with a PIN; the file that holds it."""
        with changing(self.data) as write:
            write(with_pin(with_person((), "Marta Gil", "supervisor"), "Marta Gil", "2718"))
        return (self.data / PEOPLE_FILE).read_bytes()

    def back_up(self, folder: Path, configuration: Path | None = None) -> Backup:
        """Make a backup."""
        return back_up(self.data, folder, configuration, MADE, quiet)

    def lines(self) -> list[str]:
        """The journal."""
        return [event.line() for event in self.game.read()]


def log_of(events: list[Event], name: str = "the centre") -> CentralHistory:
    """A central log that holds these events."""
    end_of_log = LogEnd(len(events), events[-1].seq, events[-1].line())

    async def end() -> LogEnd:
        return end_of_log

    async def read(take: Take) -> LogEnd:
        for event in events:
            take(event.line().encode(), end_of_log)
        return end_of_log

    return CentralHistory(name, end, read)
