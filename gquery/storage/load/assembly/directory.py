"""Which vertices an end of an edge may mean, and a lookup for each such choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import pc
from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.assembly.lookup import Lookup, as_type, concat_ids, repeats
from gquery.storage.load.assembly.rows import End, Reference, VertexRows
from gquery.storage.load.rejects import Origin


@dataclass(frozen=True, slots=True)
class Home:
    """Where a vertex that only an edge names belongs. `id_type` None: any type will do."""

    labels: tuple[str, ...]
    space: str
    id_name: str | None
    id_type: pa.DataType | None


class Directory:
    """`vertices[i]`: the internal vertices of `pieces[i]`, int32."""

    def __init__(self, pieces: Sequence[VertexRows], vertices: Sequence[NDArray[np.int32]]) -> None:
        self._pieces = pieces
        self._vertices = vertices
        self._lookups: dict[tuple[int, ...], Lookup] = {}
        self._repeated: dict[tuple[int, ...], pa.ChunkedArray | None] = {}

    def lookup(self, end: End) -> Lookup:
        """The lookup over all vertices that the end may mean; an empty one when there are none."""
        members = self._members(end.reference)
        if members not in self._lookups:
            ids = concat_ids([self._pieces[index].ids for index in members])
            empty = np.zeros(0, np.int32)
            self._lookups[members] = Lookup(ids, np.concatenate([empty, *(self._vertices[i] for i in members)]))
        return self._lookups[members]

    def check(self, reference: Reference, origin: Origin) -> None:
        """Raises LoadError when a reference names a space or label that no vertices have."""
        if self._members(reference):
            return
        known = [label for piece in self._pieces for label in piece.labels] + [piece.space for piece in self._pieces]
        name = reference.space or ":".join(reference.labels or ())
        raise LoadError(
            f"there are no vertices `{name}`",
            file=origin.file or None,
            column=reference.column,
            hint=did_you_mean(name, dict.fromkeys(filter(None, known))),
        )

    def ambiguous(self, end: End) -> NDArray[np.bool_] | None:
        """Which ids stand for vertices of several tables; None when there can be no such ids."""
        members = self._members(end.reference)
        exact = end.reference.labels is not None and self._is_exact(members[0], end.reference.labels)
        if exact or len({self._pieces[index].space for index in members}) < 2:
            return None
        if members not in self._repeated:
            ids = concat_ids([self._pieces[index].ids for index in members])
            again = repeats(ids)
            self._repeated[members] = ids.take(pa.array(again)) if len(again) else None
        repeated = self._repeated[members]
        if repeated is None:
            return None
        found: NDArray[np.bool_] = pc.is_in(as_type(end.ids, repeated.type), value_set=repeated).to_numpy()
        return found

    def home(self, reference: Reference) -> Home:
        """The one table that the reference means, else a table with the labels that it names."""
        members = self._members(reference)
        if len({(frozenset(self._pieces[i].labels), self._pieces[i].space) for i in members}) == 1:
            piece = self._pieces[members[0]]
            return Home(piece.labels, piece.space, piece.id_name, piece.ids.type)
        labels = reference.labels or ((reference.space,) if reference.space else ())
        space = reference.space if reference.space and not members else f"{':'.join(labels)} (created)"
        return Home(labels, space, "id", None)

    def _members(self, reference: Reference) -> tuple[int, ...]:
        """Pieces by position; the ones with exactly the labels of the reference come first."""
        everything = range(len(self._pieces))
        if reference.space is not None:
            same_space = tuple(i for i in everything if self._pieces[i].space == reference.space)
            return same_space or tuple(i for i in everything if reference.space in self._pieces[i].labels)
        if reference.labels is None:
            return tuple(everything)
        wanted = set(reference.labels)
        carrying = [i for i in everything if wanted <= set(self._pieces[i].labels)]
        return tuple(sorted(carrying, key=lambda i: not self._is_exact(i, reference.labels or ())))

    def _is_exact(self, index: int, labels: tuple[str, ...]) -> bool:
        return set(self._pieces[index].labels) == set(labels)


def described(labels: tuple[str, ...] | None, space: str | None = None) -> str:
    """Vertices as messages name them."""
    if labels is None:
        return f"`{space}`" if space else "vertex"
    return f"`{':'.join(labels)}`" if labels else "vertex without labels"
