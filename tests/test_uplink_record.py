"""The record of what was delivered."""

from pathlib import Path

from device.delivery_record import Delivered, DeliveryRecord


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
