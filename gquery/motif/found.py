"""What a search for motifs found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import of_values, to_arrow, to_numpy
from gquery.errors import ExecutionError
from gquery.executor.census.counts import Census, Random
from gquery.motif.exports import EXPORTS
from gquery.motif.instances import Instances
from gquery.motif.matrices import Matrix, igraph_ids, matrix_of, mfinder_id
from gquery.motif.pages.drawing import Drawing, drawn
from gquery.motif.pages.report import PREVIEW, page, table
from gquery.motif.patterns import Patterns
from gquery.motif.question import Question
from gquery.motif.significance import significance
from gquery.motif.simple import Simple
from gquery.storage.graph import Snapshot
from gquery.values.formats import Format, file_format, new_file, stream_format


class Motifs:
    """The classes of connected induced subgraphs of a graph, the most over-represented first.

    table: pa.Table, a row for each. class: string, the adjacency matrix row by row, smallest of all orders of the
    vertices; labels: list of strings, of the vertices in that order, where labels are part of it; igraph: int64,
    `isoclass()`, and mfinder: int64, where these tools number it; pattern: string, a MATCH clause that finds it; count:
    int64; concentration: float64, the share of all subgraphs of the size; mean, deviation: float64, of the counts in
    random graphs; z, p, p_adjusted: float64, see `significance.py`. Null where nothing can be said.
    matrices: of each row. notes: what was left out, and how it was counted. asked: the question.
    """

    def __init__(
        self, table: pa.Table, matrices: Sequence[Matrix], random: Random, columns: NDArray[np.intp],
        notes: tuple[str, ...], asked: Question, instances: Instances,
    ) -> None:  # fmt: skip
        """random: counts in random graphs; columns: which of them those of each row are. instances: lists those of a
        class."""
        self.table = table
        self.matrices = tuple(matrices)
        self.notes = notes
        self.asked = asked
        self._random = random
        self._columns = columns
        self._instances = instances

    def distribution(self, row: int) -> NDArray[np.int64]:
        """int64[graphs]: how often the class of a row was found in each random graph."""
        return np.array(self._random.counts[:, self._columns[row]])

    def shares(self, row: int) -> NDArray[np.float64]:
        """float64[graphs]: which share of the subgraphs of each random graph the class of a row is."""
        return self.distribution(row) / np.maximum(self._random.totals, 1)

    def to_arrow(self) -> pa.Table:
        return self.table

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each class."""
        found: list[dict[str, Any]] = self.table.to_pylist()
        return found

    def select(self, *, z: float | None = None, p: float | None = None, count: int = 0) -> Motifs:
        """Those with this z and count at least, and this adjusted p at most. Where the deviation is 0 there is no z:
        such a class is kept where all random graphs have fewer."""
        values = {name: to_numpy(self.table[name]) for name in ("count", "mean", "z", "p_adjusted")}
        known = {name: self.table[name].is_valid().to_numpy(zero_copy_only=False) for name in ("z", "p_adjusted")}
        kept = values["count"] >= count
        if z is not None:
            kept &= np.where(known["z"], values["z"] >= z, values["count"] > values["mean"])
        if p is not None:
            kept &= known["p_adjusted"] & (values["p_adjusted"] <= p)
        rows = np.flatnonzero(kept)
        matrices = [self.matrices[row] for row in rows.tolist()]
        table = self.table.take(to_arrow(rows))
        return Motifs(table, matrices, self._random, self._columns[rows], self.notes, self.asked, self._instances)

    def drawing(self, row: int, most: int = 200, timeout: float | None = None) -> Drawing:
        """The graph as SVG, with the instances of a row's class in colour: so many of them at most. Of a graph of many
        vertices the part that is these instances. Raises QueryTimeout where these take longer to find, and
        ExecutionError where there is no such row."""
        if not 0 <= row < len(self.matrices):
            known = len(self.matrices)
            raise ExecutionError(f"there is no motif {row}: the rows are those of {known:,} motifs, from 0 on")
        instances = self._instances.of(self.matrices[row], most, timeout)
        title = f"{len(instances):,} instances of motif {self.matrices[row].text}"
        return drawn(self._instances.arcs, self._instances.names, instances, title)

    def report(self) -> str:
        """An HTML page with pictures, which needs nothing else."""
        return page(self)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> int:
        """Writes the report to an `.html` file, or the table to one that `Result.write` knows; with `format` what
        `mfinder` or `fanmod` would have written. Returns the number of motifs. The file appears when it is whole.
        Raises ExecutionError."""
        texts: Mapping[str, Callable[[Motifs], str]] = {"html": page, **EXPORTS}
        named = format or ("html" if str(path).lower().endswith(".html") else None)
        if named is None:
            target, written = file_format(path)
            with new_file(target) as sink:
                return self._written(written, sink)
        if named not in texts:
            raise ExecutionError(f"`{named}` is no format", hint=f"the formats are {', '.join(texts)}")
        text = texts[named](self)
        with new_file(Path(path)) as sink:
            sink.write(text.encode())
        return len(self)

    def write_to(self, sink: BinaryIO, format: str) -> int:
        """Writes the table to an open binary file: `csv`, `json`, `arrow` or `parquet`."""
        return self._written(stream_format(sink, format), sink)

    def _written(self, format: Format, sink: BinaryIO) -> int:
        return format.write(iter(self.table.to_batches()), self.table.schema, sink)

    def _repr_html_(self) -> str:
        """The first motifs, for notebooks."""
        return table(self, PREVIEW) + (f"<p>and {len(self) - PREVIEW:,} more</p>" if len(self) > PREVIEW else "")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<gquery.Motifs: {len(self):,} classes of {self.asked.size} vertices>"


