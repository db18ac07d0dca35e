"""How large the browser shows the pages on the table's own screen, so that a finger's 9 mm are 9 mm.

Pages are made for 800 x 480 on seven inches. A display of up to 1280 x 800 is taken for one of seven inches as well,
which is what stands at a table; its pages are laid out for 800 x 480 and shown as much larger.
(--force-device-scale-factor does not do it: under cage a page is then laid out for all pixels, and reduced.)
"""

import json
import math
from pathlib import Path
from typing import Final

_MADE_FOR: Final = (800, 480)
_SEVEN_INCHES_MAX: Final = (1280, 800)
_DRM: Final = Path("/sys/class/drm")


def display_size(drm: Path = _DRM) -> tuple[int, int] | None:
    """Width and height, in pixels, of the first display that is connected, lying; None where none tells."""
    for connector in sorted(drm.glob("card*-*")):
        try:
            connected = (connector / "status").read_text(encoding="ascii").strip() == "connected"
            modes = (connector / "modes").read_text(encoding="ascii").split()
            # The first one is the display's own. An interlaced one ends in "i".
            sides = sorted(int(side.rstrip("i")) for side in modes[0].split("x")) if connected and modes else []
        except (OSError, ValueError):
            continue
        if len(sides) == 2:
            return sides[1], sides[0]
    return None


def zoom_of(size: tuple[int, int] | None) -> float:
    """As much as leaves the pages their room, such as 1.5; 1 where the display is large, or not known."""
    if size is None or size[0] > _SEVEN_INCHES_MAX[0] or size[1] > _SEVEN_INCHES_MAX[1]:
        return 1.0
    return max(1.0, min(size[0] / _MADE_FOR[0], size[1] / _MADE_FOR[1]))


def write_zoom(profile: Path, zoom: float) -> None:
    """Have a browser that starts with this new profile show every page so much larger. Raises OSError.

    Chromium counts in levels of 1.2 each ("partition.default_zoom_level" in its Preferences).
    """
    level = math.log(zoom) / math.log(1.2)
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True, exist_ok=True)
    preferences.write_text(json.dumps({"partition": {"default_zoom_level": {"x": level}}}), encoding="utf-8")
