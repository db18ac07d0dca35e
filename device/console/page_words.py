"""What the scripts of a page import their words from."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from device.languages.languages import language_of
from device.languages.page_module import chosen_language, words_module
from device.settings import Settings


def words_route(settings: Settings, rules_now: Callable[[], str]) -> Route:
    """The module of words: in the language that a browser has chosen, else that of the table."""

    async def words(request: Request) -> Response:
        language = chosen_language(request.cookies, settings.language or language_of(rules_now()))
        module = words_module(language, rules_now())
        return Response(module, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": "no-store"})

    return Route("/words.js", words)
