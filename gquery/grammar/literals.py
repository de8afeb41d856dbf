"""The written form of names, strings and numbers, in both directions."""

from __future__ import annotations

import math
import re

from gquery.errors import ParseError, Span, shortened

_INTEGERS = range(-(2**63), 2**63)
_LONGEST_INTEGER = 100  # characters; beyond, Python's own conversion is slow or refuses

_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_TO_ESCAPE = re.compile(r"[\\'\x00-\x1f\x7f-\x9f\u2028\u2029]")
_WRITTEN = {character: "\\" + letter for letter, character in _ESCAPED.items() if letter != '"'}
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


_LONGEST_SHOWN = 40


def shown(text: str) -> str:
    """`text` as a message quotes it: in back-quotes, and cut when it is long."""
    return f"`{shortened(text, _LONGEST_SHOWN)}`"


def read_name(text: str, span: Span) -> str:
    """The name that `text` writes, with or without back-quotes."""
    if not text.startswith("`"):
        return text
    if text == "``":
        raise ParseError("a name in back-quotes must not be empty", span=span)
    return text[1:-1].replace("``", "`")


def is_plain_name(name: str) -> bool:
    """Whether `name` can be written without back-quotes, keywords apart."""
    return _PLAIN_NAME.fullmatch(name) is not None


def quote_name(name: str) -> str:
    """`name` in back-quotes."""
    return "`" + name.replace("`", "``") + "`"


def read_string(text: str, span: Span) -> str:
    """The string that `text`, quotes included, writes."""

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        place = Span(span.start + match.start(), span.start + match.end())
        if code is not None:
            if int(code, 16) > 0x10FFFF:
                raise ParseError(f"{shown(match[0])} is not a Unicode character", span=place)
            return chr(int(code, 16))
        if match[3] not in _ESCAPED:
            raise ParseError(f"unknown escape {shown(match[0])} in a string", span=place, hint=_escape_hint(match[3]))
        return _ESCAPED[match[3]]

    quote = text[0]
    value = _ESCAPE.sub(character, quote + text[1:-1])[1:]
    try:
        return value.encode("utf-16", "surrogatepass").decode("utf-16")  # joins \uD83D\uDE00 into one character
    except UnicodeDecodeError:
        hint = "write the character as \\UXXXXXXXX"
        raise ParseError("half of a surrogate pair in a string", span=span, hint=hint) from None


def _escape_hint(letter: str) -> str:
    if letter == "u":
        return "four hexadecimal digits must follow `\\u`"
    if letter == "U":
        return "eight hexadecimal digits must follow `\\U`"
    return "write a backslash itself as `\\\\`"


def quote_string(value: str) -> str:
    """`value` between single quotes, with escapes for what cannot be seen."""
    return "'" + _TO_ESCAPE.sub(lambda match: _WRITTEN.get(match[0], f"\\u{ord(match[0]):04x}"), value) + "'"


def read_integer(text: str, sign: int, span: Span) -> int:
    """The integer that `text` (decimal, `0x` or `0o`) writes, times `sign`; it must fit 64 bits."""
    try:
        value = sign * int(text, 0) if len(text) <= _LONGEST_INTEGER else None
    except ValueError:
        hint = "octal numbers are written 0o17" if text.startswith("0") else None
        raise ParseError(f"{shown(text)} is not a number", span=span, hint=hint) from None
    if value is None or value not in _INTEGERS:
        raise ParseError(
            "the integer does not fit 64 bits",
            span=span,
            hint=f"integers go from {_INTEGERS.start} to {_INTEGERS.stop - 1}",
        )
    return value


def read_float(text: str, sign: int, span: Span) -> float:
    """The floating-point number that `text` writes, times `sign`; it must be finite."""
    try:
        value = sign * float(text)
    except ValueError:
        raise ParseError(f"{shown(text)} is not a number", span=span) from None
    if math.isinf(value):
        raise ParseError("the number is too large for a 64-bit float", span=span)
    return value
