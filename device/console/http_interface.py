"""The HTTP interface: pages, state, its stream, and commands. Nothing here decides; the terminal does."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

from device.console.bet_interface import bet_routes, proposal_desk
from device.console.commissioning_desk import CommissioningDesk
from device.console.correction_page import comparison_route
from device.console.dice_reports import PAGES as DICE_PAGES
from device.console.dice_reports import DiceReports, ReportFailed
from device.console.journal_questions import JournalQuestions
from device.console.page_files import PAGES, REPORT_HEADERS, PageFiles, page_route
from device.console.page_words import words_route
from device.console.painted import painted_routes
from device.console.players_page import no_display_route, players_routes
from device.console.proposal_access import NotAllowed
from device.console.request_body import read_body
from device.console.requests import (
    BadRequest,
    parse_acknowledge,
    parse_bare,
    parse_dice,
    parse_open,
    parse_step,
    parse_take_back,
)
from device.console.screen_words import (
    READ_HERE,
    asked_language,
    hardware_in,
    rule_set_in,
    state_in,
)
from device.console.statistics_page import StatisticsPage
from device.console.supervisor_interface import answer_of, person_of, supervisor_routes
from device.console.virtual_routes import virtual_routes
from device.console.virtual_table import VirtualControls
from device.languages.languages import language_of
from device.languages.said import said
from device.players_display import PlayersDisplay
from device.recorder import Busy, Halted, IdReused
from device.settings import Settings
from device.terminal import Terminal
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules

HEARTBEAT_S = 1.0
DESCRIPTION = Path(__file__).with_name("openapi.json")
"""What there is on the interface, as OpenAPI."""


def create_app(
    terminal: Terminal,
    settings: Settings,
    reports: DiceReports,
    statistics: StatisticsPage,
    questions: JournalQuestions,
    players: PlayersDisplay | None,
    controls: VirtualControls | None,
    proposals_token: str | None,
    commissioning: CommissioningDesk,
) -> Starlette:
    """The application for one terminal.

    `players` is None where there is no display for them; `controls` drive the virtual table where the hardware is
    virtual. Whoever proposes bets must send `proposals_token`; None: must be on this machine.
    """
    rules = _rules_view()
    proposals = proposal_desk(terminal)
    # Catalogues are read before anyone waits for them: that of the screen, and that of the interface.
    for language in (settings.language or language_of(settings.terms.rule_set["name"]), "en"):
        said("", language, "")

    def who(request: Request) -> str | None:
        return person_of(terminal, request)

    def rules_now() -> str:
        return str(terminal.state["table"]["rules"])

    def state_view(language: str) -> dict[str, Any]:
        more = {"virtual": controls is not None, "proposals": proposals.view()}
        return state_in(terminal.state | more, language)

    async def description(_request: Request) -> Response:
        return FileResponse(DESCRIPTION, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def state(request: Request) -> Response:
        return JSONResponse(state_view(_language(request)), headers={"Cache-Control": "no-store"})

    async def stream(request: Request) -> Response:
        language = _language(request)

        async def changes() -> AsyncIterator[str]:
            version = -1
            while not terminal.closing:
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        version = await terminal.wait_for_change(version)
                except TimeoutError:
                    yield ": alive\n\n"
                else:
                    yield f"data: {json.dumps(state_view(language), separators=(',', ':'))}\n\n"

        return StreamingResponse(changes(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def rule_list(request: Request) -> Response:
        language = _language(request)
        current = _rule_set_view(terminal.rule_set)
        # Each keeps its place, whichever is in force.
        known = {view["name"]: view for view in rules} | {current["name"]: current}
        sets = [rule_set_in(view, language) for view in known.values()]
        return JSONResponse({"current": current["name"], "sets": sets})

    async def command(request: Request) -> Response:
        parsed = parse_step(await read_body(request))
        return JSONResponse(
            answer_of(await terminal.command(parsed.step, parsed.command, parsed.after_roll, person=who(request)))
        )

    async def take_back(request: Request) -> Response:
        parsed = parse_take_back(await read_body(request))
        return JSONResponse(answer_of(await terminal.take_back(parsed.correcting, parsed.command, person=who(request))))

    async def acknowledge(request: Request) -> Response:
        parsed = parse_acknowledge(await read_body(request))
        answer = await terminal.acknowledge(
            parsed.alert, parsed.raised, parsed.name, parsed.command, person=who(request)
        )
        return JSONResponse(answer_of(answer))

    async def close_table(request: Request) -> Response:
        return JSONResponse(
            answer_of(await terminal.close_table(parse_bare(await read_body(request)), person=who(request)))
        )

    async def dice(request: Request) -> Response:
        parsed = parse_dice(await read_body(request))
        return JSONResponse(answer_of(await terminal.dice_action(parsed.action, parsed.command, person=who(request))))

    def dice_page(kind: str) -> Callable[[Request], Any]:
        async def serve(request: Request) -> Response:
            asked = request.query_params
            made = await reports.page(kind, asked.get("day"), asked.get("language"))
            return Response(made, media_type="text/html; charset=utf-8", headers=REPORT_HEADERS)

        return serve

    async def dice_fairness(request: Request) -> Response:
        made = await reports.fairness(_language(request))
        return Response(made, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def no_more_bets(request: Request) -> Response:
        return JSONResponse(
            answer_of(await terminal.no_more_bets(parse_bare(await read_body(request)), person=who(request)))
        )

    async def hardware(request: Request) -> Response:
        view = hardware_in(terminal.hardware(), _language(request), rules_now())
        return JSONResponse(view, headers={"Cache-Control": "no-store"})

    async def open_table(request: Request) -> Response:
        parsed = parse_open(await read_body(request))
        return JSONResponse(answer_of(await terminal.open_table(parsed.terms, parsed.command, person=who(request))))

    routes: list[BaseRoute] = [
        page_route("/", "console.html"),
        words_route(settings, rules_now),
        Route("/openapi.json", description),
        Mount("/static", PageFiles(directory=PAGES)),
        Route("/api/state", state),
        Route("/api/stream", stream),
        Route("/api/rules", rule_list),
        Route("/api/command", command, methods=["POST"]),
        *bet_routes(terminal, proposals, proposals_token),
        *painted_routes(terminal.screens),
        Route("/api/take_back", take_back, methods=["POST"]),
        comparison_route(terminal),
        Route("/api/acknowledge", acknowledge, methods=["POST"]),
        Route("/api/dice", dice, methods=["POST"]),
        Route("/api/dice/fairness", dice_fairness),
        *(Route(f"/dice/{kind}", dice_page(kind)) for kind in DICE_PAGES),
        page_route("/supervisor", "supervisor.html"),
        *supervisor_routes(terminal, questions, settings.sign_out_after_s),
        page_route("/commission", "commission.html"),
        *commissioning.routes(),
        page_route("/statistics", "statistics.html"),
        Route("/api/statistics", statistics.view),
        Route("/api/close", close_table, methods=["POST"]),
        Route("/api/no_more_bets", no_more_bets, methods=["POST"]),
        Route("/api/hardware", hardware),
        Route("/api/open", open_table, methods=["POST"]),
    ]
    if players is not None:
        routes += [page_route("/players", "players.html"), *players_routes(terminal, players)]
    else:
        routes.append(no_display_route(settings, rules_now))
    if controls is not None:
        routes += virtual_routes(controls, rules_now)
    return Starlette(
        routes=routes,
        # A name of somebody else's that resolves to this machine gets nothing.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))],
        exception_handlers=error_answers(rules_now),
    )


def _language(request: Request) -> str:
    return asked_language(request.query_params.get("language"))


def error_answers(rules_now: Callable[[], str]) -> dict[Any, Callable[[Request, Exception], Any]]:
    """What each kind of failure answers, in the language that was asked for."""

    def words(request: Request, text: str) -> str:
        return said(text, _language(request), rules_now())

    async def bad_request(request: Request, error: Exception) -> Response:
        assert isinstance(error, BadRequest)
        return JSONResponse({"field": error.field, "message": words(request, error.message)}, status_code=400)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return JSONResponse({"refused": error.code, "message": words(request, error.message)}, status_code=409)

    async def id_reused(request: Request, _error: Exception) -> Response:
        return await bad_request(request, BadRequest("id", "was used for another action; each action needs its own"))

    async def client_gone(_request: Request, _error: Exception) -> Response:
        # Nobody is there to read it; nothing was done.
        return Response(status_code=400)

    async def halted(request: Request, error: Exception) -> Response:
        return JSONResponse({"halted": words(request, str(error))}, status_code=503)

    async def busy(request: Request, error: Exception) -> Response:
        return JSONResponse({"message": words(request, str(error))}, status_code=429)

    async def not_allowed(request: Request, error: Exception) -> Response:
        return JSONResponse({"message": words(request, str(error))}, status_code=401)

    async def report_failed(request: Request, error: Exception) -> Response:
        return JSONResponse({"message": words(request, str(error))}, status_code=500)

    return {
        BadRequest: bad_request,
        Refused: refused,
        Halted: halted,
        IdReused: id_reused,
        ClientDisconnect: client_gone,
        Busy: busy,
        NotAllowed: not_allowed,
        ReportFailed: report_failed,
    }


def _rules_view() -> list[dict[str, Any]]:
    """What the pages need to know of each rule set: its bets, options and reasons of a void throw."""
    return [_rule_set_view(rule_sets.load(name)) for name in rule_sets.NAMES]


def _rule_set_view(data: dict[str, Any]) -> dict[str, Any]:
    rules = compile_rules(data)
    return {
        "name": rules.name,
        "title": rules.title,
        "options": data["options"],
        "bets": [
            {
                "kind": kind,
                "name": rule.name,
                "numbers": [] if rule.stage == "line" else rules.numbers(kind),
                "stage": rule.stage,
            }
            for kind in rules.kinds
            if (rule := rules.one(kind)) is not None
        ],
        "warnings": rules.warnings,
        "no_roll": {reason: _reason_text(reason, said) for reason, said in data["no_roll"].items()},
    }


def _reason_text(reason: str, said: dict[str, Any]) -> str:
    """A reason as a button says it, with a warning where the regulation reads such dice."""
    text = reason.replace("_", " ").capitalize()
    return text if said["void"] else f"{text}{READ_HERE}{said['source']})"
