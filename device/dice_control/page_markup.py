"""A page to print on A4, and for a screen: its head, its tables, its lines to sign; with nothing from elsewhere."""

from collections.abc import Iterable, Sequence
from html import escape
from string import Template

from device.dice_control.dice_history import History
from device.dice_control.report_texts import SIGNERS, journal_text
from device.dice_control.report_words import Words


def cells(said: Iterable[str]) -> str:
    """A row of a table; what stands in its cells is markup."""
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in said)}</tr>\n"


def table(columns: Sequence[str], rows: str, words: Words, name: str = "", foot: str | None = None) -> str:
    """Rows of `cells` under their heads, which are words; `foot` is text."""
    head = "".join(f'<th class="{column}">{escape(words(column))}</th>' for column in columns)
    said = "" if foot is None else f'<tfoot><tr><td colspan="{len(columns)}">{escape(foot)}</td></tr></tfoot>\n'
    return f'<table class="{name}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n{said}</table>\n'


def section(title: str, content: str) -> str:
    """Markup under a heading."""
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}</section>\n"


def paragraph(text: str) -> str:
    """A paragraph of text."""
    return f"<p>{escape(text)}</p>\n"


def notice(text: str) -> str:
    """Text in a frame."""
    return f'<p class="notice">{escape(text)}</p>\n'


def strong(text: str) -> str:
    """Text in bold."""
    return f"<strong>{escape(text)}</strong>"


def unbroken(text: str) -> str:
    """Text that stays on one line."""
    return f'<span class="unbroken">{escape(text)}</span>'


def page(
    title: str,
    found: History,
    rules: str,
    facts: Sequence[tuple[str, str]],
    content: str,
    words: Words,
    *,
    across: bool,
    first: str = "",
) -> str:
    """The whole page: `rules` and `facts` are of its head, `content` and `first` (before it) are markup."""
    head = [
        (words("table"), found.table or ""),
        (words("site"), found.site or ""),
        (words("rules"), rules),
        *facts,
        (journal_text(found, words), found.last_hash),
    ]
    said = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in head if value)
    lines = "".join(f"<th>{escape(words(f'sign.{part}'))}</th>" for part in ("name", "signature", "date"))
    signers = "".join(
        f'<tr class="sign"><th>{escape(words(f"sign.{signer}"))}</th><td></td><td></td><td></td></tr>\n'
        for signer in SIGNERS
    )
    footer = f"{words(title)} · {words('table')} {found.table or ''}"
    return Template(_PAGE).substitute(
        language=words.language,
        size="A4 landscape" if across else "A4",
        footer=_css_string(footer),
        title=escape(words(title)),
        first=first,
        fonts=_FONTS,
        facts=said,
        content=content,
        signatures=escape(words("signatures")),
        lines=lines,
        signers=signers,
    )


def _css_string(text: str) -> str:
    """A string of CSS that can end neither itself nor the style it stands in."""
    return '"' + "".join(char if char.isalnum() or char in " -_.·" else f"\\{ord(char):x} " for char in text) + '"'


# Those of Chinese last, for the letters that the others have not.
_FONTS = (
    '"Liberation Sans", "DejaVu Sans", Arial, "Noto Sans TC", "Noto Sans CJK TC", "Noto Sans HK", "PingFang TC", '
    '"Microsoft JhengHei", sans-serif'
)

_PAGE = """<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
@page {
  size: $size;
  margin: 12mm 12mm 15mm;
  @bottom-left { content: $footer; font: 8pt $fonts; }
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt $fonts; }
}
* { box-sizing: border-box; }
html { font: 9.5pt/1.35 $fonts; color: #000; background: #fff; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 17pt; line-height: 1.15; margin: 0 0 .5rem; padding-bottom: .3rem; border-bottom: .2rem solid #000; }
h2 { font-size: 11.5pt; margin: 1rem 0 .2rem; break-after: avoid; }
h3 { font-size: 10pt; margin: .6rem 0 .1rem; break-after: avoid; }
p { margin: .25rem 0; }
p.notice, div.notice { margin: .3rem 0 .6rem; }
dl { display: flex; flex-wrap: wrap; gap: .1rem 1.6rem; margin: 0 0 .6rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .4rem; }
dt { font-weight: bold; }
dd { margin: 0; }
ul { margin: 0; padding-left: 1.2rem; }
.notice { border: .15rem solid #000; padding: .3rem .6rem; font-weight: bold; break-inside: avoid; }
table { width: 100%; border-collapse: collapse; border-top: 1.5pt solid #000; margin: .2rem 0 .5rem; }
thead { display: table-header-group; }
tr { break-inside: avoid; border-bottom: .5pt solid #888; }
/* No row of a table stands alone on a sheet, and none without the foot that explains it. */
tbody tr:first-child { break-after: avoid; }
tbody tr:last-child { break-before: avoid; }
tfoot { display: table-row-group; }
tfoot tr { break-before: avoid; }
thead tr { border-bottom: 1pt solid #000; }
th, td { text-align: left; vertical-align: top; padding: .14rem .7rem .14rem 0; }
td:last-child, th:last-child { padding-right: 0; }
.log { font-size: 8pt; }
.unbroken { white-space: nowrap; }
th { overflow-wrap: normal; word-break: keep-all; }
.number { text-align: right; width: 5.5rem; }
.account { break-inside: avoid; }
.account th.number { overflow-wrap: anywhere; }
.account .sum td { font-weight: bold; border-top: 1pt solid #000; }
.account .group { padding-top: .5rem; }
.set { break-inside: avoid; }
.plots { display: flex; gap: 1rem; }
figure { flex: 1 1 50%; margin: .2rem 0; max-width: 28rem; }
svg { display: block; width: 100%; font-family: inherit; }
.signatures { break-inside: avoid; margin-top: 1.2rem; }
.signatures td { border-left: .5pt solid #888; }
.signatures .sign { height: 3.6rem; }
.signatures th { width: 18%; }
@media print { body { max-width: none; padding: 0; } }
</style>
</head>
<body>
<h1>$title</h1>
$first<dl>
$facts</dl>
<main>
$content</main>
<section class="signatures">
<h2>$signatures</h2>
<table>
<thead><tr><th></th>$lines</tr></thead>
<tbody>
$signers</tbody>
</table>
</section>
</body>
</html>
"""
