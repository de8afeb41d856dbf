"""Parameters as they were when the query was asked: a later change of a list or an array does not reach the query."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from operator import is_
from typing import Any

import pyarrow as pa

from gquery.errors import BindError
from gquery.stopping import Check, checked, unchecked
from gquery.values.many import NO_VALUE, columns_of, in_parts, kinds_of

_DEEPEST = 100  # levels of lists and maps; a list that holds itself has more
_DAY = 86400 * 10**9  # nanoseconds
_MICROSECOND = datetime.timedelta(microseconds=1)


def snapshot_of(parameters: object, check: Check = unchecked) -> dict[str, Any]:
    """A copy in Python's own types: NumPy, pandas and Arrow values become numbers, texts, times and lists.

    Raises BindError for what is no mapping of names, for lists and maps without end, and for text that is no Unicode.
    What no Cypher value can hold is left as it is; binding refuses it where the query uses it.
    """
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise BindError(
            f"parameters are a dict of names and values, not {type(parameters).__name__}",
            hint="such as {'age': 30} for `$age`",
        )
    return {_name(name): _plain(value, f"parameter `${name}`", 0, check) for name, value in parameters.items()}


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise BindError(f"the name of a parameter is text, not {name!r:.40}")
    return _text(name, "the name of a parameter")


def _plain(value: Any, what: str, depth: int, check: Check) -> Any:
    if depth > _DEEPEST:
        raise BindError(f"{what} is nested more than {_DEEPEST} levels deep, or holds itself")
    if type(value) in _PLAIN:
        return value
    match value:
        case None | bool() | int() | float() | bytes():
            return _scalar(value)
        case str():
            return _text(str.__str__(value), what)
        case pa.MonthDayNano():  # which is a tuple, too
            return value
        case bytearray():
            return bytes(value)
        case Mapping() if not isinstance(value, pa.Scalar):
            return {
                _key(key, what): _plain(item, what, depth + 1, check) for key, item in checked(value.items(), check)
            }
        case list() | tuple() | set() | frozenset():
            return [item for part in in_parts(value, check) for item in _each_plain(part, what, depth + 1, check)]
    return _foreign(value, what, depth, check)


def _each_plain(items: list[Any], what: str, depth: int, check: Check) -> list[Any]:
    """What `_plain` makes of each."""
    kinds = kinds_of(items)
    if kinds <= _PLAIN:
        return items
    if kinds == {str}:
        _text("".join(filter(None, items)), what)
        return items
    columns = columns_of(items) if depth <= _DEEPEST else None
    if not columns:
        return [_plain(item, what, depth, check) for item in items]
    keys = [_key(key, what) for key in columns]
    copied = [_each_plain(column, what, depth + 1, check) for column in columns.values()]
    if all(map(is_, copied, columns.values())):  # there was nothing to copy but the maps
        return list(map(dict, items))
    return [dict(zip(keys, values, strict=True)) for values in zip(*copied, strict=True)]


_PLAIN = frozenset({int, float, bool, NO_VALUE})  # of most values, of which there is nothing to copy


def _scalar(value: Any) -> Any:
    """Without subclasses: NumPy's float64 is one of float, an IntEnum one of int."""
    kinds: tuple[type, ...] = (bool, int, float, bytes)
    return next((kind(value) for kind in kinds if isinstance(value, kind)), value)


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise BindError(f"the keys of a map are text; {what} has {key!r:.40}")
    if not key:
        raise BindError(f"a key of a map is not empty; {what} has one that is")
    if "\0" in key:  # no name in a query has any
        raise BindError(f"a key of a map has no NUL byte; {what} has {key!r:.40}")
    return _text(key, what)


def _text(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BindError(f"{what} is no valid text: it has half of a surrogate pair") from None
    return text


def _foreign(value: Any, what: str, depth: int, check: Check) -> Any:
    """Values of NumPy, pandas, Polars and Arrow, and Python's durations."""
    if _is_missing(value):
        return None
    if isinstance(value, datetime.timedelta):  # pandas' know nanoseconds
        below = value.nanoseconds if hasattr(value, "nanoseconds") else 0
        return _interval(value // _MICROSECOND * 1000 + below)
    if isinstance(value, datetime.datetime):
        return _point(value, what)
    if type(value).__name__ in ("datetime64", "timedelta64"):
        return _of_numpy(value, what)
    if isinstance(value, type):
        return value
    for name in ("tolist", "to_arrow", "to_list", "as_py", "to_pylist"):
        if callable(getattr(value, name, None)):
            return _plain(_listed(value, name, what), what, depth + 1, check)
    return value


def _listed(value: Any, name: str, what: str) -> Any:
    if getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m"):
        return list(value) if value.ndim else value[()]  # NumPy's own list has numbers where they know nanoseconds
    try:
        if getattr(value, "type", None) == pa.time64("ns"):
            value = value.cast(pa.time64("us"))  # as Python's times, which would leave out what is finer
        return getattr(value, name)()
    except Exception as error:
        raise BindError(f"{what} is a {type(value).__name__} that cannot be read: {error}") from None


def _point(value: Any, what: str) -> Any:
    """A point in time as Python's own."""
    if getattr(value, "nanosecond", 0):
        raise _too_fine(what)
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def _of_numpy(value: Any, what: str) -> Any:
    """A date, a point in time or a duration, null where it is none."""
    if value.dtype == "timedelta64[ns]" and value == value:
        return _interval(int(value.astype("int64")))
    whole = value.astype(f"{type(value).__name__}[us]")
    found = whole.item()
    if isinstance(found, int):  # NumPy's answer for what Python has not
        raise BindError(f"{what} lies outside of Python's years, 1 to 9999")
    if found is not None and whole.astype(value.dtype) != value:
        raise _too_fine(what)
    if isinstance(found, datetime.datetime) and value.dtype == "datetime64[D]":
        return found.date()  # as Arrow and Python have NumPy's days
    return _interval(found // _MICROSECOND * 1000) if isinstance(found, datetime.timedelta) else found


def _too_fine(what: str) -> BindError:
    hint = "give it as a text that the query reads, as in localdatetime($at)"
    return BindError(f"{what} has nanoseconds, which Python's times do not have", hint=hint)


def _interval(nanoseconds: int) -> pa.MonthDayNano:
    """Whole days and what is left, both of one sign, as a column of durations has them."""
    days = abs(nanoseconds) // _DAY * (1 if nanoseconds > 0 else -1)
    return pa.MonthDayNano([0, days, nanoseconds - days * _DAY])


def _is_missing(value: object) -> bool:
    """pandas' NaT and NA."""
    return type(value).__name__ in ("NaTType", "NAType") and type(value).__module__.startswith("pandas")
