"""The description of the HTTP interface (openapi.json) against the interface itself: its routes, and a real terminal.

Schemathesis makes requests out of the description, right ones and wrong ones.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import validate
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Mount, Route

from device.console.commissioning_desk import CommissioningDesk
from device.console.dice_reports import DiceReports
from device.console.http_interface import DESCRIPTION, create_app
from device.console.journal_questions import JournalQuestions
from device.console.statistics_page import StatisticsPage
from device.console.virtual_table import VirtualControls
from device.players_display import PlayersDisplay
from device.settings import Settings
from device.table_terms import TableTerms
from device.terminal import Terminal
from engine_lite import rule_sets
from tests.terminal_rig import TerminalProcess, lines_in

DOCUMENT: Final[dict[str, Any]] = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
OPERATIONS: Final = sorted(
    (path, method) for path, item in DOCUMENT["paths"].items() for method in item if method in ("get", "post")
)
# These never end.
STREAMS: Final = ("/api/stream", "/api/players/stream")
# Each of these answers by a program of its own, or looks at a rule set whole: a few requests are enough.
SLOW: Final = ("/dice/log", "/dice/status", "/dice/report", "/api/dice/fairness", "/api/statistics", "/api/open")
CHECKS: Final = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_the_description_is_openapi() -> None:
    validate(DOCUMENT)


def test_each_route_is_described_and_nothing_else_is() -> None:
    terms = TableTerms(rule_sets.load("us-vegas"), {}, 1, 5, 500)
    nothing = Path("none")
    app = create_app(
        # The routes are made without a terminal being asked anything.
        cast(Terminal, SimpleNamespace(people=None, announce=None, screens=None)),
        Settings("site", "table", terms),
        DiceReports(nothing),
        StatisticsPage(nothing),
        JournalQuestions(nothing),
        cast(PlayersDisplay, object()),
        cast(VirtualControls, object()),
        None,
        CommissioningDesk(cast(Terminal, None), nothing, "", lambda: None),
    )
    routes = set()
    for route in app.routes:
        if isinstance(route, Mount):
            routes.add((f"{route.path}/{{file}}", "get"))
            continue
        assert isinstance(route, Route)
        routes |= {(route.path, method.lower()) for method in route.methods or () if method != "HEAD"}
    assert routes == set(OPERATIONS)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A virtual table with a display for players: every route there is."""
    folder = tmp_path_factory.mktemp("described")
    configuration = folder / "table.toml"
    configuration.write_text("[players_display]\nenabled = true\n")
    with TerminalProcess(folder / "data", configuration=configuration) as process:
        yield process


class Requests:
    """Requests made out of a description, and the ids of those that were answered as done."""

    def __init__(self, described: Any) -> None:
        self._described = described
        self.done: set[str] = set()

    def send(self, path: str, method: str, mode: GenerationMode, examples: int, checks: list[Any]) -> None:
        """Send so many requests of a kind to an operation, and hold the answers against the description."""
        operation: APIOperation[Any, Any, Any, Any] = self._described[path][method.upper()]

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def requests(case: Case[Any]) -> None:
            response = case.call(timeout=120)
            if response.status_code == 200 and isinstance(case.body, dict):
                self.done.add(str(case.body.get("id")))
            case.validate_response(response, checks=checks)

        requests()


def test_no_request_breaks_the_terminal_and_only_what_was_answered_as_done_is_journaled(
    terminal: TerminalProcess,
) -> None:
    requests = Requests(schemathesis.openapi.from_url(f"{terminal.address}/openapi.json", timeout=120))
    for path, method in OPERATIONS:
        if path in STREAMS:
            continue
        few = path in SLOW
        requests.send(path, method, GenerationMode.POSITIVE, 1 if few else 4, CHECKS)
        if method == "post":
            # A body that is not as described is always refused.
            requests.send(path, method, GenerationMode.NEGATIVE, 3 if few else 6, [*CHECKS, negative_data_rejection])
    recorded = [json.loads(line)["data"] for line in lines_in(terminal.data)]
    commands = {data["command"] for data in recorded if "command" in data}
    assert commands <= requests.done
    # Else nothing was tried.
    assert commands
    assert terminal.state()["halted"] is None
