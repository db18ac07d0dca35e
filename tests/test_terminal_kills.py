"""A running terminal killed again and again while it is played: what it told anyone is in its journal afterwards.

`make test` kills a few times, `make test-long` sets BOXMAN_TEST_LONG and kills 200 times. The terminal, its node's
MicroPython and the central server are real; the moments of the kills come from SEED.
"""

import asyncio
import json
import os
import random
from pathlib import Path

import pytest

from provisioning.central_server import CentralServer, ensure_stream
from tests.nats_rig import read_log
from tests.terminal_load import Load, game_of
from tests.terminal_rig import WAIT_S, TerminalProcess, boxman, lines_in

KILLS = 200 if "BOXMAN_TEST_LONG" in os.environ else 12
SEED = "terminal kills"
# From the first answer of a life to its end.
PLAYED_S = (0.02, 0.6)
# The central log is compared as often as this, and at the end.
COMPARED_EVERY = 10
SITE, TABLE = "casino", "craps-7"


def last_start(lines: list[str]) -> int:
    """How many events come before the last start of the terminal."""
    return max(at for at, line in enumerate(lines) if json.loads(line)["type"] == "started")


# A night's 200 kills take as long as they take.
@pytest.mark.timeout(3600)
def test_what_was_told_is_there_after_every_kill(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    configuration, data = tmp_path / "table.toml", tmp_path / "data"
    with CentralServer(tmp_path / "central") as central:
        asyncio.run(ensure_stream(central.url))
        configuration.write_text(f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n[uplink]\nservers = ["{central.url}"]\n')
        with TerminalProcess(data, configuration=configuration) as table:
            # So that there are keys to press.
            table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
            load = Load(SEED, with_dice_keys=True, timeout_s=WAIT_S)
            for kill in range(1, KILLS + 1):
                load.begin(table.address)
                load.wait_for_answers(1, WAIT_S)
                # Not for something to happen: this is the moment of the kill.
                load.pause(chance.uniform(*PLAYED_S))
                table.kill()
                load.end()
                assert load.account.settle(lines_in(data)) == [], f"after kill {kill}"
                verified = boxman("journal", "verify", "--data", data)
                assert verified.returncode == 0, verified.stderr
                table.start()
                state, lines = table.state(), lines_in(data)
                # A kill between an event's flush and its entry in the log's index: readers learn of it from the start.
                assert load.account.settle(lines[: last_start(lines)]) == [], f"after the start behind kill {kill}"
                since = lines[load.account.events :]
                assert game_of(state) == load.account.game, f"after kill {kill}, with {since}"
                if kill % COMPARED_EVERY == 0 or kill == KILLS:
                    table.wait_for_state(lambda state: state["uplink"]["undelivered"] == 0, "everything is delivered")
                    delivered = asyncio.run(read_log(central.url, SITE, TABLE))
                    assert delivered[: load.account.events] == lines_in(data)[: load.account.events]
            assert table.terminate() == 0
        verified = boxman("journal", "verify", "--data", data, "--central", central.url)
        assert verified.returncode == 0, verified.stderr
    account = load.account
    print(f"{KILLS} kills: {account.answers} answers, {account.states} states, {account.events} events")
    # Some of every life: a load that does nothing would prove nothing.
    assert account.answers >= KILLS
