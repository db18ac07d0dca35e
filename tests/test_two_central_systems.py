"""A table that delivers to NATS and over HTTPS at once: each gets everything; what one lacks counts as undelivered."""

import asyncio
import re
from pathlib import Path

import pytest

from device.event import parse
from device.uplink import UplinkStatus
from device.uplink_overall import overall
from provisioning.configuration import ConfigurationError, read_configuration
from tests.conformance_rig import SITE, TABLE, Certificates, HttpsCentral, NatsCentral, running
from tests.terminal_rig import TerminalProcess, boxman, lines_in, wait_for

DOWN = "the central server takes no connections; it may be down"


def test_a_table_delivers_to_both_and_one_that_is_down_holds_back_neither_table_nor_the_other(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    nats = NatsCentral(tmp_path / "nats", certificates)
    https = HttpsCentral(tmp_path / "https", certificates)
    configuration, data = tmp_path / "table.toml", tmp_path / "data"
    configuration.write_text(
        f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n[uplink]\nservers = ["tls://127.0.0.1:{nats.port}"]\n'
        f'https = "https://127.0.0.1:{https.port}"\nca = "{certificates.ca.name}"\n'
    )
    with TerminalProcess(data, configuration=configuration) as table:
        key = table_key(data)
        for central in (nats, https):
            central.know({TABLE: key})
        with running(nats), running(https):
            state = table.wait_for_state(
                lambda state: state["uplink"]["state"] == "online" and not state["uplink"]["undelivered"], "delivery"
            )
            assert state["uplink"]["targets"] == {"nats": "online", "https": "online"}

            # Live as well, not only on connecting.
            table.do({"roll": [2, 3]})
            table.wait_for_state(
                lambda _: asyncio.run(nats.log(TABLE)) == asyncio.run(https.log(TABLE)) == lines_in(data),
                "a roll at both",
            )

            https.program.kill()
            table.do({"roll": [3, 4]})
            state = table.wait_for_state(
                lambda state: (
                    state["uplink"]["targets"] == {"nats": "online", "https": "offline"}
                    and state["uplink"]["last_error"] == f"https: {DOWN}"
                    and asyncio.run(nats.log(TABLE)) == lines_in(data)
                ),
                "NATS has everything while HTTPS is down",
            )
            assert state["uplink"]["state"] == "offline"
            assert state["uplink"]["undelivered"] >= 1
            waits_from = state["seq"] - state["uplink"]["undelivered"]
            assert state["uplink"]["waiting_since"] == parse(lines_in(data)[waits_from]).wall
            console = configuration.with_name("console.toml")
            console.write_text(f"{configuration.read_text()}[console]\nport = {table.port}\n")

            def status_says_so() -> bool:
                asked = boxman("status", "--config", console)
                links = "link to the centre (nats): online\nlink to the centre (https): offline\n"
                told = links in asked.stdout and f"last error: https: {DOWN}\n" in asked.stdout
                return told and (asked.returncode, asked.stderr) == (1, "")

            # On a busy machine the link to NATS may be taken up anew just then.
            wait_for(status_says_so, "the status says so")

            https.start()
            state = table.wait_for_state(
                lambda state: state["uplink"]["state"] == "online" and not state["uplink"]["undelivered"], "delivery"
            )
            assert table.terminate() == 0
            delivered = asyncio.run(https.log(TABLE))
            assert delivered == lines_in(data)[: len(delivered)]
            assert len(delivered) >= state["seq"]


def table_key(data: Path) -> str:
    """The public key that the table's start names."""
    for line in lines_in(data):
        if found := re.search(r'"key":"(U[A-Z2-7]{55})"', line):
            return found[1]
    raise AssertionError("no start names a key")


def test_the_least_counts_and_the_worst_is_shown() -> None:
    online, offline = UplinkStatus("online", 9, None), UplinkStatus("offline", 5, "down")
    fenced = UplinkStatus("fenced", 7, "another unit")
    assert overall({"nats": online}) == online
    assert overall({"nats": offline}) == offline
    assert overall({"nats": online, "https": offline}) == UplinkStatus("offline", 5, "https: down")
    assert overall({"nats": fenced, "https": online}) == UplinkStatus("fenced", 7, "nats: another unit")
    assert overall({"nats": fenced, "https": offline}) == UplinkStatus("fenced", 5, "nats: another unit; https: down")
    assert overall({"nats": online, "https": UplinkStatus("online", 11, None)}) == UplinkStatus("online", 9, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'https = "http://central.example"\n',
            "uplink.https: is not an address like https://central.example:8443",
        ),
        (
            'ca = "missing.pem"\n',
            "missing.pem: cannot be read (No such file or directory); it should be the site's CA in PEM form",
        ),
        ('ca = "table.toml"\n', "table.toml: holds no certificate; it should be the site's CA in PEM form"),
    ],
)
def test_a_wrong_address_or_ca_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f"[uplink]\n{text}")
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        read_configuration(path)


def test_https_alone_is_an_uplink_and_none_at_all_is_none(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[uplink]\nhttps = "https://central.example:8443/"\n')
    uplink = read_configuration(path).uplink
    assert uplink is not None
    assert (uplink.servers, uplink.https, uplink.ca) == ((), "https://central.example:8443", None)
    path.write_text("")
    assert read_configuration(path).uplink is None
