"""`boxman central config` and `stream`: what is written for a list, and what is said of one that is not sound."""

import json
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from provisioning.central.central_list import read_list
from provisioning.central.toml_file import BadFile
from provisioning.command_line import main
from tests.central_rig import SITE, TABLE, Central, key_in

LIST = """ca = "/etc/ca.pem"
admin = "{admin}"
[[servers]]
name = "hub-1"
host = "hub-1.example"
certificate = "/etc/hub-1.pem"
private_key = "/etc/hub-1.key"
store = "/srv/store"
store_gb = 10
[[sites]]
name = "casino-1"
[[tables]]
site = "casino-1"
name = "craps-1"
key = "{table}"
[[tables]]
site = "casino-1"
name = "craps-2"
key = "{other}"
[[readers]]
name = "archive"
key = "{reader}"
"""


def sound_list(folder: Path) -> str:
    keys = {name: key_in(folder, name).public for name in ("admin", "table", "other", "reader")}
    return LIST.format_map(keys)


def parsed(path: Path) -> dict[str, object]:
    """A generated file's values: a name, a colon and JSON each."""
    text = path.read_text(encoding="utf-8")
    decoder, values = json.JSONDecoder(), {}
    while text := text.lstrip():
        if text.startswith("#"):
            text = text.partition("\n")[2]
            continue
        name, _, text = text.partition(": ")
        values[name], end = decoder.raw_decode(text)
        text = text[end:]
    return values


Capture = pytest.CaptureFixture[str]


