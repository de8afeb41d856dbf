"""Whether the first row of a text table is its header, where no names are known. What nothing tells is refused."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.rows import RawTable
from gquery.storage.load.formats.names import find_ends
from gquery.storage.load.text.values import type_of_most

_NUMBER = re.compile(r"[+-]?\.?\d[\d.,:TZeE+-]*|(?i:nan|[+-]?inf|true|false)")
_MISSING = frozenset(("na", "n/a", "null", "none", "nil", "-", "--", "?", ".", "unknown", "missing"))
_DIGITS = re.compile(r"\d+")
_SHARE = 0.9  # of the values below a word that must be numbers to make it their name
_SAMPLE = 1000  # rows that are looked at for the shape of ids

_HINT = "header=True (--header) when it does, header=False (--no-header) when it is an edge"


def names_columns(table: RawTable) -> bool | None:
    """Whether the first row of text columns, the first two of them ends, names the columns. None: nothing tells.

    A number, a date or a missing value is no name, and a word that is an end elsewhere in the file is an id. A word
    above a column of numbers is a name, as are two words that name ends; one that has its digits where the ids below
    it have theirs is an id.
    """
    if table.count < 2:
        return False
    first = [column[0].as_py() for column in table.data]
    if any(cell is None or cell.lower() in _MISSING or _NUMBER.fullmatch(cell) for cell in first):
        return False
    rest = [column.slice(1) for column in table.data]
    ends = list(zip(first[:2], rest[:2], strict=True))
    if any(pc.any(pc.equal(column, cell)).as_py() for cell, _ in ends for _, column in ends):
        return False
    if any(type_of_most(column, _SHARE) is not None for column in rest) or find_ends(first) is not None:
        return True
    return False if any(_has_shape_of(cell, column) for cell, column in ends) else None


def _has_shape_of(cell: str, column: pa.ChunkedArray) -> bool:
    """Whether a word with digits has them where most words of a column have theirs: `YAL001C` beside `YBR123W`."""
    if not _DIGITS.search(cell):
        return False
    shape = [_DIGITS.sub("0", word) == _DIGITS.sub("0", cell) for word in column.slice(0, _SAMPLE).to_pylist() if word]
    return 2 * sum(shape) > len(shape)


def first_words(table: RawTable) -> list[str]:
    return [str(column[0]) for column in table.data]


def check_alike(table: RawTable, source: int, target: int) -> None:
    """Raises LoadError when two columns taken for ends have neither names of ends nor ids of one type."""
    columns = table.columns
    if find_ends([column.name for column in columns]) is not None or table.count == 0:
        return
    types = [table.ids(index).type for index in (source, target)]
    if types[0] != types[1]:
        names = " and ".join(f"`{columns[i].name}` ({type})" for i, type in zip((source, target), types, strict=True))
        hint = "name the ends `source` and `target` in the header, or say by a mapping what the columns are"
        raise LoadError(f"nothing tells that {names} are the ends of edges", file=table.origin.file, hint=hint)


def unclear(table: RawTable) -> LoadError:
    """A LoadError for a first row that may be a header or an edge."""
    files, lines = table.origin.places(np.zeros(1, np.int64))
    words = ", ".join(first_words(table))
    message = "nothing tells whether the first row names the columns or is an edge"
    return LoadError(message, file=files[0], line=int(lines[0]), value=words, hint=_HINT)
