"""Ending tasks for good.

`asyncio.wait_for` of Python 3.11, by which nats-py waits for all its answers, forgets a cancellation that comes with
the answer: whoever cancelled once and waited would wait for ever.
"""

import asyncio
from typing import Any, Final

AGAIN_S: Final = 0.1


async def end_tasks(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel tasks as often as it takes, until all of them have ended; how they end is nobody's concern any more."""
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)


def raise_if_cancelled() -> None:
    """Raises CancelledError when the current task was cancelled, and forgot it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
