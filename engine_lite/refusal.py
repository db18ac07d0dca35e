"""The refusal: what the core answers to a step that the rules do not allow."""

CODES = (
    "bad_amount",
    "not_multiple",
    "below_min",
    "above_max",
    "not_now",
    "needs_parent",
    "unknown_kind",
    "unknown_number",
    "not_offered",
    "contract",
    "no_such_bet",
    "no_shooter_bet",
    "bad_dice",
    "nothing_to_correct",
)


class Refused(Exception):
    """A step that is refused and has changed nothing.

    `code` is one of CODES; `message` is one plain sentence for the boxman.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.code + ": " + self.message
