"""SET and REMOVE: values of properties and labels, of which the last that a row gives holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled, to_arrow, truths
from gquery.executor.updates.rows import GivenRows
from gquery.executor.updates.there import expect_there
from gquery.executor.updates.values import parts_of
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.updates import Change, Give, GiveLabels, GiveMap
from gquery.storage.changes.batch import Batch, NewLabels, NewValues
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

Ids = NDArray[np.int64]


def given(give: Give, rows: GivenRows, snapshot: Snapshot) -> Batch:
    """What SET and REMOVE change for all rows; nulls in the place of an element change nothing."""
    vertices, edges = _Values(), _Values()
    labels = _Labels(snapshot)
    kinds = {variable.name: variable.type.kind for variable in rows.variables}
    for change in give.changes:
        subject = rows.column(change.subject)
        if kinds[change.subject] is Kind.NULL:
            continue
        places = np.flatnonzero(truths(subject.is_valid()))
        ids = filled(subject, 0)[places].astype(np.int64)
        expect_there(snapshot, kinds[change.subject], ids)
        if isinstance(change, GiveLabels):
            labels.change(ids, change)
        elif kinds[change.subject] is Kind.NODE:
            vertices.add(_values(change, rows, places), ids, _held(snapshot, ids, vertices, Kind.NODE, change))
        else:
            edges.add(_values(change, rows, places), ids, _held(snapshot, ids, edges, Kind.RELATIONSHIP, change))
    return Batch(
        vertex_values=tuple(vertices.last(np.int32)),
        edge_values=tuple(edges.last(np.int64)),
        labels=tuple(labels.last()),
    )


def _values(change: Change, rows: GivenRows, places: Ids) -> dict[str, pa.Array]:
    """The values of each property at some places."""
    at = to_arrow(places)
    if isinstance(change, GiveMap):
        maps = rows.column(change.map).take(at)
        keys = next(each.type for each in rows.variables if each.name == change.map).fields
        return {key: field for (key, _), field in zip(keys, maps.flatten(), strict=False)}
    assert not isinstance(change, GiveLabels)
    return {each.key: rows.column(each.column).take(at) for each in change.properties}


def _held(snapshot: Snapshot, ids: Ids, before: _Values, kind: Kind, change: Change) -> set[str]:
    """The properties that elements may have, where they are to keep no others."""
    if isinstance(change, GiveLabels) or not change.replacing:
        return set()
    tables: tuple[VertexTable | EdgeTable, ...] = snapshot.edge_tables
    numbers = snapshot.edges.numbers
    if kind is Kind.NODE:
        tables, numbers = snapshot.vertex_tables, snapshot.vertex_numbers
    stored = {key for table in np.unique(numbers.tables_of(ids)).tolist() for key in tables[table].columns.types}
    return stored | before.columns.keys()


@dataclass(slots=True)
class _Values:
    """Values by property, in the order in which they are given."""

    columns: dict[str, list[tuple[Ids, pa.Array]]] = field(default_factory=dict)

    def add(self, values: dict[str, pa.Array], ids: Ids, held: Iterable[str]) -> None:
        """Values for some elements, and null for all others of the properties that they held."""
        for key in set(held) - values.keys():
            self.columns.setdefault(key, []).append((ids, pa.nulls(len(ids))))
        for key, column in values.items():
            self.columns.setdefault(key, []).append((ids, column))

    def last(self, dtype: type[np.int32] | type[np.int64]) -> Iterator[NewValues]:
        """The last value of each element."""
        for key, given in self.columns.items():
            ids = np.concatenate([each for each, _ in given])
            source = np.repeat(np.arange(len(given)), [len(each) for each, _ in given])
            _, newest = np.unique(ids[::-1], return_index=True)
            chosen = len(ids) - 1 - newest
            begins = np.cumsum([0, *(len(each) for each, _ in given)])
            for number, (own, values) in enumerate(given):
                here = chosen[source[chosen] == number] - begins[number]
                for places, part in parts_of(values.take(to_arrow(here))):
                    if len(places):
                        yield NewValues(own[here][places].astype(dtype), key, part)


class _Labels:
    """What vertices are labelled with."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._changes: list[tuple[Ids, GiveLabels]] = []

    def change(self, ids: Ids, change: GiveLabels) -> None:
        self._changes.append((ids, change))

    def last(self) -> Iterator[NewLabels]:
        """The labels that vertices have in the end, where these are others than before."""
        if not self._changes:
            return
        ids = np.unique(np.concatenate([each for each, _ in self._changes]))
        told = [np.isin(ids, each) for each, _ in self._changes]
        kinds, kind_of = np.unique(
            np.array([self._snapshot.vertex_numbers.tables_of(ids), *told], np.int64), axis=1, return_inverse=True
        )
        for number, (table, *flags) in enumerate(kinds.T.tolist()):
            before = self._snapshot.vertex_tables[table].labels
            labels = dict.fromkeys(before)
            for flag, (_, change) in zip(flags, self._changes, strict=True):
                for label in change.labels if flag else ():
                    if change.removing:
                        labels.pop(label, None)
                    else:
                        labels[label] = None
            if labels.keys() != set(before):
                yield NewLabels(ids[kind_of.ravel() == number].astype(np.int32), tuple(labels))
