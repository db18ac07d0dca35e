"""The Debian package: the same bytes twice, what is in it, and a release that runs wherever its folder lies."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from provisioning.command_line import main
from provisioning.release.bundle import Bundle, unpack
from provisioning.release.bundle_archive import bundle_of_package
from provisioning.release.debian_package import build_package
from provisioning.release.requirements import SOURCE_ONLY, locked_requirements
from provisioning.release.tree import finish_tree, site_of
from tests.release_rig import facts

REPOSITORY = Path(__file__).resolve().parents[1]
LOCK = """\
# A comment.
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
    # via boxman (pyproject.toml)
beta-lib==2.0 ; platform_machine == 'aarch64' \\
    --hash=sha256:ba
    # via boxman (pyproject.toml)
gamma==3.0 \\
    --hash=sha256:ca
    # via alpha
pytest==4.0 \\
    --hash=sha256:da
"""
NEEDS = {
    "boxman": [
        "alpha[more]>=1",
        "beta_lib; platform_machine == 'aarch64' and extra == 'pi'",
        "pytest; extra == 'test'",
    ],
    "alpha": ["gamma; extra == 'more'", "delta; sys_platform == 'win32'", "setuptools"],
    "gamma": ["alpha"],
}
COMMAND_LINE = "import sys\nprint(__file__, sys.argv[1:], sys.flags.isolated)\nassert sys.prefix in __file__\n"


def test_a_release_takes_what_the_lock_file_has_for_its_architecture() -> None:
    taken = locked_requirements(LOCK, "amd64", NEEDS.get)
    assert taken == {
        "alpha": "alpha==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n",
        "gamma": "gamma==3.0 \\\n    --hash=sha256:ca\n",
    }
    # Its condition is decided here, not by pip on the computer where the package is made.
    assert locked_requirements(LOCK, "arm64", NEEDS.get) == {
        **taken,
        "beta-lib": "beta-lib==2.0 \\\n    --hash=sha256:ba\n",
    }
    with pytest.raises(KeyError, match="gamma"):
        locked_requirements(LOCK.partition("gamma")[0], "amd64", NEEDS.get)


def test_this_lock_file_has_all_that_a_release_needs() -> None:
    lock = (REPOSITORY / "requirements.lock").read_text()
    amd64, arm64 = (locked_requirements(lock, architecture) for architecture in ("amd64", "arm64"))
    assert arm64.keys() - amd64.keys() == {"lgpio"}
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    direct = {text.partition(">")[0].partition("[")[0] for text in project["dependencies"]}
    assert direct <= amd64.keys()
    assert amd64.keys() >= {"mpremote", *SOURCE_ONLY}
    assert amd64.keys().isdisjoint({"pytest", "mypy", "playwright", "setuptools"})
    assert all("--hash=sha256:" in text for text in arm64.values())


def made(folder: Path, mode: int) -> Path:
    """A package of a small release, whose files were made with this mode, at another time and by others."""
    tree = folder / "tree"
    site = site_of(tree)
    for path, text in {
        "provisioning/__init__.py": "",
        "provisioning/command_line.py": COMMAND_LINE,
        "boxman-1.0.0.dist-info/METADATA": "Version: 1.0.0\n",
        "boxman-1.0.0.dist-info/RECORD": str(folder),
        "boxman-1.0.0.dist-info/direct_url.json": str(folder),
        "bin/mpremote": f"#!{folder}/python\n",
        "zebra.py": "A = frozenset({'a', 'b', 'c', 'd'})\n\ndef f(x): return x in {'a', 'b', 'c', 'd'}\n",
    }.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
        (site / path).chmod(mode)
        os.utime(site / path, (mode, mode))
        if os.geteuid() == 0:
            os.chown(site / path, mode, mode)
    finish_tree(tree, facts())
    (folder / "out").mkdir()
    return build_package(tree, facts(), REPOSITORY / "LICENSE", folder, folder / "out", 1_767_225_600)


def told(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("package"), 0o644)


def test_a_package_is_the_same_to_the_byte_when_it_is_made_again(package: Path, tmp_path: Path) -> None:
    assert made(tmp_path, 0o755).read_bytes() == package.read_bytes()
    assert package.name == "boxman_1.0.0_arm64.deb"


def test_the_package_says_what_it_is_and_needs(package: Path) -> None:
    fields = dict(
        line.split(": ", 1) for line in told("dpkg-deb", "-f", package).splitlines() if not line.startswith(" ")
    )
    assert (fields["Package"], fields["Version"], fields["Architecture"]) == ("boxman", "1.0.0", "arm64")
    # Debian 12's Python, and nothing that a network would be needed for.
    assert fields["Depends"] == "python3 (>= 3.11), python3 (<< 3.12), systemd, udev, e2fsprogs"
    listed = [line.split(maxsplit=5) for line in told("dpkg-deb", "-c", package).splitlines()]
    assert {owner for _, owner, *_ in listed} == {"root/root"}
    assert {date for _, _, _, date, *_ in listed} == {"2026-01-01"}
    modes = {name: mode for mode, _, _, _, _, name in listed}
    release = "./opt/boxman/releases/1.0.0"
    assert modes[f"{release}/bin/boxman"] == "-rwxr-xr-x"
    assert modes[f"{release}/lib/python3.11/site-packages/zebra.py"] == "-rw-r--r--"
    assert "./usr/bin/boxman -> /opt/boxman/current/bin/boxman" in modes
    assert f"{release}/bin/python3 -> /usr/bin/python3.11" in modes
    assert f"{release}/lib/python3.11/site-packages/__pycache__/zebra.cpython-311.pyc" in modes
    assert not [name for name in modes if "RECORD" in name or "direct_url" in name or "site-packages/bin" in name]
    # Which release is in force is for the one who installs and updates to say.
    assert "./opt/boxman/current" not in modes


def test_the_packages_files_are_those_that_its_sums_are_of(package: Path, tmp_path: Path) -> None:
    told("dpkg-deb", "-R", package, tmp_path / "all")
    subprocess.run(("md5sum", "--quiet", "-c", "DEBIAN/md5sums"), cwd=tmp_path / "all", check=True)
    for script in ("postinst", "prerm", "postrm"):
        subprocess.run(("sh", "-n", tmp_path / "all/DEBIAN" / script), check=True)


def test_a_bundle_of_the_package_is_its_release_which_runs_wherever_it_lies(package: Path, tmp_path: Path) -> None:
    bundle = bundle_of_package(package)
    assert bundle.facts == facts()
    made_file = tmp_path / "made.release"
    assert main(["release", "make", str(package), "-o", str(made_file)]) == 0
    assert made_file.read_bytes() == bundle.content(None)
    first = tmp_path / "first"
    unpack(Bundle.read(bundle.content(None)), first)
    moved = first.rename(tmp_path / "moved")
    (tmp_path / "boxman").symlink_to(moved / "bin/boxman")
    said = told(tmp_path / "boxman", "settle", "a b")
    assert said == f"{site_of(moved)}/provisioning/command_line.py ['settle', 'a b'] 1\n"
    # Compiled before, in place, and not once more.
    assert sorted(path.name for path in site_of(moved).glob("provisioning/__pycache__/*")) == [
        "__init__.cpython-311.pyc",
        "command_line.cpython-311.pyc",
    ]


def test_a_service_starts_whichever_release_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "image/opt/boxman/current/bin/boxman"
    program.parent.mkdir(parents=True)
    program.touch()
    (tmp_path / "table.toml").write_text('[table]\nsite = "a"\nname = "b"\n')
    monkeypatch.setattr(sys, "prefix", "/opt/boxman/releases/1.0.0")
    options = ["--root", str(tmp_path / "image"), "--config", str(tmp_path / "table.toml"), "--dry-run"]
    assert main(["provision", "install", *options]) == 0
    assert "+ExecStart=/opt/boxman/current/bin/boxman run " in capsys.readouterr().out
