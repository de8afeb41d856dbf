"""Parameter values as people type them: `--param min=30`, `:set $names ["Ann", "Bo"]`."""

from __future__ import annotations

import json


def read_literal(text: str) -> object:
    """The value of a JSON literal (`30`, `1.5`, `true`, `null`, `[1, 2]`, `"x"`) or of `'x'`; else the text itself."""
    stripped = text.strip()
    if len(stripped) >= 2 and stripped[0] == stripped[-1] == "'" and "'" not in stripped[1:-1]:
        return stripped[1:-1]
    try:
        return json.loads(stripped, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(word: str) -> object:
    """NaN and Infinity are words, not JSON."""
    raise ValueError(word)


def read_assignment(text: str) -> tuple[str, object]:
    """Name and value of `name=value`, with or without `$`. Raises ValueError when it is not of this form."""
    name, sign, value = text.partition("=")
    name = name.strip().removeprefix("$")
    if not sign or not name:
        raise ValueError(f"`{text}` is not of the form name=value")
    return name, read_literal(value)
