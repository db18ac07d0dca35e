"""A typeshed of what a Raspberry Pi Pico with MicroPython has, for mypy, put together from the stub packages.

The stub packages leave most modules out that MicroPython lacks, but their `builtins.pyi` is CPython's. Here each of its
functions and methods that the MicroPython at hand does not have is left out as well.
"""

import ast
import json
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

TRIMMED = ("int", "str", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset")
ASK = "import builtins, json\nprint(json.dumps([dir(builtins)] + [dir(kind) for kind in ({})]))".format(
    ", ".join(TRIMMED)
)


def make_typeshed(folder: Path, micropython: Path) -> None:
    """Fill `folder`, a new one, so that mypy takes it as `--custom-typeshed-dir`."""
    stdlib = folder / "stdlib"
    for source, inside in _files("micropython-stdlib-stubs"):
        if inside.parts[0] in ("stdlib", "stubs"):
            _copy(source, folder / inside)
        elif inside.parts[0] == "_mpy_shed":
            _copy(source, stdlib / inside)
    for source, inside in _files("micropython-rp2-stubs"):
        # The board's own modules: machine, gc, time, math and so on.
        if inside.suffix == ".pyi" and inside.name != "__builtins__.pyi" and not (stdlib / inside).exists():
            _copy(source, stdlib / inside)
    versions = stdlib / "VERSIONS"
    known = {line.partition(":")[0] for line in versions.read_text().splitlines()}
    names = {path.stem for path in stdlib.iterdir() if path.suffix in ("", ".pyi")} - known
    versions.write_text(versions.read_text() + "".join(f"{name}: 3.0-\n" for name in sorted(names)))
    builtins = stdlib / "builtins.pyi"
    builtins.write_text(ast.unparse(_Trimmer(_has(micropython)).visit(ast.parse(builtins.read_text()))))


def _files(package: str) -> list[tuple[Path, Path]]:
    """Where each file of an installed package is, and its path in the package."""
    return [(Path(str(file.locate())), Path(str(file))) for file in metadata.files(package) or []]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _has(micropython: Path) -> dict[str, list[str]]:
    """The names that the runtime knows: its functions under "", and the methods of each of TRIMMED."""
    asked = subprocess.run([micropython, "-c", ASK], capture_output=True, check=True)
    return dict(zip(("", *TRIMMED), json.loads(asked.stdout), strict=True))


class _Trimmer(ast.NodeTransformer):
    """Leaves out the functions and methods that are not among the names that a runtime has."""

    def __init__(self, has: dict[str, list[str]]) -> None:
        self._has = has
        self._inside = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self._inside = node.name
        self.generic_visit(node)
        self._inside = ""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        has = self._has.get(self._inside)
        # Not every type lists its special methods; a bytearray without `insert` would be abstract to mypy; and the
        # functions that reveal a type are mypy's own.
        kept = has is None or node.name in has or node.name.startswith(("__", "reveal_")) or node.name == "insert"
        return node if kept else None

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node
