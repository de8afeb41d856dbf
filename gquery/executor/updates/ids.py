"""Users' ids that statements write: each vertex keeps one, and no two have the same of which one has the other's
labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations_with_replacement

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, truths
from gquery.errors import ExecutionError
from gquery.executor.relational.gather import take
from gquery.storage.changes.batch import NewLabels, NewValues
from gquery.storage.changes.lookups.keys import vertices_with
from gquery.storage.graph import Snapshot
from gquery.storage.load.assembly.lookup import ABSENT, repeats
from gquery.storage.tables import VertexTable

Vertices = NDArray[np.int32]


def name_of_ids(snapshot: Snapshot, labels: tuple[str, ...]) -> str | None:
    """The property that shows the ids of vertices with these labels; where there are none yet, that of vertices with
    some of them, if they agree."""
    shown = [({*each.labels}, each.id_name) for each in snapshot.vertex_tables if each.id_name]
    same = {name for those, name in shown if those == {*labels}}
    found = same or {name for those, name in shown if those and those < {*labels}}
    return found.pop() if len(found) == 1 else None


def expect_new_ids(
    snapshot: Snapshot, labels: tuple[str, ...], ids: pa.ChunkedArray, own: NDArray[np.int64] | None = None
) -> None:
    """Raises ExecutionError where vertices with these labels, more or some of them have one of the ids, but for the
    vertices that get them (`own`), or two get the same."""
    expect_id_type(ids.type)
    tables = [place for place, table in enumerate(snapshot.vertex_tables) if _is_like(table, {*labels})]
    found, _ = vertices_with(snapshot, tables, ids)
    taken = found != ABSENT
    if own is not None:
        taken &= found != own
    again = repeats(ids)
    place = next((int(each[0]) for each in (np.flatnonzero(taken), np.asarray(again)) if len(each)), None)
    if place is not None:
        raise _taken(labels, ids[place], _id_type(snapshot, int(found[place])) if taken[place] else None)


def expect_id_type(type_: pa.DataType) -> None:
    if not (pa.types.is_integer(type_) or pa.types.is_string(type_)):
        raise ExecutionError(f"an id is a whole number or a text, not {type_}")


def expect_apart(given: Mapping[tuple[str, ...], Sequence[pa.Array]]) -> None:
    """Raises ExecutionError where two of the ids that vertices with some labels get at once are the same, be it as a
    number and as a text, and one has all labels of the other."""
    for one, other in combinations_with_replacement(given, 2):
        ids = given[one] if one is other else (*given[one], *given[other])
        if len(ids) > 1 and _are_like({*one}, {*other}):
            again = repeats(pa.chunked_array([each.cast(pa.string()) for each in ids], pa.string()))
            if len(again):
                raise _taken(one, [*chain.from_iterable(ids)][int(again[0])])


def _taken(labels: tuple[str, ...], id: pa.Scalar, kept: pa.DataType | None = None) -> ExecutionError:
    """kept: the type of the id that is there, where it is another one."""
    named = "".join(f":{label}" for label in labels)
    message, hint = f"there is a ({named}) with the id {id.as_py()!r} already", "MERGE takes the one that is there"
    if kept is not None and pa.types.is_integer(kept) != pa.types.is_integer(id.type):
        message += ", as a number" if pa.types.is_integer(kept) else ", as a text"
        hint = "a number and the text of it are the same id, but no equal values"
    return ExecutionError(message, hint=hint)


def _are_like(one: set[str], other: set[str]) -> bool:
    """Whether vertices with these labels have no id in common."""
    return one == other or bool(one and other and (one < other or one > other))


def _id_type(snapshot: Snapshot, vertex: int) -> pa.DataType:
    ((table, _, _),) = snapshot.vertex_numbers.parts(np.array([vertex]))
    return snapshot.vertex_tables[table].id_type


def _is_like(table: VertexTable, labels: set[str]) -> bool:
    """Whether an id of the table's vertices is one of those of vertices with the labels."""
    own = {*table.labels}
    return own == labels or (table.id_name is not None and _are_like(own, labels))


def expect_ids(snapshot: Snapshot, values: Iterable[NewValues]) -> None:
    """Raises ExecutionError where the values of properties would take an id away, or give one twice."""
    given: dict[tuple[str, ...], list[pa.Array]] = {}
    for each in values:
        for table, where, _ in snapshot.vertex_numbers.parts(each.of):
            held = snapshot.vertex_tables[table]
            if held.id_name != each.name:
                continue
            places = np.arange(len(each.of))[where]
            ids = each.values.take(to_arrow(places))
            if ids.null_count:
                message = f"`{each.name}` is the id of a node, which it keeps"
                raise ExecutionError(message, hint="SET with += leaves other properties as they are")
            expect_new_ids(snapshot, held.labels, pa.chunked_array([ids]), each.of[places].astype(np.int64))
            given.setdefault(tuple(sorted(held.labels)), []).append(ids)
    expect_apart(given)


def with_ids_shown(
    snapshot: Snapshot, labels: Iterable[NewLabels], values: Iterable[NewValues]
) -> tuple[NewValues, ...]:
    """Values of properties, with what becomes the ids of vertices whose new labels show them. Raises ExecutionError for
    what is no id."""
    found = list(values)
    for each in labels:
        if each.id_name is not None:
            found = list(_shown(snapshot, each.vertices, each.id_name, found))
    return tuple(each for each in found if len(each.of))


def _shown(snapshot: Snapshot, vertices: Vertices, name: str, values: Iterable[NewValues]) -> Iterator[NewValues]:
    """The id of each vertex is the value that it gets, else the one that it has, else the id that it has."""
    named, bare = [vertices[:0]], [vertices[:0]]
    for each in values:
        if each.name == name:
            of = each.of.astype(np.int32, copy=False)
            own, there = np.isin(of, vertices), truths(each.values.is_valid())
            named.append(of[own])
            bare.append(of[own & ~there])
            _expect_ids(each.values.filter(to_arrow(own & there)))
            stays = there | ~own
            yield NewValues(of[stays], name, each.values.filter(to_arrow(stays)))
        else:
            yield each
    for of, ids in _held(snapshot, vertices[np.isin(vertices, np.concatenate(named), invert=True)], name):
        there = truths(ids.is_valid())
        bare.append(of[~there])
        yield NewValues(of[there], name, _expect_ids(ids.filter(to_arrow(there))))
    for of, ids in _held(snapshot, np.concatenate(bare), None):
        yield NewValues(of, name, ids)


def _held(snapshot: Snapshot, vertices: Vertices, name: str | None) -> Iterator[tuple[Vertices, pa.Array]]:
    """What vertices have of a property, or as their ids, table by table."""
    for table, where, rows in snapshot.vertex_numbers.parts(vertices):
        column = snapshot.vertex_tables[table].column(name)
        yield vertices[where], pa.nulls(len(rows)) if column is None else take(column, rows)


def _expect_ids(values: pa.Array) -> pa.Array:
    """Some values, if they may be ids. Raises ExecutionError."""
    if len(values):
        expect_id_type(values.type)
    return values
