"""Power cuts of a terminal that is played: `python -m tests.vm.power_cuts WORK CUTS`, WORK as rig.sh has made it.

The terminal runs in an emulated machine on a disk whose power is cut; those who play it are outside, and so is the
account of what it told them. After each cut the journal is read from the disk as it was left, verified and held
against that account; then the machine starts with that very disk and must go on from there. Some more cuts come while
it starts. Two controls, each of which must lose what was told: a terminal that does not flush, and a disk that lies.
"""

import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from device.data_folder import JOURNAL_FILE_NAME
from device.journal import JournalError
from tests.terminal_load import Load, game_of
from tests.terminal_rig import boxman, lines_in
from tests.vm.control_line import MachineFailed
from tests.vm.machine import ANSWER_S, Machine, make_disk, save_loaded
from tests.vm.volatile_disk import Loss, VolatileDisk

SEED = "power cuts"
# So many answers, and then the cut comes.
ANSWERS_MAX = 25
ANSWERS_WAIT_S = 300.0
# A cut at some write or flush from the moment on, and not at any moment.
AT_OPERATION_SHARE = 0.6
OPERATIONS_MAX = 40
OPERATIONS_WAIT_S = 5.0
# So many more cuts come while the machine mounts its disk and the terminal starts: one in so many.
START_CUT_EVERY = 8
START_OPERATIONS_MAX = 120
CONTROL_CUTS_MAX = 3
# Emulated machines at a time; one keeps one processor busy.
MACHINES = 2


@dataclass(frozen=True)
class Trial:
    """One disk and what is cut with it."""

    name: str
    loss: Loss
    program: Path
    # The machine with that program, as save_loaded left it.
    saved: Path
    lies: bool = False


class Series:
    """Cut after cut of one table, on one disk."""

    def __init__(self, work: Path, trial: Trial) -> None:
        self._work = work
        self._trial = trial
        self._chance = random.Random(f"{SEED} {trial.name}")
        self._image = work / f"{trial.name}.img"
        self._left = work / f"{trial.name}-left"
        self._load = Load(trial.name, with_dice_keys=False, timeout_s=ANSWER_S)
        self.cuts = self.start_cuts = self.unflushed = self.arrived = self.at_operation = 0
        self.start_s: list[float] = []
        self.account = self._load.account
        make_disk(self._image)

    def cut_while_played(self) -> list[str]:
        """Start, play, cut, and hold what is left on the disk against what was told; returns what is wrong."""
        load = self._load
        with self._machine() as machine:
            wrong = self._start(machine)
            load.begin(machine.address)
            load.wait_for_answers(self._chance.randint(1, ANSWERS_MAX), ANSWERS_WAIT_S)
            if self._chance.random() < AT_OPERATION_SHARE:
                operation = self._chance.randint(1, OPERATIONS_MAX)
                self.at_operation += machine.disk.cut_at(operation, OPERATIONS_WAIT_S)
            machine.cut()
            load.end()
        self._settle(machine)
        self.cuts += 1
        return wrong + self._hold()

    def start_once_more(self) -> list[str]:
        """Start, and see that the table goes on where it was; returns what is wrong."""
        with self._machine() as machine:
            wrong = self._start(machine)
        self._settle(machine)
        return wrong + self._hold()

    def _machine(self) -> Machine:
        trial = self._trial
        disk = VolatileDisk(self._image, self._work / f"{trial.name}.socket", lies=trial.lies)
        machine = Machine(self._work, trial.name, trial.program, disk, saved=trial.saved)
        machine.start_terminal(self._chance)
        return machine

    def _start(self, machine: Machine) -> list[str]:
        began = time.monotonic()
        state = machine.wait_for_answer()
        self.start_s.append(time.monotonic() - began)
        self.account.note_state(state)
        if self.account.events > 0 and game_of(state) != self.account.game:
            return ["the terminal went on with another state than the journal leads to"]
        return []

    def cut_at_start(self) -> list[str]:
        """Cut while the disk is mounted or the terminal starts; returns what is wrong with what is left."""
        with self._machine() as machine:
            machine.disk.cut_at(self._chance.randint(1, START_OPERATIONS_MAX), OPERATIONS_WAIT_S * 2)
        self._settle(machine)
        self.start_cuts += 1
        return self._hold()

    def _settle(self, machine: Machine) -> None:
        unflushed, arrived = machine.disk.settle(self._trial.loss, self._chance)
        self.unflushed += unflushed
        self.arrived += arrived

    def _hold(self) -> list[str]:
        """Read the journal from a copy of the disk, whose file system is first recovered as at a boot."""
        copy, left = self._image.with_suffix(".copy"), self._left
        _run("cp", "--sparse=always", str(self._image), str(copy))
        # -y: where the superblock itself was torn, its copy is taken, as with fsck.repair=yes at a boot.
        replayed = subprocess.run(["e2fsck", "-y", str(copy)], capture_output=True, check=False)
        if replayed.returncode > 1:
            return [f"the file system cannot be recovered: {replayed.stdout.decode()} {replayed.stderr.decode()}"]
        shutil.rmtree(left, ignore_errors=True)
        left.mkdir()
        _run("debugfs", "-R", f'rdump /data "{left}"', str(copy))
        if not (left / "data" / JOURNAL_FILE_NAME).exists():
            return self.account.settle([])
        try:
            lines = lines_in(left / "data")
        except JournalError as error:
            # A first start that was cut before there was a journal has told nobody of anything.
            was_told = self.account.events + self.account.told_in_this_life() > 0
            return [f"the journal does not open: {error}"] if was_told else []
        verified = boxman("journal", "verify", "--data", left / "data") if lines else None
        wrong = self.account.settle(lines)
        if verified is not None and verified.returncode != 0:
            wrong.insert(0, f"the journal does not verify: {verified.stderr.strip()}")
        return wrong


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def unflushed_program(work: Path) -> Path:
    """A disk with a terminal that does not flush. Raises MachineFailed when the product's text is not as expected."""
    folder, disk = work / "program-unflushed", work / "program-unflushed.img"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(work / "program", folder)
    journal = folder / "device" / "journal.py"
    text = journal.read_text()
    # The journal reads the pragma back, so a terminal that starts does run without flushing.
    for flushing, careless in (
        ("PRAGMA synchronous=FULL", "PRAGMA synchronous=OFF"),
        ("_SYNCHRONOUS_FULL: Final = 2", "_SYNCHRONOUS_FULL: Final = 0"),
    ):
        if text.count(flushing) != 1:
            raise MachineFailed(
                f"device/journal.py has {text.count(flushing)} times {flushing!r}; this control needs one"
            )
        text = text.replace(flushing, careless)
    journal.write_text(text)
    disk.unlink(missing_ok=True)
    _run(
        "mke2fs", "-q", "-t", "ext4", "-b", "4096", "-O", "^has_journal", "-m", "0", "-d", str(folder), str(disk), "16M"
    )
    return disk


