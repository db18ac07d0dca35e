"""How a command says that it cannot go on."""

from provisioning.standard_streams import visible


class CommandFailed(Exception):
    """A command that cannot go on: one line for the person who typed it."""

    def __init__(self, message: str) -> None:
        # It may repeat what was typed, or what a file or a device said.
        super().__init__(visible(message))
