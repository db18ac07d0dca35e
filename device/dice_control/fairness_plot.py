"""A bar plot of what dice showed against what chance gives, as plain SVG that stands by itself or in a page."""

from collections.abc import Sequence
from html import escape

from device.dice_control.fairness import Comparison

_WIDTH, _HEIGHT = 320, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 6, 34, 22
_INK, _BAR = "#1a1a1a", "#9aa7b4"


def bar_plot(comparison: Comparison, labels: Sequence[int], title: str, about: str) -> str:
    """One bar for each label as high as observed, a line across it where chance expects it.

    `title` names what is counted, `about` stands below it: the size of the sample and what line and bar mean.
    """
    highest = max(1.0, *comparison.observed, *comparison.expected)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    step = width / len(labels)
    base = _TOP + height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(f"{title}: {about}")}" font-family="sans-serif" fill="{_INK}">',
        f'<text x="2" y="12" font-size="12" font-weight="bold">{escape(title)}</text>',
        f'<text x="2" y="25" font-size="9">{escape(about)}</text>',
        f'<line x1="{_LEFT}" y1="{base}" x2="{_WIDTH - _RIGHT}" y2="{base}" stroke="{_INK}"/>',
    ]
    for place, (label, seen, due) in enumerate(zip(labels, comparison.observed, comparison.expected, strict=True)):
        left = _LEFT + step * place
        bar, line = height * seen / highest, base - height * due / highest
        middle = f"{left + step / 2:.1f}"
        parts.append(
            f'<rect x="{left + step * 0.16:.1f}" y="{base - bar:.1f}" width="{step * 0.68:.1f}" height="{bar:.1f}" '
            f'fill="{_BAR}"><title>{label}: {seen} ({due:.1f})</title></rect>'
            f'<line x1="{left + step * 0.06:.1f}" y1="{line:.1f}" x2="{left + step * 0.94:.1f}" y2="{line:.1f}" '
            f'stroke="{_INK}" stroke-width="2"/>'
            f'<text x="{middle}" y="{base + 11}" font-size="10" text-anchor="middle">{label}</text>'
            f'<text x="{middle}" y="{base + 20}" font-size="7.5" text-anchor="middle">{seen}</text>'
        )
    for value in (0, round(highest)):
        y = base - height * value / highest
        parts.append(f'<text x="{_LEFT - 4}" y="{y + 3:.1f}" font-size="8" text-anchor="end">{value}</text>')
    return "".join([*parts, "</svg>"])
