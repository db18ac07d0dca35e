"""Runs one of the terminal's own programs beside the table: niced, in a process of its own, so that no player waits."""

import asyncio
import sys


class ProgramFailed(Exception):
    """The program did not end well; the message is what it said."""


async def run_beside(module: str, *arguments: str, within_s: float | None = None) -> bytes:
    """What `python -m MODULE ARGUMENTS` writes. Ended with whoever waits for it, and after `within_s`.

    Raises ProgramFailed.
    """
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        # The caller's own folder must not stand in for a package.
        "-P",
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(within_s):
            written, complaint = await program.communicate()
    except TimeoutError:
        raise ProgramFailed(f"it was not ready within {within_s:.0f} seconds") from None
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    if program.returncode != 0:
        raise ProgramFailed(complaint.decode(errors="replace").strip() or f"it ended with {program.returncode}")
    return written
