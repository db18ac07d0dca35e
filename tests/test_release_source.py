"""Where an update's bundle comes from: a file, or a web server that the world or the site's own CA vouches for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.table_key import open_table_key
from provisioning.command_failed import CommandFailed
from provisioning.release import bundle_source
from provisioning.release.bundle_source import read_bundle
from tests.central_rig import Authority
from tests.release_rig import bundle_of, facts, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed bundle, and files that are none."""
    folder = tmp_path_factory.mktemp("releases")
    key = open_table_key(folder / "release.key")
    (folder / "good.release").write_bytes(bundle_of(facts(key.public), {}).content(key))
    (folder / "page.release").write_bytes(b"<!DOCTYPE html>")
    return folder


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(folder: Path, authority: Authority) -> Iterator[str]:
    """A web server of the site's, with a certificate under its own CA."""
    with served(folder, *authority.issue("releases")) as port:
        yield f"https://127.0.0.1:{port}"


def test_a_bundle_from_a_server_of_the_site_is_the_one_in_the_file(
    folder: Path, address: str, authority: Authority
) -> None:
    fetched = read_bundle(f"{address}/good.release", authority.ca)
    assert fetched == read_bundle(str(folder / "good.release"), None)
    assert (fetched.facts.version, fetched.signer) == ("1.0.0", open_table_key(folder / "release.key").public)


def test_a_server_that_nobody_vouches_for_is_refused(address: str) -> None:
    with pytest.raises(CommandFailed, match=r"good\.release: cannot be fetched \(.*certificate verify failed"):
        read_bundle(f"{address}/good.release", None)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.release", "none.release: cannot be (read|fetched)"),
        ("page.release", "page.release: (has a head|is no|names)"),
    ],
)
def test_what_is_no_bundle_is_named_wherever_it_lies(
    folder: Path, address: str, authority: Authority, name: str, why: str
) -> None:
    for source in (str(folder / name), f"{address}/{name}"):
        with pytest.raises(CommandFailed, match=why):
            read_bundle(source, authority.ca)


@pytest.mark.parametrize("host", ["xn--a", "a" * 300])
def test_a_host_that_can_be_none_is_told(host: str) -> None:
    with pytest.raises(CommandFailed, match=f"https://{host}/x: cannot be fetched"):
        read_bundle(f"https://{host}/x", None)


def test_what_is_longer_than_any_bundle_is_read_no_further(
    folder: Path, address: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_source, "BUNDLE_BYTES_MAX", 100)
    for source in (str(folder / "good.release"), f"{address}/good.release"):
        with pytest.raises(CommandFailed, match="is longer than the 100 bytes of the longest bundle"):
            read_bundle(source, authority.ca)
