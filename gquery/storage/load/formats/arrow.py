"""Tables that are in memory already: Arrow and whatever speaks its stream protocol, data frames, dicts of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.assembly.arrow_values import checked
from gquery.storage.load.assembly.rows import EdgeRows, RawTable, Reference, VertexRows, edge_rows, vertex_rows
from gquery.storage.load.formats.duckdb_tables import whole
from gquery.storage.load.formats.names import find_ends, find_id
from gquery.storage.load.formats.python_values import column_of, has_time
from gquery.storage.load.loading import Loading
from gquery.storage.load.rejects import Origin, Part
from gquery.storage.load.text.header import Column, check_width

Labels = str | Sequence[str]  # "Person", "Post:Message", ("Post", "Message"), "" or () for none
EdgeKey = tuple[Labels, str, Labels]

_PANDAS_INDEX = "__index_level_"


def read_vertices(loading: Loading, tables: Any, id_columns: Any) -> list[VertexRows]:
    """Vertices by labels. The id is the column named in `id_columns`, else `id` or `_id`, else the first."""
    pieces = []
    id_columns = _mapping("id", {} if id_columns is None else id_columns, 'id={"Person": "pid"}')
    for key, value in _mapping("vertices", tables, 'vertices={"Person": people}').items():
        loading.step()
        labels = split_labels(key)
        place = f"vertices {_shown(labels)}"
        table = to_table(value, place)
        names = table.column_names
        if not names:
            raise LoadError(f"{place}: the table has no columns")
        wanted = id_columns.get(key)
        index = find_id(names) if wanted is None else _position(names, wanted, place)
        pieces += vertex_rows(loading, _raw(table, {index: "id"}, place), labels, ":".join(labels))
    return pieces


def read_edges(loading: Loading, tables: Any, end_columns: Any) -> list[EdgeRows]:
    """Edges by (source labels, type, target labels). The ends are the columns named in `end_columns` (by key or by
    type), else `source` and `target` or their like, else the first two."""
    pieces = []
    end_columns = _mapping("ends", {} if end_columns is None else end_columns, 'ends={"KNOWS": ("a", "b")}')
    for key, value in _mapping("edges", tables, 'edges={("Person", "KNOWS", "Person"): knows}').items():
        loading.step()
        if not (isinstance(key, tuple) and len(key) == 3 and isinstance(key[1], str) and key[1]):
            raise LoadError(
                f"the key {key!r} of `edges` is not (source label, type, target label)",
                hint='write for example ("Person", "KNOWS", "Person")',
            )
        ends = split_labels(key[0]), split_labels(key[2])
        place = f"edges {_shown(ends[0])}-{key[1]}-{_shown(ends[1])}"
        table = to_table(value, place)
        names = table.column_names
        if len(names) < 2:
            raise LoadError(f"{place}: the table needs two columns for the ends of its edges")
        wanted = end_columns.get(key, end_columns.get(key[1]))
        if wanted is None:
            source, target = find_ends(names) or (0, 1)
        else:
            source, target = (_position(names, name, place) for name in _pair(wanted, place))
        raw = _raw(table, {source: "start", target: "end"}, place)
        start, end = Reference(names[source], labels=ends[0]), Reference(names[target], labels=ends[1])
        pieces += edge_rows(loading, raw, key[1], start, end)
    return pieces


def _mapping(what: str, value: Any, example: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise LoadError(f"`{what}` is a {type(value).__name__}, not a dict", hint=f"write for example {example}")
    return value


def split_labels(labels: Labels) -> tuple[str, ...]:
    """Labels from "A:B" or a sequence. Raises LoadError for anything else."""
    if isinstance(labels, str):
        parts = [part.strip() for part in labels.split(":")]
    else:
        parts = list(labels) if isinstance(labels, Sequence) else [labels]
    if not all(isinstance(part, str) for part in parts):
        raise LoadError(f"{labels!r} are not labels", hint='write "Person", "Post:Message" or ("Post", "Message")')
    return tuple(dict.fromkeys(part for part in parts if part))


def to_table(value: Any, place: str) -> pa.Table:
    """A valid Arrow table from anything that holds columns. LoadError when `value` has none, cannot be converted, or
    has an offset, an index or a text that is not valid: the graph's readers trust these."""
    try:
        table = _converted(value)
    except (MemoryError, LoadError):
        raise
    except Exception as error:  # `value` is foreign code: it may raise anything
        text = "; ".join(map(str, error.args)) if isinstance(error, pa.ArrowException) else str(error)
        reason = next(iter(text.splitlines()), type(error).__name__)
        raise LoadError(f"{place}: the table cannot be taken as Arrow: {reason}") from None
    if table is None:
        hint = "give an Arrow table, a data frame, anything with __arrow_c_stream__, or a dict of lists"
        if type(value).__name__ == "LazyFrame":  # of Polars, which is not imported for this
            hint = "its .collect() gives a table"
        raise LoadError(f"{place}: a {type(value).__name__} is no table", hint=hint)
    return checked(table, place)


