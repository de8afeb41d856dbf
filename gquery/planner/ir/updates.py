"""What a clause changes, bound: the last segment of a chain whose rows are read before anything is changed.

All that it computes of a row is a column of the rows before it; columns are named, elements are ids as in all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gquery.planner.ir.query_graph import PathVariable
from gquery.records import record

if TYPE_CHECKING:
    from gquery.planner.ir.segments import Variable


OWN = "\x1f"
"""What the names of columns and elements begin with that nobody has named. They end with their clause."""

PLACE = f"{OWN}row"
"""A column that the rows before an update have in any case."""


@record(frozen=True, slots=True)
class Given:
    """A property, and the column with its values; a null is none."""

    key: str
    column: str


@record(frozen=True, slots=True)
class MadeVertex:
    variable: str
    labels: tuple[str, ...]
    properties: tuple[Given, ...]


@record(frozen=True, slots=True)
class MadeEdge:
    """source, target: variables of vertices, made or of the rows."""

    variable: str
    type: str
    source: str
    target: str
    properties: tuple[Given, ...]


@record(frozen=True, slots=True)
class Create:
    """What is made for every row. vertices, edges: in the order in which they are written."""

    vertices: tuple[MadeVertex, ...]
    edges: tuple[MadeEdge, ...]
    paths: tuple[PathVariable, ...]

    @property
    def made(self) -> tuple[str, ...]:
        """The variables of all elements that are made."""
        return (*(each.variable for each in self.vertices), *(each.variable for each in self.edges))

    @property
    def properties(self) -> tuple[Given, ...]:
        elements: tuple[MadeVertex | MadeEdge, ...] = (*self.vertices, *self.edges)
        return tuple(given for each in elements for given in each.properties)


@record(frozen=True, slots=True)
class Merge:
    """For rows that have nulls in the place of what is made, where a pattern was looked for and not found. keys: the
    columns whose values tell which of them have it made once together. apart: what is made for one row may be found for
    another whose values are others, so that rows are looked at one by one."""

    create: Create
    keys: tuple[str, ...]
    apart: bool


@record(frozen=True, slots=True)
class GiveValues:
    """Values of properties of the element in a column; replacing: and of no others."""

    subject: str
    properties: tuple[Given, ...]
    replacing: bool = False


@record(frozen=True, slots=True)
class GiveMap:
    """As `GiveValues`, of all that a column of maps has. sparse: what is null there is none of its keys, as in the map
    of an element, which has those of others too."""

    subject: str
    map: str
    replacing: bool
    sparse: bool = False


@record(frozen=True, slots=True)
class GiveLabels:
    """Labels that the vertex in a column gets, or loses."""

    subject: str
    labels: tuple[str, ...]
    removing: bool = False


Change = GiveValues | GiveMap | GiveLabels


@record(frozen=True, slots=True)
class Give:
    """SET and REMOVE: in the order of rows, and for each in that of the changes; what comes last holds."""

    changes: tuple[Change, ...]


@record(frozen=True, slots=True)
class Delete:
    """The elements, and those of paths, in some columns; detach: with the edges of vertices."""

    columns: tuple[str, ...]
    detach: bool


@record(frozen=True, slots=True)
class Keep:
    """Nothing changes: the rows are for clauses that have rows of their own."""


Action = Create | Merge | Give | Delete | Keep


@record(frozen=True, slots=True)
class Update:
    """The end of a chain. input: the rows, all of which are read first; output: those that go on."""

    action: Action
    input: tuple[Variable, ...]
    output: tuple[Variable, ...]
