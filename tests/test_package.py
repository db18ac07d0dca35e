"""The Debian package: the same bytes twice, what is in it, and a release that runs wherever its folder lies."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from provisioning.command_failed import CommandFailed
from provisioning.command_line import main
from provisioning.release.bundle import Bundle, unpack
from provisioning.release.bundle_archive import bundle_of_package
from provisioning.release.debian_package import build_package
from provisioning.release.requirements import SOURCE_ONLY, locked_requirements
from provisioning.release.tree import finish_tree, site_of
from provisioning.release.wheels import lay_together
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
epsilon==0.1 ; python_version >= '3.13' \\
    --hash=sha256:ea
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
        "epsilon; python_version >= '3.13'",
        "pytest; extra == 'test'",
    ],
    "alpha": ["gamma; extra == 'more'", "delta; sys_platform == 'win32'", "setuptools"],
    "gamma": ["alpha"],
}
# What stands in the name of a compiled module, by the Python that it was compiled for.
ABIS = {"3.11": "cpython-311", "3.13": "cpython-313"}
COMMAND_LINE = "import sys\nprint(__file__, sys.argv[1:], sys.flags.isolated)\nassert sys.prefix in __file__\n"


def test_a_release_takes_what_the_lock_file_has_for_its_architecture() -> None:
    taken = locked_requirements(LOCK, "amd64", NEEDS.get)
    assert taken == {
        "alpha": "alpha==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\n",
        "gamma": "gamma==3.0 \\\n    --hash=sha256:ca\n",
        # For one of its Pythons only, whichever makes the package.
        "epsilon": "epsilon==0.1 \\\n    --hash=sha256:ea\n",
    }
    # Its condition is decided here, not by pip on the computer where the package is made.
    assert locked_requirements(LOCK, "arm64", NEEDS.get) == {
        **taken,
        "beta-lib": "beta-lib==2.0 \\\n    --hash=sha256:ba\n",
    }
    with pytest.raises(KeyError, match="gamma"):
        locked_requirements(LOCK.partition("gamma")[0], "amd64", NEEDS.get)
    twice = f"{LOCK}gamma==3.1 ; python_version >= '3.13' \\\n    --hash=sha256:cb\n"
    with pytest.raises(CommandFailed, match="gamma is locked in 2 versions"):
        locked_requirements(twice, "amd64", NEEDS.get)


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


def laid(folder: Path, files: dict[str, str], mode: int = 0o644) -> Path:
    """A folder with these files, made with this mode, at another time and by others."""
    for path, text in files.items():
        here = folder / path
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_text(text)
        here.chmod(mode)
        os.utime(here, (mode, mode))
        if os.geteuid() == 0:
            os.chown(here, mode, mode)
    return folder


def made(folder: Path, mode: int) -> Path:
    """A package of a small release, whose files were made with this mode."""
    tree = folder / "tree"
    common = {
        "provisioning/__init__.py": "",
        "provisioning/command_line.py": COMMAND_LINE,
        "boxman-1.0.0.dist-info/METADATA": "Version: 1.0.0\n",
        "boxman-1.0.0.dist-info/RECORD": str(folder),
        "boxman-1.0.0.dist-info/direct_url.json": str(folder),
        "bin/mpremote": f"#!{folder}/python\n",
        "zebra.py": "A = 1\n",
    }
    installed = [
        laid(folder / python, common | {f"zebra.{abi}.so": python, "zebra-1.0.dist-info/WHEEL": f"Tag: {abi}"}, mode)
        for python, abi in ABIS.items()
    ]
    lay_together(installed, site_of(tree))
    finish_tree(tree, facts())
    (folder / "out").mkdir()
    return build_package(tree, facts(), REPOSITORY / "LICENSE", folder, folder / "out", 1_767_225_600)


def told(*command: str | Path) -> str:
    environment = os.environ | {"TZ": "UTC"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


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
    # The Python of Debian 12 or that of 13, and nothing that a network would be needed for.
    assert fields["Depends"] == (
        "python3 (>= 3.11), python3 (<< 3.12) | python3 (>= 3.13), python3 (<< 3.14), systemd, udev, e2fsprogs"
    )
    listed = [line.split(maxsplit=5) for line in told("dpkg-deb", "-c", package).splitlines()]
    assert {owner for _, owner, *_ in listed} == {"root/root"}
    assert {date for _, _, _, date, *_ in listed} == {"2026-01-01"}
    modes = {name: mode for mode, _, _, _, _, name in listed}
    release = "./opt/boxman/releases/1.0.0"
    assert modes[f"{release}/bin/boxman"] == "-rwxr-xr-x"
    assert modes[f"{release}/lib/site-packages/zebra.py"] == "-rw-r--r--"
    assert "./usr/bin/boxman -> /opt/boxman/current/bin/boxman" in modes
    assert f"{release}/bin/python3 -> /usr/bin/python3" in modes
    for python, abi in ABIS.items():
        assert f"{release}/lib/python{python}/site-packages -> ../site-packages" in modes
        assert f"{release}/lib/site-packages/zebra.{abi}.so" in modes
    not_in_it = ("RECORD", "WHEEL", "direct_url", "site-packages/bin", "__pycache__")
    assert not [name for name in modes if any(each in name for each in not_in_it)]
    # Which release is in force is for the one who installs and updates to say.
    assert "./opt/boxman/current" not in modes


def test_the_packages_files_are_those_that_its_sums_are_of(package: Path, tmp_path: Path) -> None:
    told("dpkg-deb", "-R", package, tmp_path / "all")
    subprocess.run(("md5sum", "--quiet", "-c", "DEBIAN/md5sums"), cwd=tmp_path / "all", check=True)
    for script in ("preinst", "postinst", "prerm", "postrm"):
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
    version = told("/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    site = moved / "lib" / f"python{version}" / "site-packages"
    assert said == f"{site}/provisioning/command_line.py ['settle', 'a b'] 1\n"


def test_pythons_that_would_need_the_same_file_with_another_content_share_no_folder(tmp_path: Path) -> None:
    installed = [laid(tmp_path / python, {"lynx/__init__.py": f"FOR = {python}\n"}) for python in ABIS]
    with pytest.raises(CommandFailed, match=r"lynx/__init__\.py: is not the same for each of Python 3\.11, 3\.13"):
        lay_together(installed, tmp_path / "site")


def test_the_unit_compiles_a_release_itself_and_takes_that_away_again(package: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    told("dpkg-deb", "-R", package, root)
    for script in ("postinst", "prerm"):
        path = root / "DEBIAN" / script
        path.write_text(path.read_text().replace("/opt/boxman", f"{root}/opt/boxman"))
    site = site_of(root / "opt/boxman/releases/1.0.0")
    before = sorted(root.rglob("*"))
    told("sh", root / "DEBIAN/postinst", "configure")
    assert (root / "opt/boxman/current").readlink() == Path("releases/1.0.0")
    tag = told("/usr/bin/python3", "-c", "import sys; print(sys.implementation.cache_tag)").strip()
    for module in ("zebra", "provisioning/command_line"):
        path = site / module
        compiled = path.parent / "__pycache__" / f"{path.name}.{tag}.pyc"
        # PEP 552: by the source's hash, which nobody looks at.
        assert compiled.read_bytes()[4:8] == b"\x01\0\0\0"
        assert compiled.stat().st_mode & 0o777 == 0o644
    (root / "opt/boxman/current").unlink()
    told("sh", root / "DEBIAN/prerm", "upgrade")
    assert sorted(root.rglob("*")) == before
    told("rm", "-r", site.parents[1])
    told("sh", root / "DEBIAN/prerm", "remove")


def test_between_two_packages_there_is_always_a_release_in_force(package: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    told("dpkg-deb", "-R", package, root)
    for script in (root / "DEBIAN").glob("p*"):
        script.write_text(script.read_text().replace("/opt/boxman", f"{root}/opt/boxman"))
    releases, current = root / "opt/boxman/releases", root / "opt/boxman/current"
    former = releases / "0.9.0/bin/boxman"
    # On a computer that has none.
    told("sh", root / "DEBIAN/preinst", "install")
    assert not current.is_symlink()
    former.parent.mkdir(parents=True)
    former.write_text("former")
    current.symlink_to("releases/0.9.0")
    # As dpkg goes about it, which may be cut off before it has unpacked, and then begins anew.
    for _ in range(2):
        told("sh", root / "DEBIAN/preinst", "upgrade", "0.9.0")
        assert (current / "bin/boxman").read_text() == "former"
    told("rm", "-r", releases / "0.9.0")
    assert (current / "bin/boxman").read_text() == "former"
    told("sh", root / "DEBIAN/postinst", "configure", "0.9.0")
    assert current.readlink() == Path("releases/1.0.0")
    assert [path.name for path in releases.iterdir()] == ["1.0.0"]
    # dpkg removes the files and their folders, and is asked twice where it was cut off.
    told("rm", "-r", releases / "1.0.0")
    for _ in range(2):
        told("sh", root / "DEBIAN/postrm", "remove")
        assert not (root / "opt/boxman").exists()


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
