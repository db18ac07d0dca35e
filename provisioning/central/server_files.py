"""Writes the configuration files of the nats-servers that a list (`central_list`) describes.

**One account for each table and each reader.** A NATS server checks to which subjects a client publishes, but not to
which it has the answer sent: a table that asks for its own last message, with another table's subject for the answer,
would have the server write into the other's history (seen with 2.15.1). In an account of its own a table reaches the
stream through two imported services only, its own subject and its own last message; an answer never leaves the account.
A reader's account imports what reading takes, for consumers of its own names alone (`device.central_reader`), and no
table's subject. The stream lies in the account CENTRAL, in which
only the admin, who sets it up, and the hub's lines to leaf nodes are.

**A receiver** (`receiver`) has an account in which it may write what it takes over HTTPS, for the tables that the list
gives it, and no more than each of them might itself.

**Three servers** make a cluster that keeps every message three times; the stream's `replicas` say so
(`stream_setup`). Any one of them may be down.

**Leaf sites.** A site's server keeps the stream of its own tables in a JetStream domain of its own, called as the site,
with the sequence numbers by which its tables are fenced. So it takes events whether or not the line to the hub is up.
The hub's stream has the site's for a source: the hub asks each site, over the line that the site keeps to it, for what
comes after the last message it has, in the site's order; so the hub's log of every table is gapless and without
duplicates after any cut, and also after the hub lost its tail. The messages are numbered anew at the hub, which no
table of the site minds: none of them asks there. The line carries no journal: otherwise the hub would take a table's
message directly as well, and answer it.
What this does not cover: a site's server that lost its own tail, as by a disk brought back from a backup. Its tables
send it what is missing, but under numbers that the hub has had already and does not ask for again. The site's own log
is whole then; at the hub a gap is left in the tables of that site, which an archive raises an alarm of. Let the archive
read the site's own server once (`servers` in its file), resolve the alarm, and let it read the hub again: what it has
by then, it does not take again.

**A changed list** is in force once the servers were started anew, those of a cluster one after the other. Reloading is
not enough: a server that reloads its file lets a new table sign in, but does not lead what it says to the stream (seen
with 2.15.1).

**Signs of life** (`device.presence`) are in no stream. A table's account exports its own, and each reader's imports
them from all of these accounts: a server hands nothing on that it has imported itself, but for what came over a leaf
site's line, which its CENTRAL imports to that end.

**Flushing.** `sync_interval: always` everywhere: what is acknowledged is on the disk.

**The servers' own log** goes to standard error: a file in `store` would have to be made before there is a `store`.
"""

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from device.central_reader import lasting_name, passing_name
from device.data_folder import sync_folder
from device.nats_connection import inbox_of
from device.table_key import KEY_BYTES, new_seed, public_key_of
from device.uplink_protocol import presence_subject, subject
from provisioning.central.central_list import CentralList, KnownTable, Server, Site
from provisioning.central_server import PRESENCES, STREAM, SUBJECTS
from provisioning.json_file import JsonFileError, read_json_file

ACCOUNT: Final = "CENTRAL"
SECRETS_FILE: Final = "secrets.json"

MAX_PAYLOAD_BYTES: Final = 1024 * 1024
# A table has one connection; a unit that is being replaced, and one that tries again, may have a second for a while.
CONNECTIONS_PER_ACCOUNT: Final = 4
CONNECTIONS_BESIDE: Final = 100
SUBSCRIPTIONS_PER_TABLE: Final = 10
SUBSCRIPTIONS_PER_READER: Final = 1_000
PING_INTERVAL: Final = "20s"

_READER_SERVICES: Final = (
    # Without this one the server takes the account for one that has no JetStream, and refuses the others (2.15.1).
    "$JS.API.INFO",
    f"$JS.API.STREAM.INFO.{STREAM}",
    f"$JS.API.DIRECT.GET.{STREAM}",
    f"$JS.API.DIRECT.GET.{STREAM}.>",
)
# What is to be had of every consumer; each reader imports and may ask it for those of its own names alone.
_CONSUMER_SERVICES: Final = (
    f"$JS.API.CONSUMER.CREATE.{STREAM}.{{consumer}}.>",
    f"$JS.API.CONSUMER.INFO.{STREAM}.{{consumer}}",
    f"$JS.API.CONSUMER.DELETE.{STREAM}.{{consumer}}",
    f"$JS.ACK.{STREAM}.{{consumer}}.>",
    # With a domain, acknowledgements name it and the account.
    f"$JS.ACK.*.*.{STREAM}.{{consumer}}.>",
)
# One request, many answers.
_CONSUMER_STREAMS: Final = (f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{{consumer}}",)


class SecretsUnusable(Exception):
    """The file of the servers' own secrets cannot be used; the text says why."""


def server_files(listed: CentralList, folder: Path) -> dict[str, str]:
    """The text of every file, by name. The servers' own secrets are kept in `folder`, and the same again next time.

    Raises SecretsUnusable.
    """
    kept = _secrets(folder / SECRETS_FILE, [site.name for site in listed.leaf_sites])
    files = {f"{server.name}.conf": _text(_hub(listed, server, kept)) for server in listed.hub}
    for site in listed.leaf_sites:
        assert site.server is not None
        files[f"{site.server.name}.conf"] = _text(_leaf(listed, site, site.server, kept))
    return {SECRETS_FILE: json.dumps(kept, indent=2) + "\n"} | files


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write them with mode 0600, each whole or not at all. Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in files.items():
        unfinished = folder / f"{name}.new"
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / name)
    sync_folder(folder)


