"""JSON written the same, byte for byte, on every runtime: keys sorted, no blanks, whole numbers only."""


def json_text(value: object) -> str:
    """The JSON of None, booleans, whole numbers, texts, lists and dicts with text keys.

    Raises TypeError for anything else; a float has no place on the path of money.
    """
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is int:
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([json_text(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ",".join([_quoted(key) + ":" + json_text(value[key]) for key in sorted(value)]) + "}"
    raise TypeError("a " + type(value).__name__ + " has no place in this JSON")


def _quoted(text: str) -> str:
    out = []
    for character in text:
        code = ord(character)
        if character in '"\\':
            out.append("\\" + character)
        elif code < 32:
            out.append("\\u" + "%04x" % code)
        else:
            out.append(character)
    return '"' + "".join(out) + '"'
