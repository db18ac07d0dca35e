"""Signing in with a PIN, and what only a supervisor does: corrections, limits, and looking into the journal.

Whoever signs in is known by two keys: a cookie that no script can read, and a word that only the page where they signed
in sends along. Neither is ever logged.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from device import roll_history, session_corrections
from device.console.journal_questions import JournalQuestions
from device.console.request_body import read_body
from device.console.requests import (
    BadRequest,
    parse_adjustment,
    parse_correction,
    parse_filter,
    parse_limits,
    parse_look,
    parse_number,
    parse_sign_in,
)
from device.console.screen_words import asked_language
from device.languages.said import said as in_words
from device.origin import Origin
from device.session import Entry, Session
from device.sign_in_desk import Keys
from device.terminal import Terminal

COOKIE: Final = "boxman_sign_in"
PAGE_HEADER: Final = "X-Boxman-Page"
_FRESH: Final = {"Cache-Control": "no-store"}
_EXPORTS: Final = {"events": ("jsonl", "application/jsonl"), "scenario": ("json", "application/json")}

Handler = Callable[[Request], Awaitable[Response]]


def keys_of(request: Request) -> Keys | None:
    """The keys that a request carries; None: not both of them."""
    token, page = request.cookies.get(COOKIE), request.headers.get(PAGE_HEADER)
    return None if not token or not page else Keys(token, page)


def person_of(terminal: Terminal, request: Request) -> str | None:
    """Who has signed in on the page that a request comes from; None: nobody."""
    return terminal.people.person(keys_of(request))


def answer_of(answer: dict[str, Any]) -> dict[str, Any]:
    """What a page is told of a command that was done."""
    return {name: answer[name] for name in ("seq", "results", "point", "repeated")}


def supervisor_routes(terminal: Terminal, questions: JournalQuestions, idle_s: int) -> list[BaseRoute]:
    """The routes of signing in and of the supervisor's pages, but for the page itself."""
    return [*_sign_in_routes(terminal, idle_s), *_correction_routes(terminal), *_journal_routes(terminal, questions)]


def _sign_in_routes(terminal: Terminal, idle_s: int) -> list[BaseRoute]:
    people = terminal.people

    async def who(request: Request) -> Response:
        return JSONResponse(people.view(keys_of(request)) | {"idle_s": idle_s}, headers=_FRESH)

    async def sign_in(request: Request) -> Response:
        asked = parse_sign_in(await read_body(request))
        keys, name, role = await people.sign_in(asked.name, asked.pin)
        answer = JSONResponse({"name": name, "role": role, "page": keys.page}, headers=_FRESH)
        answer.set_cookie(COOKIE, keys.token, httponly=True, samesite="strict", path="/")
        return answer

    async def sign_out(request: Request) -> Response:
        await read_body(request)
        if (keys := keys_of(request)) is not None:
            await people.sign_out(keys)
        answer = JSONResponse({}, headers=_FRESH)
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer

    async def still_here(request: Request) -> Response:
        await read_body(request)
        return JSONResponse({"name": people.still_here(keys_of(request))}, headers=_FRESH)

    return [
        Route("/api/people", who),
        Route("/api/sign_in", sign_in, methods=["POST"]),
        Route("/api/sign_out", sign_out, methods=["POST"]),
        Route("/api/still_here", still_here, methods=["POST"]),
    ]