def boxman(capsys: Capture, *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, output and complaints of the command."""
    status = main(["central", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def written(capsys: Capture, central: Central, out: Path) -> list[str]:
    status, _, complaint = boxman(capsys, "config", "--tables", central.list_file, "--out", out)
    assert (status, complaint) == (0, "")
    return sorted(path.name for path in out.iterdir())


def check(files: Sequence[Path]) -> None:
    """The server itself takes them."""
    server = Path(sys.executable).with_name("nats-server")
    for file in files:
        done = subprocess.run([server, "-t", "--config", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_one_server(tmp_path: Path, capsys: Capture) -> None:
    central, out = Central(tmp_path), tmp_path / "out"
    assert written(capsys, central, out) == ["hub-1.conf", "secrets.json"]
    check([out / "hub-1.conf"])
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in out.iterdir())
    said = parsed(out / "hub-1.conf")
    assert said["host"] == "127.0.0.1"
    assert said["jetstream"] == {
        "store_dir": f"{tmp_path}/store-hub-1",
        "sync_interval": "always",
        "max_file_store": 1_000_000_000,
    }
    assert "cluster" not in said
    # Nobody has made the store yet when the server begins to log.
    assert "log_file" not in said
    assert "leafnodes" not in said
    own = f"craps.{SITE}.{TABLE}.journal"
    services = [own, f"$JS.API.DIRECT.GET.CRAPS.{own}"]
    assert said["accounts"][f"table:{SITE}.{TABLE}"] == {  # type: ignore[index]
        "users": [
            {
                "nkey": central.key(f"{SITE}.{TABLE}").public,
                "permissions": {
                    "publish": {"allow": [*services, f"craps.{SITE}.{TABLE}.presence"]},
                    "subscribe": {"allow": [f"_INBOX_{SITE}.{TABLE}.>"]},
                },
            }
        ],
        "imports": [{"service": {"account": "CENTRAL", "subject": service}} for service in services],
        "limits": {"max_connections": 4, "max_subscriptions": 10},
        "exports": [{"stream": f"craps.{SITE}.{TABLE}.presence"}],
    }


def test_a_cluster_and_leaf_sites(tmp_path: Path, capsys: Capture) -> None:
    central = Central(tmp_path, hub_servers=3, leaf_sites=["casino-2"], tables=[(SITE, TABLE), ("casino-2", TABLE)])
    out = tmp_path / "out"
    assert written(capsys, central, out) == ["casino-2.conf", "hub-1.conf", "hub-2.conf", "hub-3.conf", "secrets.json"]
    check([file for file in out.iterdir() if file.suffix == ".conf"])
    hub, leaf = parsed(out / "hub-1.conf"), parsed(out / "casino-2.conf")
    assert len(hub["cluster"]["routes"]) == 2  # type: ignore[index]
    # A site that was told of other addresses than the list's would come to those.
    assert hub["leafnodes"]["no_advertise"] is True  # type: ignore[index]
    assert leaf["jetstream"]["domain"] == "casino-2"  # type: ignore[index]
    assert leaf["jetstream"]["sync_interval"] == "always"  # type: ignore[index]
    [line] = leaf["leafnodes"]["remotes"]  # type: ignore[index]
    assert (line["deny_exports"], line["deny_imports"], len(line["urls"])) == (
        ["craps.*.*.journal"],
        ["craps.*.*.journal"],
        3,
    )
    # Each server knows its own tables only.
    tables = [[name for name in said["accounts"] if name.startswith("table:")] for said in (hub, leaf)]  # type: ignore[attr-defined]
    assert tables == [[f"table:{SITE}.{TABLE}"], [f"table:casino-2.{TABLE}"]]


def test_written_again_the_servers_keep_their_secrets(tmp_path: Path, capsys: Capture) -> None:
    central, out = Central(tmp_path, hub_servers=3, leaf_sites=["casino-2"]), tmp_path / "out"
    written(capsys, central, out)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    written(capsys, central, out)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert len(json.loads(before["secrets.json"])["cluster_password"]) == 64


def test_the_stream_is_set_up_once(tmp_path: Path, capsys: Capture) -> None:
    with Central(tmp_path) as central:
        central.start()

        def stream(key: str) -> tuple[int, str, str]:
            key_file = central.keys / f"{key}.key"
            return boxman(capsys, "stream", "--tables", central.list_file, "--key", key_file)

        assert stream("admin") == (0, "the stream CRAPS at hub-1: made\n", "")
        assert stream("admin") == (0, "the stream CRAPS at hub-1: as it should be\n", "")
        status, _, said = stream("stranger")
        assert (status, said) == (
            1,
            f"boxman: {central.keys}/stranger.key: is not there; boxman central key makes one\n",
        )


def test_a_key_is_made_once_and_only_its_public_part_is_told(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "reader.key"
    first, second = boxman(capsys, "key", file), boxman(capsys, "key", file)
    assert first == second
    assert (first[0], first[1][0], first[2]) == (0, "U", "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["no key", "SU" + "A" * 56])
def test_a_file_that_holds_no_key_is_not_spoken_of_as_a_tables(tmp_path: Path, capsys: Capture, content: str) -> None:
    file = tmp_path / "reader.key"
    file.write_text(content)
    file.chmod(0o600)
    words = "put back the key of an admin or a reader, or move the file away, and boxman central key makes a new one"
    assert boxman(capsys, "key", file) == (1, "", f"boxman: {file}: holds no key, or a damaged one; {words}\n")
    assert file.read_text() == content


SECOND_TABLE = 'name = "craps-2"\n'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[[sites]]", "[[site]]", "site is no key, did you mean sites?"),
        ("store_gb = 10", "store_gb = 0", "line 3, [[servers]] 1: store_gb should be a whole number from 1 to 1000000"),
        ("store_gb = 10\n", "", "line 3, [[servers]] 1: store_gb is missing"),
        (
            'store = "/srv/store"',
            'store = "store"',
            "line 3, [[servers]] 1: store should be a whole path on that machine",
        ),
        ("store_gb", "store_tb", "line 3, [[servers]] 1: store_tb is no key, did you mean store_gb?"),
        (SECOND_TABLE, 'name = "craps.2"\n', "line 16, [[tables]] 2: name should be 1 to 32 letters, digits, - or _"),
        (SECOND_TABLE, 'name = "craps-1"\n', "line 16, [[tables]] 2: 'casino-1 craps-1' is in the list already"),
        *(
            (
                SECOND_TABLE,
                f'name = "{name}"\n',
                f"line 16, [[tables]] 2: name '{name}' looks like 'craps-1'; choose another",
            )
            for name in ("craps-l", "craps-I", "CRAPS-1", "craps_1")
        ),
        (
            '[[sites]]\nname = "casino-1"\n',
            '[[sites]]\nname = "casino-1"\n[[sites]]\nname = "Casino-l"\n',
            "line 12, [[sites]] 2: name 'Casino-l' looks like 'casino-1'; choose another",
        ),
        (
            '[[sites]]\nname = "casino-1"',
            '[[sites]]\nname = "casino-9"',
            "line 12, [[tables]] 1: site 'casino-1' is no [[sites]] of this list",
        ),
        ("{other}", "{table}", "line 16, [[tables]] 2: key is that of table craps-1 of casino-1 already"),
        (
            'key = "{other}"',
            'key = "{other}"\nformer_keys = ["{table}"]',
            "line 16, [[tables]] 2: former_keys holds that of table craps-1 of casino-1 already",
        ),
        ("{reader}", "{admin}", "line 20, [[readers]] 1: key is that of the admin already"),
        (
            "{other}",
            "UAAA",
            "line 16, [[tables]] 2: key should be a public key: 56 letters and digits that begin with U",
        ),
        (
            "{other}",
            "SUAAA",
            "line 16, [[tables]] 2: key is a secret seed; make a new key, and put its public part here",
        ),
        (
            'ca = "/etc/ca.pem"',
            '\ufeffca = "/etc/ca.pem"',
            "begins with a byte order mark; save it as UTF-8 without one",
        ),
        ('ca = "/etc/ca.pem"', 'ca = "/etc/ca.pem', "is no TOML: Illegal character '\\n' (at line 1, column 18)"),
    ],
)
def test_a_list_that_is_not_sound(tmp_path: Path, capsys: Capture, old: str, new: str, words: str) -> None:
    keys = {name: key_in(tmp_path, name).public for name in ("admin", "table", "other", "reader")}
    assert old in LIST
    path = tmp_path / "central.toml"
    path.write_text(LIST.replace(old, new, 1).format_map(keys), encoding="utf-8")
    with pytest.raises(BadFile) as bad:
        read_list(path)
    assert str(bad.value) == f"{path}: {words}"
    done = boxman(capsys, "config", "--tables", path, "--out", tmp_path / "out")
    assert done == (1, "", f"boxman: {path}: {words}\n")
    assert not (tmp_path / "out").exists()


def test_tables_of_two_sites_and_with_a_digit_more_may_look_alike(tmp_path: Path) -> None:
    keys = {name: key_in(tmp_path, name).public for name in ("admin", "table", "other", "reader")}
    text = LIST.replace("[[sites]]\n", '[[sites]]\nname = "casino-2"\n[[sites]]\n')
    second = 'site = "casino-1"\nname = "craps-2"'
    path = tmp_path / "central.toml"
    for unlike in ('site = "casino-2"\nname = "craps-l"', 'site = "casino-1"\nname = "craps-1-1"'):
        path.write_text(text.replace(second, unlike).format_map(keys), encoding="utf-8")
        assert len(read_list(path).tables) == 2


def test_two_servers_are_no_cluster(tmp_path: Path) -> None:
    path = tmp_path / "central.toml"
    text = sound_list(tmp_path)
    second = text[text.index("[[servers]]") : text.index("[[sites]]")].replace("hub-1", "hub-2")
    path.write_text(text + second, encoding="utf-8")
    with pytest.raises(BadFile, match="one \\[\\[servers\\]\\], or three for a cluster; there are 2"):
        read_list(path)