def _hub(listed: CentralList, server: Server, kept: dict[str, Any]) -> dict[str, Any]:
    lines = [(site.name, public_key_of(kept["leaf_seeds"][site.name])) for site in listed.leaf_sites]
    said = _server(listed, server, None, lines)
    if listed.leaf_sites:
        # Sites go by the list alone: an address that a server finds out for itself may be in no certificate.
        said["leafnodes"] = {
            "host": server.listen,
            "port": server.leaf_port,
            "no_advertise": True,
            "tls": _tls(listed, server),
        }
    if len(listed.hub) > 1:
        password = kept["cluster_password"]
        said["cluster"] = {
            "name": "boxman-hub",
            "host": server.listen,
            "port": server.cluster_port,
            "authorization": {"user": "cluster", "password": password},
            # Each shows its certificate to the others, so that a password alone is not enough.
            "tls": _tls(listed, server) | {"verify": True},
            "routes": [
                f"tls://cluster:{password}@{other.host}:{other.cluster_port}" for other in listed.hub if other != server
            ],
        }
    return said


def _leaf(listed: CentralList, site: Site, server: Server, kept: dict[str, Any]) -> dict[str, Any]:
    said = _server(listed, server, site, [])
    said["jetstream"]["domain"] = site.name
    said["leafnodes"] = {
        "remotes": [
            {
                "urls": [f"tls://{hub.host}:{hub.leaf_port}" for hub in listed.hub],
                "nkey": kept["leaf_seeds"][site.name],
                "account": ACCOUNT,
                "tls": {"ca_file": listed.ca},
                "deny_exports": [SUBJECTS],
                "deny_imports": [SUBJECTS],
            }
        ]
    }
    return said


