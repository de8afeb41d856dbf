"""Graphs of the TCK: its CREATE and DELETE clauses, run by a small reader of their own, become Arrow tables. What
stands before and between them is asked of gquery."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

import gquery
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable
from tests.conformance.tck_values import Node, Path, Reader, Relationship, UnreadableError

_CLAUSE = re.compile(r"(?<![:\w])(CREATE|DELETE|MATCH|WITH|UNWIND)\b")
Row = dict[str, object]
"""What names stand for: a node or a relationship that is stored, or a value."""
Stored = tuple[int, Relationship, int]
"""A relationship with the numbers of its ends."""


@dataclass
class Store:
    """What the statements made: nodes by number, and relationships."""

    nodes: list[Node] = field(default_factory=list)
    relationships: list[Stored] = field(default_factory=list)

    def run(self, statement: str) -> None:
        """Runs one statement of CREATE and DELETE clauses and others that read."""
        rows: list[Row] = [{}]
        for word, text in _parts(statement):
            match word:
                case "CREATE":
                    rows = [self._create(text, row) for row in rows]
                case "DELETE":
                    gone = [row.pop(text.split()[1]) for row in rows]
                    self.relationships = [each for each in self.relationships if each not in gone]
                case _:
                    rows = list(self._read(text, rows))

    def _read(self, clauses: str, rows: list[Row]) -> Iterator[Row]:
        """What the names stand for behind some clauses that read."""
        names = list(rows[0])
        nodes = [name for name in names if isinstance(rows[0][name], Node)]
        given = [{name: self._number(each) if isinstance(each, Node) else each for name, each in row.items()}
                 for row in rows]  # fmt: skip
        values = [name if name in nodes else f"row.{name} AS {name}" for name in names]
        begin = ["UNWIND $rows AS row"] if names else []
        begin += [f"MATCH ({name}) WHERE id({name}) = row.{name}" for name in nodes]
        begin += [f"WITH {', '.join(values)}"] if names else []
        result = build(self).query("\n".join([*begin, clauses, "RETURN *"]), {"rows": given} if names else {})
        for found in result.rows():
            named = zip(result.columns, found, strict=True)
            yield {name: self._stored(value) for name, value in named}

    def _stored(self, value: object) -> object:
        """What is stored, of what gquery found."""
        if isinstance(value, gquery.Node):
            return self.nodes[value.id]
        if not isinstance(value, gquery.Relationship):
            return value
        found = (value.start, value.type, value.end)
        return next(each for each in self.relationships if found == (each[0], each[1].types[0], each[2]))

    def _number(self, node: Node) -> int:
        return next(number for number, each in enumerate(self.nodes) if each is node)

    def _create(self, text: str, row: Row) -> Row:
        """Makes what CREATE says for a row; the row with the names of the new nodes."""
        known = dict(row)
        reader = Reader(text, known)
        reader.expect("create")
        self._add(reader.pattern(), known)
        while reader.take(","):
            self._add(reader.pattern(), known)
        reader.take(";")
        if not reader.done():
            raise UnreadableError(f"`{reader.peek()}` after a pattern of CREATE")
        return known

    def _add(self, path: Path, known: Row) -> None:
        numbers = [self._number(self._node(node, known)) for node in path.nodes]
        for position, relationship in enumerate(path.relationships):
            ends = numbers[position : position + 2]
            source, target = ends if path.forward[position] else ends[::-1]
            self.relationships.append((source, relationship, target))

    def _node(self, node: Node, known: Row) -> Node:
        if node.name is not None:
            stored = known.setdefault(node.name, node)
            if stored is not node:
                assert isinstance(stored, Node)
                return stored
        self.nodes.append(node)
        return node


def _parts(statement: str) -> Iterator[tuple[str, str]]:
    """CREATE and DELETE clauses one by one, with the word, and all others between two of them together, with none."""
    begins = [("" if match[1] not in ("CREATE", "DELETE") else match[1], match.start())
              for match in _CLAUSE.finditer(statement)]  # fmt: skip
    begins = [each for place, each in enumerate(begins) if each[0] or place == 0 or begins[place - 1][0]]
    ends = [*(start for _, start in begins[1:]), len(statement)]
    for (word, start), end in zip(begins, ends, strict=True):
        yield word, statement[start:end]


def build(store: Store) -> gquery.Graph:
    """The graph of `store`; a node's id is its number, which no property shows."""
    alike: dict[object, list[int]] = {}
    mixed = _mixed([*store.nodes, *(relationship for _, relationship, _ in store.relationships)])
    for number, node in enumerate(store.nodes):
        alike.setdefault((frozenset(node.labels), mixed(node)), []).append(number)
    numbers = [number for some in alike.values() for number in some]
    vertices = [
        VertexTable.from_arrow(tuple(sorted(store.nodes[some[0]].labels)), pa.chunked_array([some], pa.int64()),
                               _table([store.nodes[number].properties for number in some]), None)
        for some in alike.values()
    ]  # fmt: skip
    rows: dict[object, list[Stored]] = {}
    for each in store.relationships:
        rows.setdefault((each[1].types, mixed(each[1])), []).append(each)
    edges = []
    for some_rows in rows.values():
        ends = np.array([(source, target) for source, _, target in some_rows])
        source, target = np.argsort(numbers)[ends].T.astype(np.int32)
        properties = _table([relationship.properties for _, relationship, _ in some_rows])
        edges.append(EdgeTable.from_arrow(some_rows[0][1].types[0], source, target, properties))
    return gquery.Graph(Snapshot(vertices, edges))


def _mixed(elements: list[Node | Relationship]) -> Callable[[Node | Relationship], object]:
    """What tells an element from those that it cannot share an Arrow table with: the types of its properties, as far as
    elements have several."""

    def types(element: Node | Relationship) -> set[tuple[str, object]]:
        known = ((key, value) for key, value in (element.properties or {}).items() if value is not None)
        return {(key, getattr(value, "type", type(value))) for key, value in known}

    keys = Counter(key for key, _ in set().union(*map(types, elements)))
    return lambda element: frozenset(each for each in types(element) if keys[each[0]] > 1)


def _table(rows: list[dict[str, object] | None]) -> pa.Table:
    columns = {}
    for key in dict.fromkeys(key for row in rows for key in row or {}):
        values = [(row or {}).get(key) for row in rows]
        try:
            known = next((value for value in values if value is not None), None)
            columns[key] = _times(values, known.type) if isinstance(known, pa.Scalar) else pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise UnreadableError(f"property `{key}`: {error}") from error
    return pa.table(columns)


def _times(values: list[object], type: pa.DataType) -> pa.Array:
    """Times to the nanosecond, which Python does not know."""
    known = [value if isinstance(value, pa.Scalar) else None for value in values]
    if pa.types.is_interval(type):
        return pa.array([value and value.as_py() for value in known], type)
    if pa.types.is_struct(type):
        clocks = _times([value and value["time"] for value in known], type.field("time").type)
        offsets = pa.array([value and value["offset_seconds"].as_py() for value in known], pa.int32())
        return pa.StructArray.from_arrays([clocks, offsets], fields=list(type), mask=clocks.is_null())
    whole = pa.int32() if pa.types.is_date(type) else pa.int64()
    numbers = [None if value is None else value.cast(whole).as_py() for value in known]
    return pa.array(numbers, whole).cast(type)
