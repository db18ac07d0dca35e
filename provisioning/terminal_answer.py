"""What the terminal of a configuration answers on its console's interface."""

from typing import Any, Final

import httpx

from device.console.page_paths import COMMISSION_PATH
from device.settings import LOOPBACK
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration

ANSWER_S: Final = 10.0


def console_address(configuration: Configuration) -> str:
    """The address of its console, as programs on the same computer reach it."""
    return f"http://{LOOPBACK}:{configuration.port}"


def terminal_answer(address: str, what: str) -> dict[str, Any]:
    """What the terminal at `address` answers below /api.

    Raises CommandFailed where its table is commissioned, httpx.HTTPError where it does not answer, and ValueError where
    what it answers is no JSON.
    """
    response = httpx.get(f"{address}/api/{what}", timeout=ANSWER_S, trust_env=False)
    if response.headers.get("location") == COMMISSION_PATH:
        raise CommandFailed(
            f"the table at {address} is being commissioned; finish that first, or leave it, on its own page"
        )
    answer: dict[str, Any] = response.raise_for_status().json()
    return answer