def _server(listed: CentralList, server: Server, site: Site | None, lines: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What every server has; `lines` are the leaf nodes that may come to it, by site and key."""
    tables = listed.tables_at(site)
    accounts: dict[str, Any] = {
        ACCOUNT: {
            "jetstream": "enabled",
            "users": [
                {"nkey": listed.admin},
                *({"nkey": key, "permissions": _line_permissions(name)} for name, key in lines),
            ],
            "exports": [
                {"service": SUBJECTS},
                *({"service": name} for name in (*_READER_SERVICES, *_of_consumer(_CONSUMER_SERVICES, "*"))),
                *({"service": name, "response_type": "stream"} for name in _of_consumer(_CONSUMER_STREAMS, "*")),
                *({"stream": _presence_of(name)} for name, _ in lines),
            ],
        }
    }
    presences = [
        _stream(account, presence_subject(table.site, table.name))
        for table in tables
        for account in (_account_of(table), *(_receiver_account(name) for name in (table.receiver,) if name))
    ]
    if site is not None:
        accounts[ACCOUNT]["imports"] = presences
    for table in tables:
        services = _services_of(table)
        guest = _guest(table.key, [_owner_of(table)], services, SUBSCRIPTIONS_PER_TABLE)
        accounts[_account_of(table)] = _telling(guest, [table])
    for receiver in listed.receivers:
        forwarded = [table for table in tables if table.receiver == receiver.name]
        services = [service for table in forwarded for service in _services_of(table)]
        subscriptions = SUBSCRIPTIONS_PER_TABLE * len(forwarded)
        guest = _guest(receiver.key, [_owner_of(table) for table in forwarded], services, subscriptions)
        guest["limits"]["max_connections"] *= len(forwarded)
        if forwarded:
            accounts[_receiver_account(receiver.name)] = _telling(guest, forwarded)
    for reader in listed.readers:
        services = [*_READER_SERVICES]
        for consumer in (lasting_name(reader.key), passing_name(reader.key)):
            services += _of_consumer((*_CONSUMER_SERVICES, *_CONSUMER_STREAMS), consumer)
        guest = _guest(reader.key, [reader.key], services, SUBSCRIPTIONS_PER_READER)
        guest["users"][0]["permissions"]["subscribe"]["allow"].append(PRESENCES)
        guest["imports"] += presences + [_stream(ACCOUNT, _presence_of(name)) for name, _ in lines]
        accounts[f"reader:{reader.name}"] = guest
    return {
        "server_name": server.name,
        "host": server.listen,
        "port": server.port,
        "tls": _tls(listed, server),
        "jetstream": {
            "store_dir": server.store,
            "sync_interval": "always",
            "max_file_store": server.store_gb * 10**9,
        },
        "max_payload": MAX_PAYLOAD_BYTES,
        "max_connections": CONNECTIONS_BESIDE
        + sum(account["limits"]["max_connections"] for account in accounts.values() if "limits" in account),
        "ping_interval": PING_INTERVAL,
        "ping_max": 2,
        "accounts": accounts,
    }


def _guest(key: str, owners: list[str], services: list[str], subscriptions_max: int) -> dict[str, Any]:
    """The account of one table or program: what it may ask for, and in whose names it hears the answers."""
    return {
        "users": [
            {
                "nkey": key,
                "permissions": {
                    "publish": {"allow": list(services)},
                    "subscribe": {"allow": [f"{inbox_of(owner)}.>" for owner in owners]},
                },
            }
        ],
        "imports": [{"service": {"account": ACCOUNT, "subject": service}} for service in services],
        "limits": {"max_connections": CONNECTIONS_PER_ACCOUNT, "max_subscriptions": subscriptions_max},
    }


def _telling(guest: dict[str, Any], tables: list[KnownTable]) -> dict[str, Any]:
    """The account, which tells the signs of life of these tables as well."""
    presences = [presence_subject(table.site, table.name) for table in tables]
    guest["users"][0]["permissions"]["publish"]["allow"] += presences
    return guest | {"exports": [{"stream": presence} for presence in presences]}


def _services_of(table: KnownTable) -> list[str]:
    """Of the stream, what delivering a table's journal takes."""
    own = subject(table.site, table.name)
    return [own, f"$JS.API.DIRECT.GET.{STREAM}.{own}"]


def _line_permissions(site: str) -> dict[str, Any]:
    """What a leaf node may send to the hub and hear from it: the hub's reading of its stream, no table's journal."""
    return {
        "publish": {"allow": [f"$JS.S.{site}.>", "$JSC.R.>", _presence_of(site)]},
        "subscribe": {"allow": [f"$JS.{site}.API.>", "$JS.FC.>", "$JS.ACK.>"]},
    }


def _of_consumer(subjects: Iterable[str], consumer: str) -> list[str]:
    return [subject.format(consumer=consumer) for subject in subjects]


def _owner_of(table: KnownTable) -> str:
    return f"{table.site}.{table.name}"


def _receiver_account(name: str) -> str:
    return f"receiver:{name}"


def _account_of(table: KnownTable) -> str:
    return f"table:{_owner_of(table)}"


def _presence_of(site: str) -> str:
    return f"craps.{site}.*.presence"


def _stream(account: str, name: str) -> dict[str, Any]:
    return {"stream": {"account": account, "subject": name}}


def _tls(listed: CentralList, server: Server) -> dict[str, Any]:
    return {"cert_file": server.certificate, "key_file": server.private_key, "ca_file": listed.ca}


def _text(said: dict[str, Any]) -> str:
    """As the server reads it: a key a line at the top, and JSON below, in which it knows no \\u."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False, indent=1)}\n" for name, value in said.items()]
    return "# Written by boxman central config. Change the list of tables, and have it written again.\n" + "".join(
        lines
    )


def _secrets(path: Path, leaf_sites: list[str]) -> dict[str, Any]:
    """Those of an earlier run, which the servers use already, and new ones where they are missing."""
    kept: Any = {}
    if path.exists():
        try:
            kept = read_json_file(path)
        except JsonFileError as error:
            raise SecretsUnusable(f"{path} {error}") from error
    seeds = kept.get("leaf_seeds", {}) if isinstance(kept, dict) else None
    password = kept.get("cluster_password", secrets.token_hex(KEY_BYTES)) if isinstance(kept, dict) else None
    if not isinstance(seeds, dict) or not isinstance(password, str):
        raise SecretsUnusable(
            f"{path}: is not what boxman central config writes; move it away to have new secrets made"
        )
    return {
        "cluster_password": password,
        "leaf_seeds": {site: seeds[site] if site in seeds else new_seed() for site in leaf_sites},
    }
