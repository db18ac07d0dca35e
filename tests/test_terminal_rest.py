"""A terminal that rests for good where its table is closed: what comes behind that is refused, however close it is."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from device.journal import Journal
from device.recorder import Halted
from device.settings import Settings
from device.table_terms import TableTerms
from engine_lite import rule_sets
from tests.journal_rig import KEY, events_in, terminal_on

TERMS = TableTerms(rule_sets.load("us-vegas"), {}, 1, 5, 500)
WHY = "it is commissioned"


def test_an_open_table_plays_on_and_behind_one_that_rests_nothing_is_taken_on(tmp_path: Path) -> None:
    async def play() -> None:
        with Journal.open(tmp_path / "journal.db", "craps-1") as journal:
            terminal = terminal_on(journal, Settings("casino-1", "craps-1", TERMS), KEY)
            terminal.begin("1", {"site": "casino-1"}, TERMS)
            running = asyncio.create_task(terminal.run())
            assert await terminal.rest_where_closed(WHY) is False
            await terminal.close_table("a")
            rests, more = await asyncio.gather(
                terminal.rest_where_closed(WHY), terminal.no_more_bets("b"), return_exceptions=True
            )
            assert rests is True and isinstance(more, Halted) and str(more) == WHY
            with pytest.raises(Halted, match=WHY):
                await terminal.open_table(TERMS, "c")
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    asyncio.run(play())
    kinds = [event.type for event in events_in(tmp_path / "journal.db")]
    assert [kind for kind in kinds if kind.startswith("table_")] == ["table_opened", "table_closed"]
    assert kinds[-2:] == ["stopped", "checkpoint"]
