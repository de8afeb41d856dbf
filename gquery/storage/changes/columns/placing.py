"""Which table each element of a batch is in afterwards: one of its labels, or its type, whose columns hold its values.

An element keeps its id wherever it goes. It stays where it is unless it has other labels, or a value of a type that the
column does not hold: then it is in another table of the same labels, the first that fits, or a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow
from gquery.records import record
from gquery.storage.changes.batch import NewLabels, NewValues
from gquery.storage.changes.columns.shape import Shape
from gquery.storage.changes.columns.values import held
from gquery.storage.numbering import Numbering
from gquery.storage.sorting import distinct, grouped_columns, order_of

Ids = NDArray[np.int64]
Wanted = Mapping[str, Sequence[pa.Array]]

ANY_ID = pa.null()  # the type of ids that are yet to be given
NO_VALUE = pa.null()


@record(frozen=True, slots=True)
class Sources:
    """The tables that elements come from: those of a snapshot, and behind them those of a batch, whose elements are all
    new. numbers: which element is where. new: the properties of those of the batch."""

    shapes: Sequence[Shape]
    numbers: Numbering
    new: Sequence[pa.Table]

    @property
    def tables(self) -> int:
        """Of the snapshot."""
        return len(self.shapes) - len(self.new)


def placed(
    sources: Sources, values: Sequence[NewValues], labels: Sequence[NewLabels]
) -> tuple[list[Shape], Ids, NDArray[np.int64]]:
    """The tables afterwards, those that there were first; elements, ascending, and the table that each goes to: all
    that are new and all that do not stay where they are, and maybe others."""
    shapes = [replace(shape, types=dict(shape.types)) for shape in sources.shapes[: sources.tables]]
    new = sources.numbers.ids(range(sources.tables, len(sources.shapes)), np.int64)
    ids = distinct(np.concatenate([new, *(each.of for each in values), *(each.vertices for each in labels)]))
    goes = np.zeros(len(ids), np.int64)
    for alike in _alike(sources, ids.astype(np.int64), values, labels):
        source, is_new = sources.shapes[alike.source], alike.source >= sources.tables
        wanted: dict[str, list[pa.Array]] = alike.wanted(values)
        if is_new:
            given = sources.new[alike.source - sources.tables]
            if len(alike.ids) < given.num_rows:
                given = given.take(to_arrow(alike.ids - sources.numbers.of([alike.source])[0].begin))
            wanted = {
                name: column.chunks for name, column in zip(given.column_names, given.columns, strict=True)
            } | wanted
        columns = dict.fromkeys(wanted, NO_VALUE) if is_new else source.types  # those of a batch may hold nothing
        kept = {name: NO_VALUE if name in wanted else type_ for name, type_ in columns.items()}
        own = replace(source, types=kept)
        if alike.labels is not None:
            own.names, own.id_name = alike.labels.labels, own.id_name or alike.labels.id_name
            own.ids_repeat |= any(set(shape.names) == set(own.names) for shape in shapes)
        if is_new and own.id_name is None:
            own.id_name = next((shape.id_name for shape in shapes if set(shape.names) == set(own.names)), None)
        elif own.id_name in wanted and not is_new:
            own.id_type = wanted[own.id_name][0].type
        goes[alike.places] = _place(shapes, own, wanted, None if is_new or alike.labels is not None else alike.source)
    return shapes, ids.astype(np.int64), goes


@record(frozen=True, slots=True)
class _Alike:
    """Elements of one source that get the same labels, if any, and values of the same properties. places: theirs among
    all that a batch names; ids: their own; given: which of the batch's values they have."""

    source: int
    labels: NewLabels | None
    places: NDArray[np.int64]
    ids: Ids
    given: tuple[int, ...]

    def wanted(self, values: Sequence[NewValues]) -> dict[str, list[pa.Array]]:
        """Their new values by property: the last that the batch has."""
        found: dict[str, list[pa.Array]] = {}
        for number in self.given:
            here = np.flatnonzero(np.isin(values[number].of, self.ids, assume_unique=True))
            found[values[number].name] = [values[number].values.take(to_arrow(here))]
        return found


def _alike(sources: Sources, ids: Ids, values: Sequence[NewValues], labels: Sequence[NewLabels]) -> Iterator[_Alike]:
    if not values and not labels:  # then all are new
        for source in range(sources.tables, len(sources.shapes)):
            own = sources.numbers.ids([source], np.int64)
            yield _Alike(source, None, np.searchsorted(ids, own), own, ())
        return
    codes = sources.numbers.tables_of(ids)[None]
    named = np.zeros(len(ids), np.int64)
    for number, each in enumerate(labels, 1):
        named[np.isin(ids, each.vertices)] = number
    given = [np.isin(ids, each.of) for each in values]
    codes = np.concatenate([codes, named[None], np.array(given, np.int64).reshape(len(values), len(ids))])
    first, kind_of = grouped_columns(codes)
    order = order_of(kind_of.copy())
    bounds = np.searchsorted(kind_of[order], np.arange(len(first) + 1))
    for number, (source, label, *has) in enumerate(codes[:, first].T.tolist()):
        places = order[bounds[number] : bounds[number + 1]]
        told = labels[label - 1] if label else None
        yield _Alike(source, told, places, ids[places], tuple(np.flatnonzero(has).tolist()))


def _place(shapes: list[Shape], own: Shape, wanted: Wanted, now: int | None) -> int:
    """The table for elements of a shape, with other values of some properties; where they are `now`, if they may stay.
    The table gets the columns that it lacks, those too of which they have lost all values: else these would be there
    again as soon as others of the table have some."""
    alike = [number for number, shape in enumerate(shapes) if set(shape.names) == set(own.names)]
    tried = alike if now is None else [now, *alike]
    fitting = (
        number
        for number in tried
        if (_holds(shapes[number], wanted) if number == now else _fits(shapes[number], own, wanted))
    )
    place = next(fitting, None)
    if place is None:
        place = len(shapes)
        shapes.append(Shape(own.names, {}, own.id_name, pa.int64() if own.id_type == ANY_ID else own.id_type))
    shape = shapes[place]
    shape.ids_repeat |= own.ids_repeat
    types = shape.types
    for name, type_ in [*own.types.items(), *((n, values.type) for n, arrays in wanted.items() for values in arrays)]:
        if pa.types.is_null(types.get(name, NO_VALUE)) and (name in own.types or not pa.types.is_null(type_)):
            types[name] = type_
    if shape.id_name is not None and shape.id_type is not None:  # shown of vertices too that have all been given theirs
        types.setdefault(shape.id_name, shape.id_type)
    return place


def _fits(shape: Shape, own: Shape, wanted: Wanted) -> bool:
    """Whether elements of a shape, with other values of some properties, are at home in a table."""
    if own.id_type not in (ANY_ID, shape.id_type) or shape.id_name != own.id_name:
        return False
    each = ((shape.types.get(name, pa.null()), type_) for name, type_ in own.types.items())
    same = all(pa.types.is_null(there) or pa.types.is_null(type_) or there == type_ for there, type_ in each)
    return same and _holds(shape, wanted)


def _holds(shape: Shape, wanted: Wanted) -> bool:
    for name, arrays in wanted.items():
        type_ = shape.types.get(name, pa.null())
        for values in arrays:
            if pa.types.is_null(type_):
                type_ = values.type
            elif held(values, type_) is None:
                return False
    return True
