"""How a command says that it cannot go on."""


class CommandFailed(Exception):
    """A command that cannot go on: one line for the person who typed it."""
