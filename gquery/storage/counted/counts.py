"""What is counted of the edges of a graph: exact numbers, by edge type and vertex table.

Tables are vertex tables by index; edges are counted by type. A snapshot counts itself once, when first asked, and keeps
the numbers; a saved graph has them in its manifest; a test writes them down as literals. Nobody plans with them: what
has to be right is asked of `invariants.py`, what is only to be about right of `statistics.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, NamedTuple, get_args

from gquery.records import record
from gquery.stopping import Check, unchecked
from gquery.storage.schema import Direction

Verify = Callable[[str, Check], None]

_DIRECTIONS = frozenset(get_args(Direction))


class Between(NamedTuple):
    """Edges of one type from a source table to a target table; `loops` of them start and end in the same vertex."""

    source: int
    target: int
    edges: int
    loops: int = 0


class DegreeSums(NamedTuple):
    """Degrees of one type in one direction over the vertices of a table: how many are positive, Σ d, Σ d², max d.

    In direction "both" a self-loop counts once, as it does in `(a)--(a)`.
    """

    table: int
    direction: Direction
    with_any: int
    total: int
    squares: int
    maximum: int

    def and_of(self, others: DegreeSums) -> DegreeSums:
        """With other vertices of the table."""
        return DegreeSums(
            self.table,
            self.direction,
            self.with_any + others.with_any,
            self.total + others.total,
            self.squares + others.squares,
            max(self.maximum, others.maximum),
        )


@record(frozen=True, slots=True)
class TypeCounts:
    """Edges of one type. `simple`: no two edges have the same source and target; `simple_both`: nor the two swapped."""

    between: tuple[Between, ...] = ()
    degrees: tuple[DegreeSums, ...] = ()
    simple: bool = True
    simple_both: bool = True


@record(frozen=True, slots=True)
class Counts:
    """`vertices`: count per vertex table; `types`: by edge type, where a missing type has no edges. `verify` is called
    with an edge type before its numbers are relied on, and raises LoadError when they are wrong: others wrote them.
    It calls its second argument often, which raises what is to end it.
    """

    vertices: tuple[int, ...]
    types: Mapping[str, TypeCounts]
    verify: Verify | None = field(default=None, compare=False, repr=False)
    kinds: Mapping[tuple[str, Direction, int], int] | None = field(default=None, compare=False, repr=False)
    """The bits of signatures that were counted before the graph changed; None where the numbers here say which."""

    def of_type(self, name: str) -> TypeCounts:
        """The numbers of one type; LoadError when they are not those of its edges."""
        if name not in self.types:
            return TypeCounts()
        self.make_sure([name])
        return self.types[name]

    def make_sure(self, types: Iterable[str], check: Check = unchecked) -> None:
        """Verifies the numbers of some types: what is asked of them later takes no time. LoadError when they are wrong;
        what `check` raises, when that is to end."""
        for name in types:
            if self.verify is not None and name in self.types:
                self.verify(name, check)


def to_json(counts: Counts) -> dict[str, Any]:
    """As lists, numbers and strings."""
    types = {
        name: {"between": t.between, "degrees": t.degrees, "simple": t.simple, "simple_both": t.simple_both}
        for name, t in counts.types.items()
    }
    return {"vertices": counts.vertices, "types": types}


def from_json(value: Mapping[str, Any]) -> Counts:
    """The inverse of `to_json`; ValueError, KeyError, TypeError or AttributeError when `value` is something else. That
    its numbers are those of a graph is for the reader to find out."""
    types = {
        name: TypeCounts(
            tuple(Between(*row) for row in t["between"]),
            tuple(DegreeSums(*row) for row in t["degrees"]),
            _flag(t["simple"]),
            _flag(t["simple_both"]),
        )
        for name, t in value["types"].items()
    }
    found = Counts(tuple(value["vertices"]), types)
    numbers = [*found.vertices]
    for entry in types.values():
        for between in entry.between:
            numbers += between
        for table, direction, *sums in entry.degrees:
            if direction not in _DIRECTIONS:
                raise ValueError(direction)
            numbers += (table, *sums)
    if numbers and not (set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) < 2**63):
        raise ValueError("counts are whole numbers")
    return found


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(value)
    return value
