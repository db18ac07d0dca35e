"""The record of what was delivered."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from device.delivery_record import Delivered, DeliveryRecord, alert_if_journal_is_shorter


def test_it_is_kept_over_a_restart_for_each_target(tmp_path: Path) -> None:
    record = DeliveryRecord(tmp_path / "delivery.db")
    assert record.read("nats") == Delivered(0, 0)
    record.set("nats", 5, 105)
    record.set("nats", 9, 107)
    record.set("https", 3, 0)
    record.close()

    record = DeliveryRecord(tmp_path / "delivery.db")
    assert record.read("nats") == Delivered(9, 107)
    assert record.read("https") == Delivered(3, 0)
    record.close()


def test_it_can_go_back(tmp_path: Path) -> None:
    record = DeliveryRecord(tmp_path / "delivery.db")
    record.set("nats", 9, 107)
    record.set("nats", 2, 1)
    assert record.read("nats") == Delivered(2, 1)
    record.close()


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "delivery.db").write_bytes(b"\x00 not a database" * 1000)
    record = DeliveryRecord(tmp_path / "delivery.db")
    assert record.read("nats") == Delivered(0, 0)
    record.set("nats", 1, 1)
    record.close()


def foreign_schema(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE delivered(x)")
    database.close()


@pytest.mark.parametrize("in_its_place", [Path.mkdir, os.mkfifo, foreign_schema])
def test_what_cannot_be_the_record_is_left_alone_and_a_record_in_memory_serves(
    tmp_path: Path, in_its_place: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "delivery.db"
    in_its_place(path)
    record = DeliveryRecord(path)
    assert record.read("nats") == Delivered(0, 0)
    record.set("nats", 3, 30)
    assert record.read("nats") == Delivered(3, 30)
    record.close()
    [told] = caplog.messages
    assert told.startswith(f"{path} cannot be used (")
    assert path.exists()


def test_numbers_that_are_none_are_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = DeliveryRecord(tmp_path / "delivery.db")
    record._database.execute("INSERT INTO delivered VALUES ('nats', 'nine', 5)")
    record.close()
    record = DeliveryRecord(tmp_path / "delivery.db")
    assert record.read("nats") == Delivered(0, 0)
    record.close()
    assert caplog.messages == ["delivery.db is damaged (a number in it is none) and is made anew"]


def test_a_journal_shorter_than_what_was_delivered_is_told_with_both_numbers() -> None:
    alerts: list[tuple[str, str]] = []
    alert_if_journal_is_shorter(Delivered(7, 70), 2, lambda code, text: alerts.append((code, text)))
    [(code, text)] = alerts
    assert code == "journal_shorter_than_delivered"
    assert text.startswith("the journal ends at event 2, though event 7 was delivered before")


@pytest.mark.parametrize(("delivered", "last_seq"), [(0, 0), (7, 7), (7, 9)])
def test_a_journal_that_holds_what_was_delivered_is_no_alarm(delivered: int, last_seq: int) -> None:
    alert_if_journal_is_shorter(Delivered(delivered, 1), last_seq, lambda *told: pytest.fail(str(told)))
