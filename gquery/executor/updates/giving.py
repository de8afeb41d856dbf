"""SET and REMOVE: values of properties and labels, of which the last that a row gives holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import fields_of, filled, to_arrow, truths
from gquery.executor.relational.gather import NO_KEY
from gquery.executor.relational.unions import is_known
from gquery.executor.updates.ids import expect_ids, name_of_ids, with_ids_shown
from gquery.executor.updates.rows import GivenRows
from gquery.executor.updates.there import expect_there
from gquery.executor.updates.values import parts_of
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.updates import Give, GiveLabels, GiveMap, GiveValues
from gquery.storage.changes.batch import Batch, NewLabels, NewValues
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct, grouped_columns
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
            continue
        kind = kinds[change.subject]
        values = vertices if kind is Kind.NODE else edges
        held = _held(snapshot, ids, values, kind) if change.replacing else set()
        for here, columns in _columns(change, rows, places):
            values.add(columns, ids[here], held)
    vertex_values, new_labels = tuple(vertices.last(np.int32)), tuple(labels.last())
    expect_ids(snapshot, vertex_values)
    return Batch(
        vertex_values=with_ids_shown(snapshot, new_labels, vertex_values),
        edge_values=tuple(edges.last(np.int64)),
        labels=new_labels,
    )


def _columns(change: GiveValues | GiveMap, rows: GivenRows, places: Ids) -> Iterator[tuple[Ids, dict[str, pa.Array]]]:
    """The values of each property at some places; of maps that have other keys, or not all, one after the other."""
    at = to_arrow(places)
    if isinstance(change, GiveValues):
        yield np.arange(len(places)), {each.key: rows.column(each.column).take(at) for each in change.properties}
        return
    for here, maps in parts_of(rows.column(change.map).take(at)):
        there = np.flatnonzero(truths(maps.is_valid()))
        known = maps.take(to_arrow(there))
        columns = {key.name: values for key, values in zip(maps.type, fields_of(known), strict=True)}
        if [*columns] == [NO_KEY] and columns[NO_KEY].null_count == len(known):
            columns = {}
        if change.replacing or not change.sparse:
            yield here[there], columns
            continue
        for name, values in columns.items():
            has = truths(is_known(values))
            yield here[there][has], {name: values.filter(to_arrow(has))}


def _held(snapshot: Snapshot, ids: Ids, before: _Values, kind: Kind) -> set[str]:
    """The properties that elements may have, or have been given."""
    tables: tuple[VertexTable | EdgeTable, ...] = snapshot.edge_tables
    numbers = snapshot.edges.numbers
    if kind is Kind.NODE:
        tables, numbers = snapshot.vertex_tables, snapshot.vertex_numbers
    stored = {key for table in distinct(numbers.tables_of(ids)).tolist() for key in tables[table].columns.types}
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
        ids = distinct(np.concatenate([each for each, _ in self._changes]))
        told = [np.isin(ids, each) for each, _ in self._changes]
        codes = np.array([self._snapshot.vertex_numbers.tables_of(ids), *told], np.int64)
        first, kind_of = grouped_columns(codes)
        for number, (table, *flags) in enumerate(codes[:, first].T.tolist()):
            before = self._snapshot.vertex_tables[table]
            labels = dict.fromkeys(before.labels)
            for flag, (_, change) in zip(flags, self._changes, strict=True):
                for label in change.labels if flag else ():
                    if change.removing:
                        labels.pop(label, None)
                    else:
                        labels[label] = None
            if labels.keys() != set(before.labels):
                id_name = name_of_ids(self._snapshot, tuple(labels)) if before.id_name is None else None
                yield NewLabels(ids[kind_of == number].astype(np.int32), tuple(labels), id_name)
