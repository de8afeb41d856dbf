"""Users' ids that statements write: each vertex keeps one, and no two have the same of which one has the other's
labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.errors import ExecutionError
from gquery.storage.changes.batch import NewValues
from gquery.storage.changes.lookups.keys import vertices_with
from gquery.storage.graph import Snapshot
from gquery.storage.load.assembly.lookup import ABSENT, repeats
from gquery.storage.tables import VertexTable


def expect_new_ids(
    snapshot: Snapshot, labels: tuple[str, ...], ids: pa.ChunkedArray, own: NDArray[np.int64] | None = None
) -> None:
    """Raises ExecutionError where vertices with these labels, more or some of them have one of the ids, but for the
    vertices that get them (`own`), or two get the same."""
    if not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
        raise ExecutionError(f"an id is a whole number or a text, not {ids.type}")
    tables = [place for place, table in enumerate(snapshot.vertex_tables) if _is_like(table, {*labels})]
    found, _ = vertices_with(snapshot, tables, ids)
    taken = found != ABSENT
    if own is not None:
        taken &= found != own
    again = repeats(ids)
    place = next((int(each[0]) for each in (np.flatnonzero(taken), np.asarray(again)) if len(each)), None)
    if place is not None:
        named = "".join(f":{label}" for label in labels)
        message = f"there is a ({named}) with the id {ids[place].as_py()!r} already"
        hint = "MERGE takes the one that is there"
        kept = _id_type(snapshot, int(found[place])) if taken[place] else ids.type
        if pa.types.is_integer(kept) != pa.types.is_integer(ids.type):
            message += ", as a number" if pa.types.is_integer(kept) else ", as a text"
            hint = "a number and the text of it are the same id, but no equal values"
        raise ExecutionError(message, hint=hint)


def _id_type(snapshot: Snapshot, vertex: int) -> pa.DataType:
    ((table, _, _),) = snapshot.vertex_numbers.parts(np.array([vertex]))
    return snapshot.vertex_tables[table].id_type


def _is_like(table: VertexTable, labels: set[str]) -> bool:
    """Whether an id of the table's vertices is one of those of vertices with the labels."""
    own = {*table.labels}
    return own == labels or (table.id_name is not None and bool(own and labels) and (own < labels or own > labels))


def expect_ids(snapshot: Snapshot, given: NewValues) -> None:
    """Raises ExecutionError where the values of a property would take an id away, or give one twice."""
    for table, where, _ in snapshot.vertex_numbers.parts(given.of):
        held = snapshot.vertex_tables[table]
        if held.id_name != given.name:
            continue
        places = np.arange(len(given.of))[where]
        values = given.values.take(to_arrow(places))
        if values.null_count:
            message = f"`{given.name}` is the id of a node, which it keeps"
            raise ExecutionError(message, hint="SET with += leaves other properties as they are")
        expect_new_ids(snapshot, held.labels, pa.chunked_array([values]), given.of[places].astype(np.int64))
