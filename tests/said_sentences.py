"""What the terminal's source can say to a person, read out of it: the sentences that the catalogues must know."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Whose texts reach a screen: refusals, alerts, notices, and what the hardware page tells.
SPEAKERS = (
    "engine_lite/placement.py",
    "engine_lite/table.py",
    "device/alert_book.py",
    "device/alert_conditions.py",
    "device/bet_entry.py",
    "device/console/commissioning_desk.py",
    "device/console/commissioning_interface.py",
    "device/corrections.py",
    "device/input_names.py",
    "device/lamps.py",
    "device/machine_events.py",
    "device/people.py",
    "device/proposals.py",
    "device/pruner.py",
    "device/recorder.py",
    "device/rule_edges.py",
    "device/screen.py",
    "device/screen_alert.py",
    "device/self_test.py",
    "device/session.py",
    "device/session_alerts.py",
    "device/session_corrections.py",
    "device/session_game.py",
    "device/sign_in_desk.py",
    "device/signal_entries.py",
    "device/start_entries.py",
    "device/table_terms.py",
    "device/terminal.py",
    "device/uplink.py",
    "device/dice_control/action_facts.py",
    "device/dice_control/dice_log.py",
    "device/dice_control/die_decisions.py",
    "device/dice_control/names.py",
    "device/dice_control/set_decisions.py",
)
# A part of a sentence, in the place of what is not known before the terminal runs.
PART = "X9"
_SENTENCE = re.compile(r"[a-z]{2}.* |.* [a-z]{2}", re.DOTALL)


def sentences(path: str) -> Iterator[tuple[int, str]]:
    """Line and words of each text of a module that reads like a sentence, or a part of one."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    yield from _texts(tree, _not_said(tree))


def _not_said(tree: ast.AST) -> set[ast.AST]:
    """Docstrings, annotations, and what goes to the program's own log or to whoever programs."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assert():
                found.add(node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log"))) | ast.Call(func=ast.Name(id="ValueError")):
                found.add(node)
            case ast.arg(annotation=annotation) if annotation is not None:
                found.add(annotation)
            case ast.AnnAssign(annotation=annotation):
                found.add(annotation)
            case ast.FunctionDef(returns=returns) if returns is not None:
                found.add(returns)
    return found


def _texts(node: ast.AST, not_said: set[ast.AST]) -> Iterator[tuple[int, str]]:
    if node in not_said:
        return
    text = _words(node)
    if text is None:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child, not_said)
        return
    if _SENTENCE.search(text):
        yield getattr(node, "lineno", 0), text
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue):
            yield from _texts(part.value, not_said)


def _words(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text.replace("{}", PART)
        case ast.JoinedStr(values=values):
            return "".join(PART if isinstance(value, ast.FormattedValue) else str(_words(value)) for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _words(left), _words(right)
            return None if one is None and other is None else (one or PART) + (other or PART)
    return None
