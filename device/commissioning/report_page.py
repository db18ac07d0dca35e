"""The report of a commissioning as a page to print on A4, with lines to sign; nothing in it comes from elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from device.commissioning.steps import Step
from device.commissioning.words import Words


def report_page(said: Mapping[str, Any], steps: Sequence[Step], words: Words) -> str:
    """The page of a signed report (`report.signed`) of these steps."""
    report = said["commissioning"]
    head = [
        ("table", report["table"]),
        ("site", report["site"]),
        ("by", ", ".join(report["by"])),
        ("begun", _moment(report["begun"])),
        ("ended", _moment(report["ended"])),
        ("program", report["program"]),
        ("configuration", report["configuration"]),
        ("pins", report["pins"]),
        ("node", report["node"] or ""),
        ("key", said["key"]),
        ("signature", said["signature"]),
    ]
    facts = "".join(
        f"<div><dt>{escape(words(name))}</dt><dd>{escape(value)}</dd></div>\n" for name, value in head if value
    )
    sign = "".join(f"<th>{escape(words(f'sign.{part}'))}</th>" for part in ("name", "signature", "date"))
    signers = "".join(
        f'<tr class="sign"><th>{escape(words(f"sign.{who}"))}</th><td></td><td></td><td></td></tr>\n'
        for who in ("technician", "supervisor")
    )
    return Template(_PAGE).substitute(
        language=words.language,
        title=escape(words("title")),
        facts=facts,
        outcome=escape(_outcome(report, words)),
        tried=_section(words("tried"), _steps(report, steps, words) + _left_out(report, words)),
        timing=_section(words("timing"), _timing(report, words)) if report["timing"] else "",
        signatures=escape(words("signatures")),
        sign=sign,
        signers=signers,
    )


def _outcome(report: Mapping[str, Any], words: Words) -> str:
    if report["passed"]:
        return words("all_passed")
    verdicts = [step["verdict"] for step in report["steps"]]
    return words("not_all", failed=verdicts.count("failed"), skipped=verdicts.count("skipped"))


def _steps(report: Mapping[str, Any], steps: Sequence[Step], words: Words) -> str:
    rows = []
    for step, told in zip(steps, report["steps"], strict=True):
        reason = words(f"reason.{told['reason']}", said=told.get("said", "")) if "reason" in told else ""
        bounce = f"{_ms(told['bounce_us'])}" if "bounce_us" in told else ""
        verdict = escape(words(told["verdict"]))
        if told["verdict"] != "passed":
            verdict = f"<strong>{verdict}</strong>"
        cells = (words.of_step(step), step.pin or "", verdict, reason, bounce, _moment(told["at"]), told["by"])
        said = [cell if cell is verdict else escape(cell) for cell in cells]
        rows.append([_unbroken(cell) if n in (1, 2, 4, 5) else cell for n, cell in enumerate(said)])
    return _table([words(name) for name in ("what", "pin", "verdict", "why", "bounce", "at", "by")], rows)


def _timing(report: Mapping[str, Any], words: Words) -> str:
    rows = [
        [
            escape(time["name"]),
            f"{time['in_force_ms']} ms",
            _ms(time["bounce_us"]),
            f"<strong>{time['proposed_ms']} ms</strong>" if time["proposed_ms"] != time["in_force_ms"] else "=",
        ]
        for time in report["timing"]
    ]
    table = _table(["", words("in_force"), words("measured"), words("proposed")], rows)
    worn = [time["replace"] for time in report["timing"] if time["replace"]]
    return table + "".join(f"<p><strong>{escape(words('replace', name=name))}</strong></p>\n" for name in worn)


def _left_out(report: Mapping[str, Any], words: Words) -> str:
    said = []
    if report["not_wired"]:
        said.append(words("not_wired", names=", ".join(report["not_wired"])))
    if all(step["step"] != "network" for step in report["steps"]):
        said.append(words("no_centre"))
    return "".join(f"<p>{escape(text)}</p>\n" for text in said)


def _unbroken(markup: str) -> str:
    return f'<span class="unbroken">{markup}</span>'


def _ms(microseconds: int) -> str:
    return f"{microseconds // 1_000}.{microseconds % 1_000 // 100} ms"


def _moment(wall: str) -> str:
    return wall[:19].replace("T", " ")


def _section(title: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2>\n{content}"


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


_PAGE = """<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8">
<title>$title</title>
<style>
@page { size: A4; margin: 12mm 12mm 15mm; @bottom-right { content: counter(page) " / " counter(pages); } }
html { font: 9.5pt/1.35 "Liberation Sans", "DejaVu Sans", Arial, "Noto Sans TC", "Noto Sans CJK TC", sans-serif; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; color: #000; background: #fff; }
dd, td { overflow-wrap: anywhere; }
.unbroken { white-space: nowrap; }
main { font-size: 8.5pt; }
h1 { font-size: 17pt; margin: 0 0 .5rem; border-bottom: .2rem solid #000; }
h2 { font-size: 11.5pt; margin: 1rem 0 .2rem; break-after: avoid; }
dl { display: flex; flex-wrap: wrap; gap: .1rem 1.6rem; margin: 0 0 .6rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .4rem; }
dt { font-weight: bold; }
dd { margin: 0; }
.outcome { border: .15rem solid #000; padding: .3rem .6rem; font-weight: bold; }
table { width: 100%; border-collapse: collapse; border-top: 1.5pt solid #000; }
tr { break-inside: avoid; border-bottom: .5pt solid #888; }
th, td { text-align: left; vertical-align: top; padding: .14rem .7rem .14rem 0; }
.signatures { break-inside: avoid; margin-top: 1.2rem; }
.signatures td { border-left: .5pt solid #888; }
.signatures .sign { height: 3.6rem; }
.signatures th { width: 18%; }
@media print { body { max-width: none; padding: 0; } }
</style>
</head>
<body>
<h1>$title</h1>
<dl>
$facts</dl>
<p class="outcome">$outcome</p>
<main>
$tried$timing</main>
<section class="signatures">
<h2>$signatures</h2>
<table>
<thead><tr><th></th>$sign</tr></thead>
<tbody>
$signers</tbody>
</table>
</section>
</body>
</html>
"""
