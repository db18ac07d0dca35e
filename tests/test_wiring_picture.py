"""The wiring picture says each thing once and where it belongs, nothing covers anything, and it prints on one sheet."""

import io
import re
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from drivers.wiring import DEFAULT_PINS, GROUPS, NODE_PINS, Pin, Wiring
from provisioning.command_line import main
from provisioning.configuration import read_configuration
from provisioning.wiring_picture import Heading, notes, wiring_svg
from provisioning.wiring_plan import Terminal, connectors
from tests.browser_rig import touch_page
from tests.terminal_rig import BOXMAN
from tests.test_configuration import LONG_TABLE

SVG = "{http://www.w3.org/2000/svg}"
HEADING = Heading("casino-1", "craps-7", "1a2b3c4d5e6f")
A4_WIDTH_MM, A4_HEIGHT_MM = 297, 210
ROW_MM = 3.4
# 96 px are an inch.
PX_PER_MM = 96 / 25.4


def _minimal() -> Wiring:
    return Wiring({name: DEFAULT_PINS[name] for name in (*GROUPS["puck"], "lid")})


def _full() -> Wiring:
    """Every pin of both boards, each group as scattered as can be."""
    on_header = (*GROUPS["puck"], *GROUPS["second_puck"], *GROUPS["bet_status"], "lamp_on", "lamp_off")
    lamps = [f"lamp_{name}" for name in (*GROUPS["bet_status"][:6], *GROUPS["dice_keys"][:4])]
    on_node = (*GROUPS["dice_keys"], *GROUPS["slots"], "lid", "door", *lamps)
    pins = {name: Pin("header", 2 + (7 * n) % 26) for n, name in enumerate(on_header)}
    pins |= {name: Pin("node", NODE_PINS[(11 * n) % 26]) for n, name in enumerate(on_node)}
    assert len(pins) == 52
    return Wiring(pins)


LONG = read_configuration(LONG_TABLE)
DRIVEN = {name: "lamp_24v_driver" for name in DEFAULT_PINS if name.startswith("lamp_")}
TABLES = {
    "default": (Wiring(), {}),
    "minimal": (_minimal(), {}),
    "long": (LONG.wiring, dict(LONG.parts)),
    "driven": (Wiring(), DRIVEN),
    "full": (_full(), {"puck_4": "hall_switch_5v", "lid": "hall_switch_5v", "lamp_box_4": "lamp_5v_driver"}),
}
each_table = pytest.mark.parametrize("table", TABLES)


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    text: str


def picture(table: str) -> ElementTree.Element:
    wiring, parts = TABLES[table]
    return parsed(wiring_svg(wiring, parts, HEADING))


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - drawn here a moment ago


def labels(drawn: ElementTree.Element) -> list[Label]:
    return [
        Label(float(text.attrib["x"]), float(text.attrib["y"]), text.text or "") for text in drawn.iter(f"{SVG}text")
    ]


def wires(drawn: ElementTree.Element) -> list[list[tuple[float, float]]]:
    paths = [path.attrib["d"] for path in drawn.iter(f"{SVG}path") if path.attrib["class"] == "wire edge"]
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in paths]


def terminals(table: str) -> dict[str, tuple[str, Terminal]]:
    """Every terminal that has a pin, by its name such as X1.3, with its board."""
    return {
        f"{connector.name}.{terminal.number}": (connector.board, terminal)
        for connector in connectors(*TABLES[table])
        for terminal in connector.terminals
        if terminal.pin is not None
    }


@each_table
def test_every_signal_stands_once_with_its_pin_its_colour_and_its_terminal(table: str) -> None:
    wiring, _ = TABLES[table]
    drawn = labels(picture(table))
    for connector in connectors(*TABLES[table]):
        (title,) = (label for label in drawn if label.text == f"{connector.name}  {connector.title}")
        for terminal in connector.terminals:
            if terminal.carries not in wiring.pins:
                continue
            (signal,) = (label for label in drawn if label.text == terminal.carries)
            # Rows of terminals stand below the connector's name, one each.
            assert 0 < signal.y - title.y <= (terminal.number + 0.5) * ROW_MM
            row = {label.text for label in drawn if label.y == signal.y and abs(label.x - signal.x) < 51}
            assert terminal.pin is not None
            assert {str(terminal.number), terminal.colour, f"pin {terminal.pin.number}"} <= row


@each_table
def test_every_pin_that_is_used_names_its_terminal_and_its_resistor(table: str) -> None:
    drawn = labels(picture(table))
    for name, (_, terminal) in terminals(table).items():
        (reference,) = (label for label in drawn if re.fullmatch(rf"(X\d+\.\d+, )?{name}(, X.*| and .*)?", label.text))
        assert terminal.pin is not None
        row = [label for label in drawn if label.y == reference.y and abs(label.x - reference.x) < 35]
        assert {str(terminal.pin.number), terminal.pin.name} <= {label.text for label in row}
        if terminal.series:
            assert terminal.series in {label.text for label in row}