def found(census: Census, simple: Simple, asked: Question, snapshot: Snapshot, notes: tuple[str, ...]) -> Motifs:
    """A census as a table. snapshot: of the user's graph."""
    patterns = Patterns(simple, asked, snapshot.schema.types)
    matrices = [matrix_of(simple.graph.layout, code) for code in census.codes.tolist()]
    told = significance(census.counts, census.random.counts)
    names = _names(matrices, simple, asked, census.codes.tolist())
    total = max(1, int(census.counts.sum()))
    columns: Mapping[str, pa.Array] = {
        "class": of_values([matrix.text for matrix in matrices], pa.string()),
        **names,
        "pattern": of_values([patterns.of(matrix) for matrix in matrices], pa.string()),
        "count": to_arrow(census.counts),
        "concentration": to_arrow(census.counts / total),
        "mean": _known(told.mean),
        "deviation": _known(told.deviation),
        "z": _known(told.z),
        "p": _known(told.p),
        "p_adjusted": _known(told.adjusted),
    }
    order = np.lexsort((census.codes, -census.counts, -told.z))  # where there is no z, behind all others
    sorted_ = pa.table(dict(columns)).take(to_arrow(order))
    return Motifs(sorted_, [matrices[row] for row in order.tolist()], census.random, order, notes, asked,
                  Instances(simple, asked, snapshot))  # fmt: skip


def _names(matrices: Sequence[Matrix], simple: Simple, asked: Question, codes: list[int]) -> dict[str, pa.Array]:
    if asked.by_label:
        labels = [[":".join(simple.labels[colour]) for colour in matrix.colours] for matrix in matrices]
        return {"labels": of_values(labels, pa.list_(pa.string()))}
    if asked.by_type and len(simple.types) > 1:
        return {}
    known = igraph_ids(asked.size, asked.directed)
    return {
        "igraph": of_values([known.get(code) for code in codes], pa.int64()),
        "mfinder": of_values([mfinder_id(matrix) for matrix in matrices], pa.int64()),
    }


def _known(numbers: NDArray[np.float64]) -> pa.Array:
    return to_arrow(numbers, ~np.isnan(numbers))
