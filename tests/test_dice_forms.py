"""What the record tells stands alike in text, CSV and page, and in the table's language."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest

from provisioning.command_line import main
from tests.dice_journal import SERIALS, DiceJournal, local_zone, write_journal

DAY = "2026-11-29"
Told = Callable[..., str]


@pytest.fixture(autouse=True)
def in_madrid() -> Iterator[None]:
    with local_zone("Europe/Madrid"):
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day under es-1979 on which much went wrong; the journal's events are numbered as the tests name them."""
    journal = DiceJournal("es-1979", "2026-11-29T18:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive("A", serials=SERIALS, house_mark="CM", edge_hundredths_mm=2000)
    journal.inspect(set="A")
    journal.lid(False, initial=True)
    journal.take("slots", {"occupied": [1, 2, 3, 4], "initial": True, "lid": "shut"})
    journal.wait(60)
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    journal.events.append(("input_unavailable", {}))
    journal.wait(90)
    journal.append("input_available", {"name": "lid"})
    journal.events.append(("input_available", {}))
    journal.lid(False, initial=True)
    changed = journal.take("slots", {"occupied": [1, 2, 3], "initial": False, "lid": "shut"})
    said = {
        "event": changed,
        "last": changed,
        "changes": 1,
        "before": [1, 2, 3, 4],
        "after": [1, 2, 3],
        "initial": False,
    }
    journal.raise_alert(f"slots_changed_shut:{changed}", "The slots changed.", **said)
    journal.wait(10)
    opening = journal.lid(True)
    journal.do("explain", opening=opening, reason="inspector_request", as_="supervisor", done_by="Eva")
    journal.wait(20)
    journal.lid(False)
    journal.do("count", set="A", count="check", seen={"store": SERIALS[1:]})
    journal.do("missing", set="A", dice=SERIALS[:1])
    return write_journal(tmp_path_factory.mktemp("data"), journal.journal)


@pytest.fixture(params=["", "--csv", "--html"])
def told(request: pytest.FixtureRequest, data: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """What `boxman dice` says in one of its forms, on one line."""

    def told(*arguments: str) -> str:
        form = [request.param] if request.param else []
        assert main(["dice", *arguments, *form, "--data", str(data)]) in (0, 1)
        text = unescape(re.sub(r"<(?!title)[^>]*>", " ", capsys.readouterr().out))
        return " ".join(text.replace('","', " ").replace(",", " ").replace('"', " ").split())

    return told


def plain(said: str) -> str:
    """As `told` has it: commas are left out, since they part cells too."""
    return " ".join(said.replace(",", " ").split())


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        (
            "en",
            [
                "NOT IN ORDER",
                "Missing, set A: A1",
                "Check count of set A (event 16): die A1: by the log in the store, seen nowhere",
                "The reserve changed under a shut lid: 1 (event 11)",
                "The reserve was out of sight: 1 time, listed below",
                "The moves add up: 0 + 6 − 0 = 6; but the dice do not reconcile, see above.",
                "Bold, red, mark CM, edge 20.00 mm",
                "all sound",
                "checked: pips flush, the house's mark, numbered, faces polished, one colour",
                "no instruments",
                "could not be read: the switch of the lid",
                "0:01:30",
                "Reserve closed",
                "slots with a die: 1, 2, 3, 4 > 1, 2, 3",
                "inspector's request (Eva, as supervisor)",
                "explained before it was shut; open for 20.0 s more; nothing recorded afterwards",
            ],
        ),
        (
            "es",
            [
                "NO ESTÁ EN ORDEN",
                "Desaparecidos, juego A: A1",
                "Recuento de control del juego A (evento 16): dado A1: según el registro en el almacén",
                "La reserva cambió con la tapa cerrada: 1 (evento 11)",
                "La reserva estuvo sin vigilancia: 1 vez, abajo",
                "Los movimientos suman: 0 + 6 − 0 = 6; los dados no concilian, véase arriba.",
                "todos conformes",
                "comprobado: puntos no ahuecados, marca de la casa, numerados",
                "no se podía leer: el interruptor de la tapa",
                "petición del inspector (Eva, como jefe de mesa)",
            ],
        ),
    ],
)
def test_the_day_s_report_says_the_same_in_every_form(told: Told, language: str, parts: list[str]) -> None:
    text = told("report", "--day", DAY, "--language", language)
    assert [part for part in parts if plain(part) not in text] == []


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        (
            "en",
            [
                "Table opened",
                "session 1, rule set es-1979",
                "Reserve out of sight",
                "seen when its switch could be read again",
                "RESERVE CHANGED UNDER A SHUT LID",
                "The slots changed.",
                "as supervisor",
            ],
        ),
        (
            "pt",
            [
                "Mesa aberta",
                "sessão 1, regulamento es-1979",
                "Reserva sem vigilância",
                "visto ao poder ler-se de novo o interruptor",
                "A RESERVA MUDOU COM A TAMPA FECHADA",
                "Os dados da reserva mudaram com a tampa fechada (evento 11): lugares 1, 2, 3, 4 > 1, 2, 3.",
                "como supervisor",
            ],
        ),
    ],
)
def test_the_log_says_the_same_in_every_form(told: Told, language: str, parts: list[str]) -> None:
    text = told("log", "--language", language)
    assert [part for part in parts if plain(part) not in text] == []


@pytest.mark.parametrize("form", [(), ("--html",)])
def test_the_status_tells_alerts_in_the_table_s_language(
    data: Path, capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    assert main(["dice", "status", "--data", str(data), *form]) == 0
    text = " ".join(unescape(capsys.readouterr().out).split())
    assert "Los dados de la reserva cambiaron con la tapa cerrada (evento 11)" in text
    assert "The slots changed." not in text