@each_table
def test_all_40_pins_of_each_board_in_use_are_drawn(table: str) -> None:
    boards = 2 if any(pin.board == "node" for pin in TABLES[table][0].pins.values()) else 1
    drawn = picture(table)
    pads = [
        box for box in drawn.iter(f"{SVG}rect") if (box.attrib.get("width"), box.attrib["height"]) == ("5.20", "2.70")
    ]
    assert len(pads) == 40 * boards


@each_table
def test_every_wire_leads_from_its_pin_to_its_terminal_alone(table: str) -> None:
    """No two wires run along each other, but where they leave one pin together."""
    drawn = picture(table)
    found = wires(drawn)
    assert len(found) == len(terminals(table))
    written = labels(drawn)

    def writing(y: float) -> set[str]:
        return {label.text for label in written if abs(label.y - y - 0.36 * 2.2) < 0.02}

    ends = set()
    for wire in found:
        at_pin, at_terminal = writing(wire[0][1]), writing(wire[-1][1])
        ends |= {
            name
            for name, (_, terminal) in terminals(table).items()
            if terminal.pin is not None
            and {str(terminal.pin.number), terminal.pin.name} <= at_pin
            and {terminal.carries, f"pin {terminal.pin.number}", terminal.colour} <= at_terminal
        }
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(wire))
    assert ends == set(terminals(table))
    for one, other in combinations(found, 2):
        if one[0] == other[0]:
            continue
        for a, b in pairwise(one):
            for c, d in pairwise(other):
                assert not _along(a, b, c, d), (one, other)


def _along(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]) -> bool:
    """Whether two straight pieces run side by side, closer than a line is wide."""
    for across, along in ((0, 1), (1, 0)):
        if a[across] == b[across] and c[across] == d[across] and a[along] != b[along] and c[along] != d[along]:
            shared = min(max(a[along], b[along]), max(c[along], d[along])) - max(
                min(a[along], b[along]), min(c[along], d[along])
            )
            return abs(a[across] - c[across]) < 0.75 and shared > -0.5
    return False


