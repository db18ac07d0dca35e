"""The pit page's TOML file: the archive that it shows, the central log that it listens to, and where its page is.

```toml
[central]                        # as the archive's own file has it, under a reader of the page's own
servers = ["tls://central.example:4222"]
ca = "ca.pem"
key = "pit.key"

[archive]                        # the archive's database
sqlite = "archive.db"

[pit]
port = 8090                      # default; on this machine alone
hosts = ["pit.casino.example"]   # the page's names behind a proxy, which does TLS and signing in
data = "pit"                     # default: the folder of the journal of who has seen which alert
language = "es"                  # of the page, where nobody touches another: en (default), es, pt or zh-Hant

[[tables]]                       # optional, as in the archive's file: a table of the list that was never heard is shown
```

The page listens on loopback and nowhere else: whoever comes from another machine comes through a web server of the
house's own, which encrypts and asks who it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.languages.languages import LANGUAGES
from device.settings import LOOPBACK
from provisioning.central.archive_configuration import ArchiveConfiguration, archive_configuration
from provisioning.central.toml_file import HOST, Section, TomlFile, read_toml

_HOSTS_MAX: Final = 20


@dataclass(frozen=True)
class PitConfiguration:
    """What the file says. `hosts` are the names that a browser may have for the page."""

    archive: ArchiveConfiguration
    port: int
    hosts: Sequence[str]
    data: Path
    language: str


def read_pit_configuration(path: Path) -> PitConfiguration:
    """Read and check the file; its paths start where it lies. Raises BadFile."""

    def read(file: TomlFile) -> PitConfiguration:
        pit = file.top.section("pit")
        others = {name: section for name, section in file.top.values.items() if name != "pit"}
        return _configuration(pit, archive_configuration(others, path.parent, file.text), path.parent)

    return read_toml(path, read)


def _configuration(pit: Section, archive: ArchiveConfiguration, folder: Path) -> PitConfiguration:
    pit.check_keys("port", "hosts", "data", "language")
    hosts = pit.texts("hosts", "a list of names, such as pit.casino.example", [])
    if not all(HOST.fullmatch(host) for host in hosts):
        pit.refuse("hosts should be a list of names, such as pit.casino.example")
    if len(hosts) > _HOSTS_MAX:
        pit.refuse(f"hosts holds {len(hosts)} names, at most {_HOSTS_MAX} are right")
    language = pit.text("language", "a language", "en")
    if language not in LANGUAGES:
        pit.refuse(f"language should be one of {', '.join(LANGUAGES)}")
    return PitConfiguration(
        archive,
        pit.whole("port", 1, 65535, 8090),
        (LOOPBACK, "localhost", *hosts),
        folder / pit.text("data", "a folder", "pit"),
        language,
    )