def _converted(value: Any) -> pa.Table | None:
    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    if isinstance(value, pa.RecordBatchReader):
        return value.read_all()
    if hasattr(value, "__arrow_c_stream__") and not isinstance(value, type):
        value = whole(value) if type(value).__name__ == "DuckDBPyRelation" else _with_named_index(value)
        table = pa.table(value)
        named = [i for i, name in enumerate(table.column_names) if not name.startswith(_PANDAS_INDEX)]
        return _frame(table.select(named), value)
    if isinstance(value, Mapping):
        columns = [_column(column, name) for name, column in value.items()]
        return pa.table(columns, names=[str(name) for name in value])
    if isinstance(value, Sequence) and value and all(isinstance(row, Mapping) for row in value):
        return _rows(value)
    return None


def _with_named_index(frame: Any) -> Any:
    """A pandas frame with its index as the first columns, where that has a name of its own. pandas hands it over
    without, so that the next column would be taken for the ids."""
    there = (None, *getattr(frame, "columns", ()))
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name not in there]
    return frame.reset_index(level=names) if names else frame


def _column(values: Any, name: Any, gaps: bool = False) -> Any:
    """Typed arrays as Arrow takes them, and Python's values as they are. A text is no column of its letters."""
    if isinstance(values, str | bytes):
        raise ValueError(f"`{name}` is a {type(values).__name__}, not a column")
    try:
        if str(getattr(values, "dtype", "")) == "object":  # of NumPy and pandas, whose gaps may be anything
            return column_of(values.tolist(), gaps=hasattr(values, "isna"))
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return values
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.array(values) if hasattr(values, "dtype") else column_of(list(values), gaps)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"`{name}`: {error}") from None


def _frame(table: pa.Table, frame: Any) -> pa.Table:
    """What Arrow has made of a frame, whose columns of Python's values are looked at once more."""
    if not hasattr(frame, "dtypes"):
        return table
    for index, field in enumerate(table.schema):
        if pa.types.is_fixed_size_binary(field.type) and str(frame[field.name].dtype) == "Object":
            raise ValueError(f"`{field.name}` holds objects of Python's, of which only addresses arrive")
        if has_time(field.type) and str(getattr(frame[field.name], "dtype", "")) == "object":
            table = table.set_column(index, field.name, _column(frame[field.name].tolist(), field.name, gaps=True))
    return table


def _rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A column for whatever some row has."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table([_column([row.get(name) for row in rows], name) for name in names], names=list(map(str, names)))


def _raw(table: pa.Table, roles: Mapping[int, Any], place: str) -> RawTable:
    check_width(table.num_columns, place, None)
    columns = tuple(Column(name, roles.get(index, "property")) for index, name in enumerate(table.column_names))
    return RawTable(columns, tuple(table.columns), Origin((Part(place, table.num_rows),)), is_text=False)


def _position(names: list[str], name: Any, place: str) -> int:
    if not isinstance(name, str) or name not in names:
        raise LoadError(f"{place}: there is no column `{name}`", hint=did_you_mean(str(name), names))
    return names.index(name)


def _pair(columns: Any, place: str) -> tuple[str, str]:
    if not isinstance(columns, tuple | list) or len(columns) != 2 or columns[0] == columns[1]:
        raise LoadError(f"{place}: {columns!r} does not name two columns", hint='write for example ("from", "to")')
    return columns[0], columns[1]


def _shown(labels: tuple[str, ...]) -> str:
    return f"({':'.join(['', *labels]) if labels else ''})"
