"""Graphs of the TCK: its CREATE statements, run by a small parser of their own, become Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

import gquery
from tests.conformance.tck_values import Node, Path, Reader, Relationship, UnreadableError

ID = "tck_id"


@dataclass
class Store:
    """What the statements made: nodes by number; relationships with the numbers of their ends."""

    nodes: list[Node] = field(default_factory=list)
    relationships: list[tuple[int, Relationship, int]] = field(default_factory=list)

    def run(self, statement: str) -> None:
        """Runs one statement: `[UNWIND list AS name] CREATE patterns [CREATE patterns ...]`."""
        reader = Reader(statement)
        if reader.take("unwind"):
            items = _unwound(reader)
            reader.expect("as")
            name = reader.peek()
            rest = statement.split("CREATE", 1)
            if len(rest) < 2 or not isinstance(items, list):
                raise UnreadableError("an UNWIND that does not go on with CREATE")
            for item in items:
                self._create(Reader("CREATE" + rest[1], {name: item}))
        else:
            self._create(reader)

    def _create(self, reader: Reader) -> None:
        known: dict[str, int] = {}
        while not reader.done():
            if reader.take(";"):
                continue
            reader.expect("create")
            self._add(reader.pattern(), known)
            while reader.take(","):
                self._add(reader.pattern(), known)

    def _add(self, path: Path, known: dict[str, int]) -> None:
        numbers = [self._node(node, known) for node in path.nodes]
        for position, relationship in enumerate(path.relationships):
            ends = numbers[position : position + 2]
            source, target = ends if path.forward[position] else ends[::-1]
            self.relationships.append((source, relationship, target))

    def _node(self, node: Node, known: dict[str, int]) -> int:
        if node.name is not None and node.name in known:
            return known[node.name]
        self.nodes.append(node)
        if node.name is not None:
            known[node.name] = len(self.nodes) - 1
        return len(self.nodes) - 1


def _unwound(reader: Reader) -> object:
    if not reader.take("range"):
        return reader.value()
    reader.expect("(")
    first = reader.value()
    reader.expect(",")
    last = reader.value()
    reader.expect(")")
    assert isinstance(first, int)
    assert isinstance(last, int)
    return list(range(first, last + 1))


def build(store: Store) -> gquery.Graph:
    """The graph of `store`. Raises UnreadableError when a property mixes types, which an Arrow column cannot hold."""
    tables: dict[tuple[str, ...], list[int]] = {}
    for number, node in enumerate(store.nodes):
        tables.setdefault(tuple(sorted(node.labels)), []).append(number)
    vertices = {
        labels: _table({ID: numbers}, [store.nodes[number].properties for number in numbers])
        for labels, numbers in tables.items()
    }
    groups: dict[tuple[tuple[str, ...], str, tuple[str, ...]], list[tuple[int, Relationship, int]]] = {}
    for source, relationship, target in store.relationships:
        source_labels, target_labels = (tuple(sorted(store.nodes[number].labels)) for number in (source, target))
        key = (source_labels, relationship.types[0], target_labels)
        groups.setdefault(key, []).append((source, relationship, target))
    edges = {}
    for key, rows in groups.items():
        ends = {"source": [source for source, _, _ in rows], "target": [target for _, _, target in rows]}
        edges[key] = _table(ends, [relationship.properties for _, relationship, _ in rows])
    return gquery.from_arrow(vertices=vertices, edges=edges, id=dict.fromkeys(vertices, ID))


def _table(ids: dict[str, list[int]], rows: list[dict[str, object] | None]) -> pa.Table:
    keys = dict.fromkeys(key for row in rows for key in row or {})
    columns = {name: pa.array(values, pa.int64()) for name, values in ids.items()}
    for key in keys:
        values = [(row or {}).get(key) for row in rows]
        if len({getattr(value, "type", type(value)) for value in values if value is not None}) > 1:
            raise UnreadableError(f"property `{key}` of several types")
        try:
            known = next((value for value in values if value is not None), None)
            columns[key] = _times(values, known.type) if isinstance(known, pa.Scalar) else pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise UnreadableError(f"property `{key}`: {error}") from error
    return pa.table(columns)


def _times(values: list[object], type: pa.DataType) -> pa.Array:
    """Times to the nanosecond, which Python does not know."""
    if pa.types.is_interval(type):
        return pa.array([value.as_py() if isinstance(value, pa.Scalar) else None for value in values], type)
    whole = pa.int32() if pa.types.is_date(type) else pa.int64()
    numbers = [value.cast(whole).as_py() if isinstance(value, pa.Scalar) else None for value in values]
    return pa.array(numbers, whole).cast(type)
