"""Values as people type them: `--param min=30`, `:set $names ["Ann", "Bo"]`, `--timeout 10`."""

from __future__ import annotations

import json

from gquery.terminal.messages import UsageError


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
    """Name and value of `name=value`, with or without `$`. Raises UsageError."""
    name, sign, value = text.partition("=")
    name = name.strip().removeprefix("$")
    if not sign or not name:
        raise UsageError(f"`{text}` is not of the form name=value")
    return name, read_literal(value)


def read_count(text: str) -> int:
    """A whole number above 0. Raises UsageError."""
    if not (text.isdecimal() and text.isascii() and 0 < len(text) < 10 and int(text)):
        raise UsageError(f"`{text}` is not a whole number above 0")
    return int(text)


def read_seconds(text: str) -> float:
    """A positive number of seconds, `10` or `0.5s`. Raises UsageError."""
    try:
        value = float(text.lower().removesuffix("s"))
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(f"`{text}` is not a number of seconds", hint="such as 10 or 0.5")
    return value
