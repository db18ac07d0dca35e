"""Quick bets and proposals over HTTP: what the console offers at a touch, and what other programs propose."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from device.bet_entry import press, quick_bets, repeat
from device.console.proposal_access import check_access
from device.console.request_body import read_body
from device.console.requests import parse_answer, parse_player, parse_press, parse_proposal, parse_repeat
from device.console.screen_words import asked_language
from device.console.supervisor_interface import answer_of, person_of
from device.languages.said import said
from device.origin import Origin
from device.proposals import Moment, ProposalDesk, accept, asked_for, was_accepted
from device.session import Entry, Session
from device.terminal import Terminal


def proposal_desk(terminal: Terminal) -> ProposalDesk:
    """The desk of a terminal's proposals."""

    def now() -> Moment:
        state = terminal.state
        return Moment(state["session_number"], state["roll_number"], state["open"])

    return ProposalDesk(now, terminal.announce)


def bet_routes(terminal: Terminal, desk: ProposalDesk, token: str | None) -> list[BaseRoute]:
    """The routes of quick bets and proposals; `token` is what whoever proposes must send, None: be on this machine."""

    async def offered(request: Request) -> Response:
        player = parse_player(request.query_params)
        view = await terminal.look(lambda session: quick_bets(session, player))
        language = asked_language(request.query_params.get("language"))
        rules = terminal.state["table"]["rules"]
        refused = [bet | {"message": said(bet["message"], language, rules)} for bet in view["not_allowed"]]
        return JSONResponse(view | {"not_allowed": refused}, headers={"Cache-Control": "no-store"})

    async def press_bet(request: Request) -> Response:
        parsed = parse_press(await read_body(request))
        bet = {"player": parsed.player, "kind": parsed.kind, "number": parsed.number, "by": parsed.by}

        def decide(session: Session, origin: Origin) -> list[Entry]:
            return press(session, parsed.player, parsed.kind, parsed.number, parsed.by, origin)

        return JSONResponse(
            answer_of(await terminal.do({"press": bet}, person_of(terminal, request), decide, parsed.command))
        )

    async def repeat_bets(request: Request) -> Response:
        parsed = parse_repeat(await read_body(request))

        def decide(session: Session, origin: Origin) -> list[Entry]:
            return repeat(session, parsed.player, origin)

        return JSONResponse(
            answer_of(
                await terminal.do({"repeat": parsed.player}, person_of(terminal, request), decide, parsed.command)
            )
        )

    async def propose(request: Request) -> Response:
        check_access(request, token)
        proposal = parse_proposal(await read_body(request))
        known = await terminal.look(lambda session: {"accepted": was_accepted(session, proposal.key)})
        became = desk.offer(proposal, accepted=known["accepted"])
        return JSONResponse({"source": proposal.source, "id": proposal.proposal, "state": became})

    async def accept_proposal(request: Request) -> Response:
        parsed = parse_answer(await read_body(request))

        def decide(session: Session, origin: Origin) -> list[Entry]:
            return accept(session, desk.waiting(parsed.key), origin)

        answer = await terminal.do(
            asked_for(parsed.key), person_of(terminal, request), decide, parsed.command, source=parsed.key
        )
        desk.note_accepted(parsed.key)
        return JSONResponse(answer_of(answer))

    async def refuse_proposal(request: Request) -> Response:
        desk.refuse(parse_answer(await read_body(request)).key)
        return JSONResponse({})

    return [
        Route("/api/quick_bets", offered),
        Route("/api/press", press_bet, methods=["POST"]),
        Route("/api/repeat", repeat_bets, methods=["POST"]),
        Route("/api/proposals", propose, methods=["POST"]),
        Route("/api/proposals/accept", accept_proposal, methods=["POST"]),
        Route("/api/proposals/refuse", refuse_proposal, methods=["POST"]),
    ]
