"""What a load did: kept by the graph so that its user can look later."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Numbers are edges unless said otherwise.

    `bad_rows` counts rows left out under on_bad_row="skip", duplicate ids among them. `rejects` has the columns of
    REJECTS, one for each rejected or mended row (the first 100,000); the line is a row number where there are no lines.
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
    rejects: pa.Table = field(default_factory=REJECTS.empty_table, repr=False)


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A snapshot and how it came about."""

    snapshot: Snapshot
    report: LoadReport
