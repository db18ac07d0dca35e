"""Why the receiver refuses a request: every reason has a name, a status and a count."""

import logging
from collections import Counter
from typing import Final

from provisioning.standard_streams import visible

STATUS: Final = {
    "malformed": 400,
    "wrong_version": 400,
    "wrong_table": 400,
    "broken_chain": 400,
    "bad_expected_hash": 400,
    "bad_from": 400,
    "bad_presence": 400,
    "bad_enrolment": 400,
    "no_events": 400,
    "no_identity": 401,
    "unknown_key": 401,
    "bad_signature": 401,
    "foreign_table": 403,
    "not_loopback": 403,
    "wrong_code": 403,
    "foreign_code": 403,
    "code_used": 403,
    "code_replaced": 403,
    "code_expired": 403,
    "no_such_path": 404,
    "wrong_method": 405,
    "too_slow": 408,
    "wrong_expected_hash": 409,
    "too_large": 413,
    "wrong_content_type": 415,
    "too_many_codes": 429,
    "store_failed": 503,
    "too_busy": 503,
}
"""The status of the answer, by the reason's name."""

BROKE_OFF: Final = "broke_off"
"""The reason that is counted, and answered to nobody, when a connection ends before a request is whole."""
TOO_MANY_CONNECTIONS: Final = "too_many_connections"
"""The reason that is counted when a connection is closed at once."""
NOT_HTTP: Final = "not_http"
"""The reason that is counted for what is no HTTP."""

TEXT_MAX: Final = 300

log = logging.getLogger(__name__)


class Refused(Exception):
    """A request that is not done, and changes nothing. `reason` is one of STATUS; the text is one clear line."""

    def __init__(self, reason: str, text: str, end: tuple[int, str] | None = None) -> None:
        """`end`, `seq` and hash that the log ends with, goes with `wrong_expected_hash`."""
        # It may quote what was sent.
        super().__init__(visible(text[:TEXT_MAX]))
        self.reason: Final = reason
        self.status: Final = STATUS[reason]
        self.end: Final = end


class Refusals:
    """The count of each reason since the start. All of it runs in the event loop."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def note(self, reason: str, who: str, text: str) -> None:
        """Count a refusal and log it; `who` is the table and the address it came from, as far as they are known."""
        self._counts[reason] += 1
        log.warning("refused, %s: %s: %s", reason, who, text)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each, in the order of their names; a reason without any is left out."""
        return dict(sorted(self._counts.items()))
