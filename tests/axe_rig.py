"""What axe-core finds wrong with a page: contrasts, names of controls, roles, languages (WCAG 2.1 A and AA)."""

import json
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_OPTIONS: Final = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "resultTypes": ["violations"],
    # It is a terminal's screen: what a browser's own window would let one do is no part of it.
    "rules": {"meta-viewport": {"enabled": False}},
}
_RUN: Final = f"""async () => {{
  // What is on its way is judged where it comes to.
  const passing = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(passing.map(({{ finished }}) => finished));
  const found = await axe.run(document, {json.dumps(_OPTIONS)});
  return found.violations.flatMap(({{ id, nodes }}) =>
    nodes.map(({{ target, any, all, none }}) =>
      `${{id}}: ${{target.join(" ")}}: ${{[...any, ...all, ...none].map(({{ message }}) => message).join("; ")}}`));
}}"""
_SCRIPT: Final = Axe().axe_script


def axe_faults(page: Page) -> list[str]:
    """The faults of what the page shows now, in words."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(_SCRIPT)
    faults: list[str] = page.evaluate(_RUN)
    return faults