@dataclass(frozen=True)
class Box:
    """Where a piece of writing is on the page, in mm."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def boxes_of(page: Page) -> list[Box]:
    found = page.evaluate(
        """() => [...document.querySelectorAll('text')].map(text => {
          const box = text.getBoundingClientRect();
          return [text.textContent, box.left, box.top, box.right, box.bottom];
        })"""
    )
    return [Box(text, *(place / PX_PER_MM for place in places)) for text, *places in found]


@each_table
@pytest.mark.parametrize("font", ["Liberation Sans", "DejaVu Sans"])
def test_no_writing_meets_other_writing_or_a_wire_and_all_is_large_enough(
    chromium: Browser, tmp_path: Path, table: str, font: str
) -> None:
    wiring, parts = TABLES[table]
    svg = wiring_svg(wiring, parts, HEADING)
    # DejaVu Sans is the widest of the fonts that a reader may have in their place.
    (tmp_path / "wiring.svg").write_text(svg.replace('"Liberation Sans", Arial', f'"{font}", Arial'))
    with touch_page(chromium, {"width": 1200, "height": 850}) as page:
        page.goto((tmp_path / "wiring.svg").as_uri())
        boxes = boxes_of(page)
    assert len(boxes) > 100
    for box in boxes:
        assert box.left >= 5, box
        assert box.top >= 5, box
        assert box.right <= A4_WIDTH_MM - 5, box
        assert box.bottom <= A4_HEIGHT_MM - 5, box
        assert box.bottom - box.top >= 2, box
    for one, other in combinations(boxes, 2):
        beside = one.left >= other.right or other.left >= one.right
        assert beside or one.top >= other.bottom or other.top >= one.bottom, (one, other)
    for wire in wires(parsed(svg)):
        for (x1, y1), (x2, y2) in pairwise(wire):
            for box in boxes:
                if box.text in ("330", "ULN"):
                    continue  # these stand in boxes on the wires
                beside = max(x1, x2) <= box.left or min(x1, x2) >= box.right
                assert beside or max(y1, y2) <= box.top or min(y1, y2) >= box.bottom, (box, (x1, y1), (x2, y2))


@pytest.mark.parametrize(("paper", "width_mm", "height_mm"), [("A4", 297, 210), ("A3", 420, 297)])
def test_the_picture_fills_one_sheet_when_printed(
    chromium: Browser, tmp_path: Path, paper: str, width_mm: int, height_mm: int
) -> None:
    (tmp_path / "wiring.svg").write_text(wiring_svg(Wiring(), {}, HEADING))
    sheet: ViewportSize = {"width": round(width_mm * PX_PER_MM), "height": round(height_mm * PX_PER_MM)}
    with touch_page(chromium, sheet) as page:
        page.goto((tmp_path / "wiring.svg").as_uri())
        page.emulate_media(media="print")
        boxes = boxes_of(page)
        printed = page.pdf(format=paper, landscape=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    # The notes stand 73 mm before the right edge of A4.
    (left,) = (box.left for box in boxes if box.text == "Notes")
    assert left == pytest.approx(width_mm * (297 - 73) / 297, abs=0.7)


def test_a_picture_needs_nothing_from_elsewhere_and_says_which_table_it_is_of() -> None:
    svg = wiring_svg(Wiring(), {}, Heading("<casino & co>", "craps-7", "1a2b3c4d5e6f"))
    assert svg.isascii()
    assert svg.count("http") == 1
    for word in ("<script", "<image", "url(", "@import", "<foreignObject"):
        assert word not in svg
    said = [label.text for label in labels(parsed(svg))]
    assert "Site <casino & co>" in said
    assert "Table craps-7" in said
    assert "Wiring by configuration 1a2b3c4d5e6f" in said


def test_the_bill_of_materials_stands_beside_the_picture() -> None:
    said = " ".join(label.text for label in labels(picture("default")))
    assert "16 Push button, contact closes when pressed: X3, X15" in said
    assert "40 Resistor 330 ohm, 0.25 W, at the pin: X1, X3, X15, X7, X4, X14, X16" in said


def test_the_notes_say_what_is_there_to_go_wrong() -> None:
    said = "\n".join(notes(Wiring(), {}))
    assert "puck_off: turn the Hall switch over" in said
    # Eight lamps of 3.939 mA on each board.
    assert "31.5 mA on the header, 31.5 mA on the node; 50.0 mA is the most" in said
    assert "ULN2003A" not in said
    # 8 * 3.3 V / 2.7 kohm.
    driven = "\n".join(notes(Wiring(), DRIVEN))
    assert "9.8 mA on the header, 9.8 mA on the node" in driven
    assert "ULN2003A" in driven
    assert "puck_off and second_puck_off" in "\n".join(notes(LONG.wiring, LONG.parts))


# The command


def said_by(*arguments: str) -> tuple[int, str, str]:
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        try:
            status = main(["wiring", *arguments])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, out.getvalue(), error.getvalue()


def test_the_command_writes_a_picture_to_a_file_or_to_standard_output(tmp_path: Path) -> None:
    path = tmp_path / "wiring.svg"
    assert said_by(str(LONG_TABLE), "-o", str(path)) == (0, "", "")
    status, out, _ = said_by(str(LONG_TABLE), "--output", "-")
    assert (status, out) == (0, path.read_text())
    assert "Table craps-long-1" in out
    assert "second_puck_off" in out
    assert "second_puck_off" not in said_by("-o", "-")[1]


def test_a_picture_for_a_closed_standard_output_is_told_in_one_line() -> None:
    ended = subprocess.run(
        ["bash", "-c", '"$0" wiring -o - >&-', BOXMAN], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "boxman: standard output is closed, so there is nowhere to write to\n"


def test_the_picture_of_another_configuration_bears_another_name(tmp_path: Path) -> None:
    changed = tmp_path / "table.toml"
    changed.write_text(LONG_TABLE.read_text() + "# changed\n")
    (one,), (other,) = (
        re.findall(r"Wiring by configuration ([0-9a-f]{12})<", said_by(str(path), "-o", "-")[1])
        for path in (LONG_TABLE, changed)
    )
    assert one != other


def test_the_command_lists_the_parts() -> None:
    status, out, _ = said_by("--parts")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split() == ["count", "part", "for"]
    assert re.fullmatch(r" +16  Push button, contact closes when pressed +X3, X15", lines[4])
    assert len(lines) == 14


def test_what_cannot_be_drawn_is_told_in_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    path, output = tmp_path / "table.toml", tmp_path / "wiring.svg"
    path.write_text('[wiring]\nlid = "gpio:2"\non = "gpio:2"\n')
    status, out, error = said_by(str(path), "-o", str(output))
    assert (status, out) == (1, "")
    assert error == f"boxman: {path}:3: wiring: gpio:2 is wired twice: to lid and to on\n"
    assert not output.exists()
    status, _, error = said_by(str(tmp_path / "none.toml"), "--parts")
    assert (status, error.count("\n")) == (1, 1)
    assert "none.toml: cannot be read" in error
    status, _, error = said_by("-o", str(tmp_path / "none" / "wiring.svg"))
    assert (status, error.count("\n")) == (1, 1)
    assert "wiring.svg: cannot be written (No such file or directory)" in error
    assert said_by(str(LONG_TABLE))[0] == 2