def run_series(work: Path, trial: Trial, cuts: int) -> tuple[bool, str]:
    """Cut so many times, until something is wrong; whether all was well, and what was seen."""
    began = time.monotonic()
    series = Series(work, trial)
    wrong: list[str] = []
    while not wrong and series.cuts < cuts:
        if series.cuts % START_CUT_EVERY == START_CUT_EVERY - 1 and series.start_cuts <= series.cuts // START_CUT_EVERY:
            wrong = series.cut_at_start()
        wrong = wrong or series.cut_while_played()
        print(f"     {trial.name}: cut {series.cuts}, {series.account.events} events", flush=True)
    wrong = wrong or series.start_once_more()
    account, took_s = series.account, time.monotonic() - began
    seen = (
        f"{series.cuts} cuts while it was played ({series.at_operation} of them at a write or flush) and "
        f"{series.start_cuts} while it started; {account.answers} answers, {account.states} states and "
        f"{account.events} events held; {series.unflushed} sectors unflushed, {series.arrived} of them arrived; "
        f"{sum(series.start_s) / len(series.start_s):.1f} s a start, {took_s / series.cuts:.1f} s a cut"
    )
    return not wrong, "; ".join([*wrong[:3], seen])


def main() -> None:
    """Both ways of losing, half of the cuts each, two machines at a time; then the controls."""
    work, cuts = Path(sys.argv[1]).absolute(), int(sys.argv[2])
    program, careless = work / "program.img", unflushed_program(work)
    with ThreadPoolExecutor(MACHINES) as pool:
        saved, saved_careless = pool.map(
            lambda name_and_disk: save_loaded(work, *name_and_disk), [("loaded", program), ("careless", careless)]
        )
    trials = [(Trial(loss.value, loss, program, saved), cuts // 2, True) for loss in Loss]
    trials.append((Trial("without-flushes", Loss.DROP, careless, saved_careless), CONTROL_CUTS_MAX, False))
    trials.append((Trial("lying-disk", Loss.DROP, program, saved, lies=True), CONTROL_CUTS_MAX, False))
    failed = 0
    with ThreadPoolExecutor(MACHINES) as pool:
        runs = [(trial, sound, pool.submit(run_series, work, trial, count)) for trial, count, sound in trials]
        for trial, sound, run in runs:
            try:
                well, seen = run.result()
            except MachineFailed as error:
                well, seen = not sound, str(error)
            as_it_must = well == sound
            failed += not as_it_must
            what = f"power cuts, {trial.name}" if sound else f"the control {trial.name} loses what was told"
            print(f"{'PASS' if as_it_must else 'FAIL'} {what}: {seen}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
