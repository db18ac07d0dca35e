"""Alerts and broken rules in the report's language, out of what their events hold beside the journal's own words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from device.dice_control.alert_words import ALERT_PHRASES, ARTICLE_ASIDES, RULE_PHRASES, Phrases
from device.dice_control.log_rows import LogRow
from device.dice_control.report_words import Words

# The languages of `alert_words`, in its order; the journal's own is English.
_TRANSLATED = ("es", "pt", "zh-Hant")
_HUNDREDTHS = "_hundredths_mm"
# An act and its year before an article's number: "Orden de 9 de octubre de 1979, ".
_ACT = re.compile(r"^.*\b[0-9]{4}, ")


def alert_text(row: LogRow, words: Words) -> str:
    """What an alert says, of a row in which it is raised, noted or over."""
    family = row.alert_family or ""
    if said := _said(ALERT_PHRASES.get(family, ()), _alert_facts(row, family, words), words):
        return said
    text = row.text or ""
    for article in articles_of(row):
        for cited in (article, article.partition(" (")[0]):
            text = text.replace(cited, short_article(article))
    return text


def rule_text(broken: Mapping[str, Any], row: LogRow, words: Words) -> str:
    """What a broken rule says of what was done in a row."""
    key, facts = _rule(broken, row, words)
    return _said(RULE_PHRASES.get(key, ()), facts, words) or str(broken["text"])


def rule_texts(broken: Sequence[Mapping[str, Any]], row: LogRow, words: Words) -> list[str]:
    """The rules that a row breaks: each article once, and what is said of it."""
    texts: dict[str, list[str]] = {}
    for wrong in broken:
        texts.setdefault(wrong["article"], []).append(rule_text(wrong, row, words))
    return [f"{_short_text(article, words)}: {' '.join(said)}" for article, said in texts.items()]


def articles_of(row: LogRow) -> Iterator[str]:
    """The articles that a row cites, in full: those of rules that it breaks, and of what its alert tells."""
    for broken in (*row.against_rule, *row.detail.get("against_rule", ())):
        yield broken["article"]
    if "article" in row.detail:
        yield row.detail["article"]


def short_article(article: str) -> str:
    """An article without the act that it is of and what is said beside it: "IV.3"; "house" of a rule of the house."""
    return _ACT.sub("", article.partition(" (")[0]).partition(": ")[0]


def _short_text(article: str, words: Words) -> str:
    return article_text(short_article(article), words)


def article_text(article: str, words: Words) -> str:
    """An article as the report's language writes it; of a rule of the house, that it is one."""
    if article == "house":
        return words("house")
    if words.language in _TRANSLATED:
        place = _TRANSLATED.index(words.language)
        for aside, said in ARTICLE_ASIDES.items():
            article = article.replace(aside, said[place])
    return article


def difference_text(difference: Sequence[Mapping[str, Any]], words: Words) -> str:
    """What a count found that the log has not, or the other way round."""
    return "; ".join(
        words(
            "differs",
            die=said["die"],
            log=words("not_of_set") if said["log"] is None else words.of("place", said["log"]),
            seen=words("not_seen") if said["seen"] is None else words.of("place", said["seen"]),
        )
        for said in difference
    )


def slots_text(slots: Sequence[int], words: Words) -> str:
    """The slots that hold a die: "1, 2, 4"."""
    return ", ".join(map(str, slots)) or words("no_slots")


def mm_text(hundredths: int) -> str:
    """Millimetres: "19.05"."""
    return f"{hundredths // 100}.{hundredths % 100:02}"


def _said(phrases: Phrases, facts: Mapping[str, object], words: Words) -> str | None:
    if words.language not in _TRANSLATED:
        return None
    place = _TRANSLATED.index(words.language)
    for phrase in phrases:
        try:
            return phrase[place].format_map(facts)
        except KeyError:
            continue
    return None


def _alert_facts(row: LogRow, family: str, words: Words) -> dict[str, object]:
    facts = _plain(row.detail, words)
    about = row.about
    match family:
        case "reserve_unexplained" if not row.detail.get("further"):
            facts.pop("further", None)
        case "reserve_left_open" if "open_max_ms" in row.detail:
            facts["seconds"] = row.detail["open_max_ms"] // 1000
        case "set_to_replace" | "set_served_before" if "article" in row.detail:
            facts["article"] = _short_text(row.detail["article"], words)
        case "slots_changed_shut":
            facts |= {name: slots_text(row.detail.get(name) or (), words) for name in ("before", "after")}
        case "slots_disagree":
            facts["seen"] = len(row.detail.get("occupied", ()))
            if log := row.detail.get("log"):
                facts |= {"number": len(log), "dice": ", ".join(log)}
        case "against_rule":
            # Of a roll with a set that served before there is no row but the alert's.
            facts["said"] = " ".join(rule_texts(row.detail.get("against_rule", ()), about or row, words))
        case "count_differs":
            facts["difference"] = difference_text(row.detail.get("difference", ()), words)
            if about is not None and about.set_name is not None:
                facts |= {"what": words.of("what", about.what), "set": about.set_name}
    return facts


def _rule(broken: Mapping[str, Any], row: LogRow, words: Words) -> tuple[str, dict[str, object]]:
    """The key of a rule's phrases, and what is known to put into them."""
    rule, _, name = str(broken["rule"]).partition(":")
    detail: Mapping[str, Any] = broken.get("detail", {})
    facts: dict[str, object] = {} if row.set_name is None else {"set": row.set_name}
    facts |= _plain(detail, words)
    if rule in ("check", "instrument"):
        facts["name"] = words.of(rule, name)
    elif rule == "sound" and row.what == "inspected":
        rule = "sound_again"
    elif rule == "sound" and not any(move.target == "play" for move in row.moves):
        rule = "sound_brought"
    elif rule == "change":
        reason = detail.get("reason", row.reason)
        point = detail.get("point", row.point)
        facts |= {"reason": words.of("reason", str(reason)), "point": point}
        if point is None:
            rule = "change_come_out"
        else:
            rule = "change_not_fallen" if detail.get("fell") is False else "change_during_series"
    return rule, facts


def _plain(detail: Mapping[str, Any], words: Words) -> dict[str, object]:
    """The parts that can stand in a phrase: lists of names joined, hundredths of a millimetre in millimetres."""
    facts: dict[str, object] = {}
    for name, said in detail.items():
        if isinstance(said, list) and all(isinstance(part, str) for part in said):
            facts[name] = ", ".join(said)
        elif isinstance(said, int) and name.endswith(_HUNDREDTHS):
            facts[name.removesuffix(_HUNDREDTHS)] = mm_text(said)
        elif isinstance(said, str | int) and not isinstance(said, bool):
            facts[name] = said
    if isinstance(asked := facts.get("asked"), str):
        facts["asked"] = _bounds_text(asked, words)
    return facts


def _bounds_text(said: str, words: Words) -> str:
    """How many the rules ask for, as `dice_rules.Bounds.said` puts it: "6", "4 to 5", "at least 5"."""
    if said.startswith("at least "):
        return words("at_least", number=said.removeprefix("at least "))
    least, _, most = said.partition(" to ")
    return words("from_to", start=least, end=most) if most else said
