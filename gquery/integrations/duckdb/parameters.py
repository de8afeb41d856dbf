"""The value of `params := ...` in SQL as Python's: a STRUCT, a MAP with text keys, or JSON text.

Both doors bring a value's leaves as the text that DuckDB writes of them, with the name of their type; `leaf` alone
says what that is in Python. A type that Cypher has no value for is refused by name, never passed on as text.
"""

from __future__ import annotations

import datetime
import json
import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa

from gquery.errors import BindError


def parameters_of(value: object) -> dict[str, Any]:
    """Query parameters from a Python value. Raises BindError when it does not hold names and values."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise unfit(f"`params` is not JSON: {error}") from error
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise unfit("`params` does not hold names and values")
    return dict(value)


def unfit(message: str, hint: str = "write params := {'name': value}, a MAP with text keys, or JSON text") -> BindError:
    return BindError(message, hint=hint)


def leaf(kind: str, text: str) -> object:
    """The Python value of DuckDB's text of a value without parts. kind: its type, such as `BIGINT`, in capitals.

    Raises BindError for a type or a value that no parameter can be.
    """
    read = _READERS.get(kind)
    if read is None:
        raise unfit(f"`params` holds a {kind}, which no parameter can be", hint="cast it to a type that Cypher has")
    try:
        return read(text)
    except (ValueError, OverflowError) as error:
        raise unfit(f"`params` holds the {kind} `{text}`, which no parameter can be: {error}", hint=_HINT) from error


_HINT = "cast it to text or to a type with a smaller range"
_BYTE = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_INTERVAL = re.compile(
    r"(?:(?P<years>-?\d+) years?)? ?(?:(?P<months>-?\d+) months?)? ?(?:(?P<days>-?\d+) days?)? ?"
    r"(?:(?P<sign>-?)(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d+)?))?"
)


def _bytes(text: str) -> bytes:
    """DuckDB writes a byte that is not plain ASCII as `\\xHH`, a backslash too."""
    return _BYTE.sub(lambda found: bytes([int(found[1], 16)]), text.encode("latin-1"))


def _duration(text: str) -> pa.MonthDayNano:
    parts = _INTERVAL.fullmatch(text)
    if parts is None:
        raise ValueError("it is written as no interval is")
    years, months, days, hours, minutes = (
        int(parts[name] or 0) for name in ("years", "months", "days", "hours", "minutes")
    )
    clock = (hours * 3600 + minutes * 60) * 10**9 + int(Decimal(parts["seconds"] or 0) * 10**9)
    return pa.MonthDayNano([years * 12 + months, days, -clock if parts["sign"] else clock])


def _datetime(text: str) -> datetime.datetime:
    whole, _, fraction = text.partition(".")
    if re.match(r"\d{6}\d*[1-9]", fraction):
        raise ValueError("it has nanoseconds")
    return datetime.datetime.fromisoformat(text if len(fraction) <= 6 else f"{whole}.{fraction[:6]}")


_READERS: dict[str, Callable[[str], object]] = {
    "NULL": lambda text: None,
    "BOOLEAN": lambda text: text.lower() == "true",
    **dict.fromkeys(
        (
            *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
            *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM"),
        ),
        int,
    ),
    "FLOAT": lambda text: struct.unpack("f", struct.pack("f", float(text)))[0],  # the text is shorter than the value
    "DOUBLE": float,
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), str),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), _datetime),
    "TIMESTAMP WITH TIME ZONE": _datetime,
    "DATE": datetime.date.fromisoformat,
    "TIME": datetime.time.fromisoformat,
    "DECIMAL": Decimal,
    "BLOB": _bytes,
    "INTERVAL": _duration,
}


def from_json(text: str, data_type: Any) -> object:
    """The Python value of what DuckDB's `to_json` made of a value. data_type: its type, a DuckDBPyType."""
    try:
        return _from_json(json.loads(text, parse_float=Decimal), data_type)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise unfit(f"`params` is no value of the type `{data_type}`: {error}") from error


def _from_json(value: Any, data_type: Any) -> object:
    """`value` with its leaves as JSON has them; a DECIMAL's digits are all there."""
    if value is None:
        return None
    kind = str(data_type.id)
    if kind in ("list", "array"):
        item = dict(data_type.children)["child"]
        return [_from_json(part, item) for part in value]
    if kind == "struct":
        return {name: _from_json(value[name], child) for name, child in data_type.children}
    if kind == "map":
        key, item = (dict(data_type.children)[part] for part in ("key", "value"))
        return {cast(Any, _from_json(name, key)): _from_json(part, item) for name, part in value.items()}
    if str(data_type) == "JSON":
        kind = "json"
    return leaf(kind.upper(), value if isinstance(value, str) else str(value))