def _correction_routes(terminal: Terminal) -> list[BaseRoute]:
    people = terminal.people

    def supervisor(request: Request) -> str:
        return people.require(keys_of(request), supervisor=True)

    async def rolls(request: Request) -> Response:
        supervisor(request)
        return JSONResponse(await terminal.look(_kept_rolls), headers=_FRESH)

    async def look(request: Request) -> Response:
        asked = parse_look(await read_body(request))
        supervisor(request)
        said = await terminal.look(lambda game: session_corrections.look_at_correction(game, asked.number, asked.dice))
        if said["blocked"] is not None:
            language = asked_language(request.query_params.get("language"))
            message = in_words(said["blocked"]["message"], language, terminal.state["table"]["rules"])
            said["blocked"]["message"] = message
        return JSONResponse(said, headers=_FRESH)

    async def correct(request: Request) -> Response:
        asked = parse_correction(await read_body(request))
        said = {"number": asked.number, "dice": list(asked.dice), "reason": asked.reason}

        def decide(game: Session, origin: Origin) -> list[Entry]:
            return session_corrections.correct_roll(game, asked.number, asked.dice, asked.reason, asked.at, origin)

        return JSONResponse(answer_of(await terminal.do(said, supervisor(request), decide, asked.command)))

    async def adjust(request: Request) -> Response:
        asked = parse_adjustment(await read_body(request))
        said = {"number": asked.number, "adjustments": asked.adjustments, "reason": asked.reason}

        def decide(game: Session, origin: Origin) -> list[Entry]:
            return session_corrections.adjust_settlement(
                game, asked.number, asked.adjustments, asked.reason, asked.at, origin
            )

        return JSONResponse(answer_of(await terminal.do(said, supervisor(request), decide, asked.command)))

    async def limits(request: Request) -> Response:
        asked = parse_limits(await read_body(request))
        said = {"min": asked.minimum, "max": asked.maximum}

        def decide(game: Session, origin: Origin) -> list[Entry]:
            return session_corrections.change_limits(game, asked.minimum, asked.maximum, origin)

        return JSONResponse(answer_of(await terminal.do(said, supervisor(request), decide, asked.command)))

    return [
        Route("/api/rolls", rolls),
        Route("/api/correction/look", look, methods=["POST"]),
        Route("/api/correction", correct, methods=["POST"]),
        Route("/api/adjustment", adjust, methods=["POST"]),
        Route("/api/limits", limits, methods=["POST"]),
    ]


def _kept_rolls(session: Session) -> dict[str, Any]:
    """The rolls that may be corrected, the latest first, and the game that they are of."""
    rolls = [
        {"number": roll.number, "seq": roll.seq, "dice": list(roll.dice), "point_before": roll.before[0]}
        for roll in reversed(session.history)
    ]
    return {"rolls": rolls, "at": session.game_seq, "most": roll_history.ROLLS_MAX}


def _journal_routes(terminal: Terminal, questions: JournalQuestions) -> list[BaseRoute]:
    def signed_in(request: Request) -> None:
        terminal.people.require(keys_of(request), supervisor=False)

    async def answered(question: dict[str, Any]) -> Response:
        return Response(await questions.answer(question), media_type="application/json", headers=_FRESH)

    async def search(request: Request) -> Response:
        wanted, before = parse_filter(request.query_params)
        signed_in(request)
        return await answered({"ask": "search", "filter": vars(wanted), "before": before})

    async def sessions(request: Request) -> Response:
        asked = request.query_params
        signed_in(request)
        before, number = None, terminal.state["session_number"]
        if "before" in asked:
            before, number = parse_number(asked, "before"), parse_number(asked, "number")
        return await answered({"ask": "sessions", "before": before, "number": number})

    async def shooters(request: Request) -> Response:
        opened_seq = parse_number(request.query_params, "opened")
        signed_in(request)
        return await answered({"ask": "shooters", "opened_seq": opened_seq})

    async def settle_again(request: Request) -> Response:
        seq = parse_number(request.query_params, "seq")
        signed_in(request)
        return await answered({"ask": "settle_again", "seq": seq})

    async def export(request: Request) -> Response:
        asked = request.query_params
        opened_seq, form = parse_number(asked, "opened"), asked.get("form", "")
        if form not in _EXPORTS:
            raise BadRequest("form", "must be one of " + ", ".join(_EXPORTS))
        signed_in(request)
        ending, media_type = _EXPORTS[form]
        name = f"{terminal.state['table']['table']}-{opened_seq}.{ending}"
        made = await questions.answer({"ask": form, "opened_seq": opened_seq})
        headers = _FRESH | {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(made, media_type=media_type, headers=headers)

    return [
        Route("/api/journal/search", search),
        Route("/api/journal/sessions", sessions),
        Route("/api/journal/shooters", shooters),
        Route("/api/journal/settle_again", settle_again),
        Route("/api/journal/export", export),
    ]
