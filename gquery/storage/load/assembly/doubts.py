"""A table that was taken for vertices for want of anything better, and looks like edges."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gquery.arrays import pc
from gquery.errors import LoadError
from gquery.storage.load.assembly.lookup import as_type, repeats
from gquery.storage.load.assembly.rows import RawTable, VertexRows
from gquery.storage.load.formats.names import ID_NAMES, role_columns
from gquery.storage.load.loading import Loading

_SAMPLE = 1000  # rows


def doubt(loading: Loading, raw: RawTable, label: str, vertices: Sequence[VertexRows]) -> None:
    """Notes that a table of vertices has two columns whose values are ids of other vertices, and are not said to be
    keys. Raises LoadError when its own ids are not even different, as those of vertices must be."""
    columns = _suspects([column.name for column in raw.columns], label)
    others = [piece for piece in vertices if label not in piece.labels]
    owners = [_owner(raw, index, others) for index in columns]
    if not owners or None in owners or raw.count == 0:
        return
    names = " and ".join(f"`{raw.columns[i].name}` (ids of {owner})" for i, owner in zip(columns, owners, strict=True))
    hint = "name the ends `source` and `target` in the header, or say by a mapping what the file holds"
    if len(repeats(raw.ids(raw.having("id")[0]).drop_null())):
        raise LoadError(f"the file looks like edges between {names}", file=raw.origin.file, hint=hint)
    loading.notes.append(
        f"{raw.origin.file} was taken for vertices, but looks like edges between {names}; if it has edges, {hint}"
    )


def _suspects(names: Sequence[str], label: str) -> tuple[int, ...]:
    """The first two columns of a table without a column for its own id; else two that are named like ends."""
    lower = [name.lower() for name in names]
    own = {*ID_NAMES, f"{label}_id".lower(), f"{label}id".lower()}
    if len(names) > 1 and not own & set(lower):
        return 0, 1
    return role_columns(names) or ()


def _owner(raw: RawTable, index: int, others: Sequence[VertexRows]) -> str | None:
    """The vertices whose ids all values of a column (of its first rows) are."""
    values = raw.data[index].slice(0, _SAMPLE).drop_null()
    for piece in others:
        if len(values) and values.type in (pa.string(), pa.int64()):
            same = pc.is_in(as_type(values, piece.ids.type), value_set=piece.ids)
            if pc.all(pc.fill_null(same, False)).as_py():
                return ":".join(piece.labels) or "vertices without labels"
    return None
