"""Columns of text parsed as declared, or as they look."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.arrays import pc, to_numpy
from gquery.storage.load.rejects import NO_ROWS, Rows
from gquery.storage.sorting import distinct

_FEW = 1000
_ZONE = r"(?i)(z|[+-]\d\d:?\d\d|:\d\d(\.\d+)?[+-]\d\d)$"
_PLAIN_FLOAT = r"^-?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,3})?$"  # not the zip code 01234, not 20 digits
_NANOSECONDS = r":\d\d\.\d{7,9}($|\D)"
_NO_NUMBER = r"(?i)^(nan|[+-]?inf(inity)?)$"  # beside numbers only: alone it may be a word
_BEGINS_TYPED = r"(?i)^[+-]?\.?\d|^(true|false)$"

# What a text must look like to be of a type; what fits may still be out of range.
_SHAPES = {
    pa.int64(): r"^[+-]?\d+$",
    pa.float64(): r"(?i)^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?inf(inity)?$|^nan$",
    pa.bool_(): r"(?i)^(true|false|1|0)$",
    pa.date32(): r"^\d{4}-\d\d-\d\d$",
    pa.timestamp("us"): r"^\d{4}-\d\d-\d\d",
    pa.timestamp("us", "UTC"): r"^\d{4}-\d\d-\d\d",
    pa.timestamp("ns"): r"^\d{4}-\d\d-\d\d",
    pa.timestamp("ns", "UTC"): r"^\d{4}-\d\d-\d\d",
    pa.time64("us"): r"^\d\d:\d\d",
    pa.time64("ns"): r"^\d\d:\d\d",
}
_FINER = {
    pa.timestamp("us"): pa.timestamp("ns"),
    pa.timestamp("us", "UTC"): pa.timestamp("ns", "UTC"),
    pa.time64("us"): pa.time64("ns"),
}

TYPE_WORDS = {
    pa.int64(): "a 64-bit integer",
    pa.float64(): "a number",
    pa.bool_(): "true or false",
    pa.date32(): "a date (YYYY-MM-DD)",
    pa.timestamp("us"): "a date and time (YYYY-MM-DDThh:mm:ss)",
    pa.timestamp("us", "UTC"): "a date and time (YYYY-MM-DDThh:mm:ssZ)",
    pa.timestamp("ns"): "a date and time with nanoseconds (YYYY-MM-DDThh:mm:ss of the years 1678 to 2261)",
    pa.timestamp("ns", "UTC"): "a date and time with nanoseconds (YYYY-MM-DDThh:mm:ssZ of the years 1678 to 2261)",
    pa.time64("us"): "a time (hh:mm:ss)",
    pa.time64("ns"): "a time (hh:mm:ss)",
}


def parse(text: pa.ChunkedArray, type: pa.DataType) -> tuple[pa.ChunkedArray, Rows]:
    """Text as values of a declared type, in nanoseconds where it has some, null where it is none; and the rows where
    that is so, int64[k]."""
    if type == pa.string():
        return text, NO_ROWS
    values = _cast_all(text, type)
    if values is not None:
        return values, NO_ROWS
    type = _exact(text, type)
    return _by_chunk(text, type, lambda chunk: _parse_chunk(chunk, type))


def _exact(text: pa.ChunkedArray, type: pa.DataType) -> pa.DataType:
    """The type with nanoseconds, where some of the text has them."""
    finer = in_nanoseconds(type)
    return finer if finer != type and pc.any(pc.match_substring_regex(text, _NANOSECONDS)).as_py() else type


def in_nanoseconds(type: pa.DataType) -> pa.DataType:
    """The type of the same times in nanoseconds; of what has none, itself."""
    return _FINER.get(type, type)


def _parse_chunk(text: pa.Array, type: pa.DataType) -> tuple[pa.Array, Rows]:
    trimmed = pc.utf8_trim_whitespace(text)
    if type in (pa.int64(), pa.float64()):
        trimmed = pc.replace_substring_regex(trimmed, r"^\+(\d)", r"\1")
    shaped = pc.match_substring_regex(trimmed, _SHAPES[type])
    candidates = pc.if_else(shaped, trimmed, pa.scalar(None, pa.string()))
    castable = np.ones(len(text), np.bool_)
    castable[_uncastable(candidates, type, 0)] = False
    values = _cast(pc.if_else(pa.array(castable), candidates, pa.scalar(None, pa.string())), type)
    return values, np.flatnonzero(pc.and_(text.is_valid(), values.is_null()).to_numpy(zero_copy_only=False))


def parse_lists(text: pa.ChunkedArray, item: pa.DataType, delimiter: str) -> tuple[pa.ChunkedArray, Rows]:
    """Text such as `a;b;c` as lists; an empty text is an empty list. Second the rows with an item that is none."""
    item = _exact(text, item)
    return _by_chunk(text, pa.list_(item), lambda chunk: _parse_list_chunk(chunk, item, delimiter))


def _parse_list_chunk(text: pa.Array, item: pa.DataType, delimiter: str) -> tuple[pa.Array, Rows]:
    lists = pc.split_pattern(text, delimiter)
    parents = pc.list_parent_indices(lists).to_numpy()
    values, bad = parse(pa.chunked_array([pc.list_flatten(lists)]), item)
    keep = ~pc.fill_null(pc.equal(text, ""), False).to_numpy(zero_copy_only=False)[parents]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(parents[keep], minlength=len(text)))])
    kept = pa.concat_arrays([pa.array([], item), *values.filter(pa.array(keep)).chunks])
    result = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), kept, mask=text.is_null())
    return result, distinct(parents[bad[keep[bad]]]).astype(np.int64)


def _by_chunk(
    text: pa.ChunkedArray, type: pa.DataType, parse_chunk: Callable[[pa.Array], tuple[pa.Array, Rows]]
) -> tuple[pa.ChunkedArray, Rows]:
    arrays, bad, first = [], [NO_ROWS], 0
    for chunk in text.chunks:
        values, rows = parse_chunk(chunk)
        arrays.append(values)
        bad.append(rows + first)
        first += len(chunk)
    return pa.chunked_array(arrays, type), np.concatenate(bad)


def infer(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as the narrowest of integer, float, boolean, date, date and time that all of it fits, else as it is.

    An integer must be written as it would be printed: `007` and `99999999999999999999` stay text, and so does `1e400`.
    `nan` and `inf` are floats beside a number.
    """
    if text.null_count == len(text):
        return pa.chunked_array([pa.nulls(len(text))])
    attempts: tuple[tuple[pa.DataType, Callable[[pa.ChunkedArray], bool]], ...] = (
        (pa.bool_(), lambda _: True),
        (pa.float64(), lambda t: bool(pc.all(_plain_floats(t)).as_py())),
        (pa.date32(), lambda _: True),
        (pa.timestamp("us"), lambda _: True),
        (pa.timestamp("us", "UTC"), lambda t: bool(pc.all(pc.match_substring_regex(t, _ZONE)).as_py())),
        (pa.timestamp("ns"), lambda _: True),
        (pa.timestamp("ns", "UTC"), lambda t: bool(pc.all(pc.match_substring_regex(t, _ZONE)).as_py())),
    )
    if _has_outer_blanks(text.slice(0, _FEW)):  # as after the comma of `1, 2`
        values = infer(pc.utf8_trim_whitespace(text))
        return text if values.type == pa.string() else values
    integers = canonical_integers(text)
    if integers is not None:
        return integers
    for type, fits in attempts:
        values = _cast_all(text, type)
        if values is not None and fits(text):
            return values
    return text


