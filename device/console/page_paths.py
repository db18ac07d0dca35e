"""Where pages are that programs without a web server ask about as well."""

from typing import Final

COMMISSION_PATH: Final = "/commission"
"""Where everything is sent to that is asked for while a table is commissioned."""
