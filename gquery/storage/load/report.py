"""What a load did: kept by the graph so that its user can look later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from gquery.storage.graph import Snapshot

REJECTS = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("column", pa.string()),
        ("value", pa.string()),
        ("reason", pa.string()),
    ]
)
_WORDS = {pa.int64(): "integers", pa.float64(): "numbers", pa.bool_(): "true or false", pa.date32(): "dates"}


@dataclass(frozen=True, slots=True)
class KeptAsText:
    """Why a property is text although most of its values are not: `value` in `line` of `file` is the first of `count`
    values that are no `type`, which the rest would be."""

    file: str
    line: int
    value: str
    type: pa.DataType
    count: int

    def __str__(self) -> str:
        others = f" and {self.count - 1:,} more" if self.count > 1 else ""
        rest = _WORDS.get(self.type, "dates with times")
        where = f"{self.value!r} in {self.file}, line {self.line}{others}"
        return f"text because of {where}; the rest are {rest}; null={self.value!r} would take it for a missing value"


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Numbers are edges unless said otherwise.

    `bad_rows` counts rows left out under on_bad_row="skip", duplicate ids among them. `rejects` has the columns of
    REJECTS, one for each rejected or mended row (the first 100,000); the line is a row number where there are no lines.
    `kept_as_text` has an entry by (label or type, property) for every property that a few values kept from being a
    number, a date or a truth value. `notes` are sentences about what a user may not have meant.
    """

    vertices: int
    edges: int
    self_loops: int = 0
    parallel_edges: int = 0
    merged_edges: int = 0
    dangling_edges: int = 0
    duplicate_ids: int = 0
    created_vertices: int = 0
    bad_rows: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    kept_as_text: Mapping[tuple[str, str], KeptAsText] = field(default_factory=dict)
    rejects: pa.Table = field(default_factory=REJECTS.empty_table, repr=False)


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A snapshot and how it came about."""

    snapshot: Snapshot
    report: LoadReport