def type_of_most(text: pa.ChunkedArray, share: float = 0.5) -> pa.DataType | None:
    """The type that at least this share of the values present would have; None when that is text. Takes a sample."""
    rows = distinct(np.linspace(0, len(text) - 1, min(len(text), _FEW)).astype(np.int64))
    sample = text.take(pa.array(rows)).drop_null()
    enough = share * len(sample)
    if len(sample) == 0 or _true(pc.match_substring_regex(sample, _BEGINS_TYPED)) < enough:
        return None
    numbers = _true(fitting(sample, pa.float64()))
    if numbers >= enough:
        return pa.int64() if _true(fitting(sample, pa.int64())) == numbers else pa.float64()
    types = (pa.bool_(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))
    return next((type for type in types if _true(fitting(sample, type)) >= enough), None)


def fitting(text: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    """Which texts `infer` would let pass as values of a type; null where there is none."""
    if type == pa.int64():
        return pc.if_else(text.is_valid(), integers_where_canonical(text).is_valid(), None)
    if type == pa.bool_():
        return pc.match_substring_regex(text, r"(?i)^(true|false)$")
    if type == pa.float64():
        held = pc.if_else(text.is_valid(), parse(text, type)[0].is_valid(), None)
        return pc.and_(_plain_floats(text), held)
    as_written = pc.equal(text, pc.utf8_trim_whitespace(text))
    if type == pa.timestamp("us", "UTC"):
        as_written = pc.and_(as_written, pc.match_substring_regex(text, _ZONE))
    return pc.and_(as_written, pc.if_else(text.is_valid(), parse(text, type)[0].is_valid(), None))


def _plain_floats(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which texts are written as numbers; where one is, `nan` and `inf` are numbers, too."""
    plain = pc.match_substring_regex(text, _PLAIN_FLOAT)
    if pc.all(plain).as_py() or not pc.any(plain).as_py():
        return plain
    return pc.or_(plain, pc.match_substring_regex(text, _NO_NUMBER))


def _true(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)


def canonical_integers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Text as int64 when every value is an integer written as it would be printed, else None."""
    numbers = _cast_all(text, pa.int64())
    if numbers is None:
        return None
    return numbers if _as_printed(numbers, text) else None


def _as_printed(numbers: pa.ChunkedArray, text: pa.ChunkedArray) -> bool:
    """Whether all integers are written as they would be printed: then there are just as many digits, and no hexadecimal
    ones; every other way to write one takes more. That is quicker to see than printing them."""
    known = to_numpy(numbers.drop_null() if numbers.null_count else numbers)
    if not len(known):
        return True
    if any(_has_letters(chunk) for chunk in text.chunks):
        return False
    least, greatest = int(known.min()), int(known.max())
    marks = len(known) + int(np.count_nonzero(known < 0))
    for bound in itertools.takewhile(lambda power: power <= greatest, _POWERS):
        marks += int(np.count_nonzero(known >= bound))
    for bound in itertools.takewhile(lambda power: -power >= least, _POWERS):
        marks += int(np.count_nonzero(known <= -bound))
    return bool(pc.sum(pc.binary_length(text)).as_py() == marks)


_POWERS = [10**power for power in range(1, 19)]


def _has_letters(text: pa.StringArray) -> bool:
    """Whether a byte stands behind the digits; a null may still have the bytes of the word that stands for it."""
    text = text.drop_null()
    _, offsets, data = text.buffers()
    if not len(text) or data is None or not data.size:
        return False
    begin, end = np.frombuffer(offsets, np.int32)[text.offset :][: len(text) + 1][[0, -1]]
    letters = np.frombuffer(data, np.uint8)[begin:end]
    return bool(len(letters) and letters.max() > ord("9"))


def integers_where_canonical(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Like `canonical_integers`, but null where a value is no such integer."""
    whole = canonical_integers(text)
    if whole is not None:
        return whole
    numbers, _ = parse(text, pa.int64())
    same = pc.equal(numbers.cast(pa.string()), text)
    return pc.if_else(pc.fill_null(same, False), numbers, pa.scalar(None, pa.int64()))


def _cast_all(text: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray | None:
    """The values if every text fits, else None. A few are tried first: a cast that fails is slow."""
    try:
        _cast(text.slice(0, _FEW), type)
        return _cast(text, type)
    except pa.ArrowInvalid:
        return None


def _cast(text: pa.Array | pa.ChunkedArray, type: pa.DataType) -> Any:
    """A cast that raises ArrowInvalid for the first text that does not fit, as a number that no float holds."""
    if pa.types.is_time(type):
        return pc.binary_join_element_wise("1970-01-01T", text, "").cast(pa.timestamp(type.unit)).cast(type)
    if pa.types.is_timestamp(type) and type.tz:
        zoned = pc.match_substring_regex(text, _ZONE)
        return pc.if_else(zoned, text, pc.binary_join_element_wise(text, "Z", "")).cast(type)
    values = text.cast(type)
    if type == pa.float64() and pc.any(endless := pc.is_inf(values)).as_py():
        written = text.filter(endless)
        if pc.any(pc.match_substring_regex(written, r"\d")).as_py():
            raise pa.ArrowInvalid("a number is too large for a 64-bit float")
    return values


def _uncastable(text: pa.Array, type: pa.DataType, first: int) -> list[int]:
    """Positions that cannot be cast, found by halving."""
    try:
        _cast(text, type)
    except pa.ArrowInvalid:
        if len(text) == 1:
            return [first]
        half = len(text) // 2
        return _uncastable(text[:half], type, first) + _uncastable(text[half:], type, first + half)
    return []


def ids_of_text(text: pa.ChunkedArray, type: pa.DataType | None = None) -> pa.ChunkedArray:
    """Ids read from text: as declared, else int64 when all are such integers, else strings. An empty text is a missing
    id, and so is one that is no integer where these are declared."""
    present = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if type is not None:
        return parse(present, type)[0]
    numbers = canonical_integers(present)
    if numbers is not None:
        return numbers
    # Blanks around an id are never meant: the same id without them would be another vertex.
    return ids_of_text(pc.utf8_trim_whitespace(present)) if _has_outer_blanks(present) else present


def _has_outer_blanks(text: pa.ChunkedArray) -> bool:
    lengths = (pc.sum(pc.binary_length(part)) for part in (text, pc.utf8_trim_whitespace(text)))
    return len(set(lengths)) > 1
