"""Random graphs as tables: what the loader gets and what the evaluator sees are made of the same rows."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

import gquery
from tests.evaluator.values import Edge, Graph, Value, Vertex

ZONES = ("UTC", "+01:00", "Europe/Berlin", "-09:30")
_DAY = datetime.date(2024, 2, 29)
_NOON = datetime.datetime(2024, 3, 31, 12, 30, 15)

_RECORD = pa.struct([("a", pa.int64()), ("b", pa.string())])

# kind: its Arrow type, values. Floats are short binary fractions, so that sums do not depend on an order.
KINDS: dict[str, tuple[pa.DataType, tuple[Value, ...]]] = {
    "int": (pa.int64(), (0, 1, 1, 2, 3, -1, -7)),
    "byte": (pa.int8(), (0, 1, 2, -128, 127)),
    "big": (pa.int64(), (0, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -(2**53) - 1)),
    "float": (pa.float64(), (0.0, 1.0, 1.5, 2.0, -2.5, 0.25)),
    "special": (pa.float64(), (0.0, -0.0, nan, inf, -inf, 2.0**53, 0.57, 0.1, 2.0**63)),
    "decimal": (pa.decimal128(10, 2), tuple(map(Decimal, ("0.57", "1.00", "10.50", "0.10", "0.20", "2.01", "-3.00")))),
    "fine": (pa.decimal128(24, 6), tuple(map(Decimal, ("0.570000", "1.000000", "9007199254740993.000001", "0.1")))),
    "text": (pa.string(), ("a", "ab", "b", "B", "", "é", "it's", "1", "x\ny", "2024-02-29")),
    "truth": (pa.bool_(), (True, False)),
    "date": (pa.date32(), (_DAY, datetime.date(2024, 2, 28), datetime.date(1969, 12, 31), datetime.date(2024, 12, 30))),
    "local": (pa.timestamp("us"), (_NOON, _NOON.replace(microsecond=250_000), datetime.datetime(2024, 2, 29))),
    "zoned": (pa.timestamp("us", "UTC"), (_NOON, _NOON.replace(hour=23), datetime.datetime(2023, 12, 31, 23, 30))),
    "time": (pa.time64("us"), (datetime.time(12, 30), datetime.time(0, 0, 1), datetime.time(23, 59, 59))),
    "ints": (pa.list_(pa.int64()), ([], [1], [1, 2], [1, None], [None], [2, 1], [2**53 + 1])),
    "whole": (pa.decimal128(18, 0), tuple(map(Decimal, (2**53, 2**53 + 1, 0, 1, -5)))),
    "single": (pa.float32(), (0.0, 0.5, 1.5, -2.0, nan)),
    "unsigned": (pa.uint32(), (0, 1, 2**32 - 1)),
    "coded": (pa.dictionary(pa.int32(), pa.string()), ("a", "b", "ab", "")),
    "floats": (pa.list_(pa.float64()), ([], [1.0], [nan], [1.5, None], [0.25, 2.0])),
    "days": (pa.list_(pa.date32()), ([_DAY], [], [None, _DAY])),
    "nested": (pa.list_(pa.list_(pa.int64())), ([[1], []], [[1, None]], [None], [[1], [2]])),
    "record": (_RECORD, ({"a": 1, "b": "x"}, {"a": None, "b": "x"}, {"a": 2, "b": None})),
    "texts": (pa.list_(pa.string()), ([], ["a"], ["a", None], ["a", "b"], ["b"])),
}
# What each property holds; `x` differs from table to table.
VERTEX_KEYS = {
    "i": ("int", "byte", "unsigned"), "n": ("big",), "f": ("float", "single"), "g": ("special",),
    "d": ("decimal", "fine"), "e": ("whole",), "s": ("text", "coded"), "o": ("floats", "days", "nested", "record"),
    "b": ("truth",), "t": ("date",), "u": ("local",), "z": ("zoned",), "w": ("time",), "l": ("ints",), "m": ("texts",),
    "x": ("int", "float", "text", "truth", "date", "big", "decimal", "ints", "special", "coded", "local", "texts"),
}  # fmt: skip
EDGE_KEYS = {
    "k": ("int",), "v": ("float", "int"), "c": ("text",), "a": ("decimal",), "q": ("date", "text", "int"),
}  # fmt: skip


@dataclass(frozen=True)
class VertexTable:
    """kinds: of the properties. zone: of the zoned ones. rows: the id and the properties."""

    labels: tuple[str, ...]
    ids: str
    kinds: dict[str, str]
    zone: str
    rows: tuple[tuple[int | str, dict[str, Value]], ...]


@dataclass(frozen=True)
class EdgeTable:
    """source, target: indices of vertex tables. rows: the ids of both ends and the properties."""

    source: int
    type: str
    target: int
    kinds: dict[str, str]
    rows: tuple[tuple[int | str, int | str, dict[str, Value]], ...]


@dataclass(frozen=True)
class Tables:
    vertices: tuple[VertexTable, ...]
    edges: tuple[EdgeTable, ...]


def random_tables(random: Random) -> Tables:
    """Up to nine vertices and fourteen edges; with loops, parallel edges, several labels and ids of both types."""
    sets = random.sample(["", "A", "B", "C", "AB", "AC"], random.randint(1, 4))
    ids = random.choice(["int", "text", "mixed"])
    vertices = []
    for index, labels in enumerate(sets):
        kind = random.choice(["int", "text"]) if ids == "mixed" else ids
        kinds = _kinds(random, VERTEX_KEYS, 6)
        zone = random.choice(ZONES)
        numbers = range(4 * index, 4 * index + random.choice([0, 1, 2, 3, 3, 4, 4]))
        rows = [(number if kind == "int" else str(number), _properties(random, kinds, zone)) for number in numbers]
        vertices.append(VertexTable(tuple(labels), kind, kinds, zone, tuple(rows)))
    types = {type: _kinds(random, EDGE_KEYS, 3) for type in random.sample("RST", random.randint(1, 3))}
    pairs = [(one, two) for one in range(len(sets)) for two in range(len(sets))]
    edges = []
    for type, shared in types.items():
        for source, target in random.sample(pairs, random.randint(1, min(4, len(pairs)))):
            kinds = {key: random.choice(EDGE_KEYS[key]) for key in shared}
            there = [(row[0], other[0]) for row in vertices[source].rows for other in vertices[target].rows]
            chosen = random.choices(there, k=random.choice([0, 1, 3, 4, 6])) if there else []
            rows = [(*pair, _properties(random, kinds, "UTC")) for pair in chosen]
            edges.append(EdgeTable(source, type, target, kinds, tuple(rows)))
    return Tables(tuple(vertices), tuple(edges))


def _kinds(random: Random, keys: dict[str, tuple[str, ...]], most: int) -> dict[str, str]:
    chosen = random.sample(sorted(keys), random.randint(1, most))
    return {key: random.choice(keys[key]) for key in chosen}


def _properties(random: Random, kinds: dict[str, str], zone: str) -> dict[str, Value]:
    drawn = {key: random.choice((*KINDS[kind][1], None)) for key, kind in kinds.items()}
    return {key: _in_zone(value, zone) if kinds[key] == "zoned" else value for key, value in drawn.items()}


def _in_zone(value: Value, zone: str) -> Value:
    return value and value.replace(tzinfo=zone_of(zone))


def zone_of(name: str) -> datetime.tzinfo:
    if name[0] not in "+-":
        return ZoneInfo(name)
    hours, minutes = map(int, name[1:].split(":"))
    offset = datetime.timedelta(hours=hours, minutes=minutes)
    return datetime.timezone(offset if name[0] == "+" else -offset)


def to_evaluator(tables: Tables) -> Graph:
    made = [
        {id: Vertex(id, frozenset(table.labels), _present({"id": id} | properties)) for id, properties in table.rows}
        for table in tables.vertices
    ]
    edges = [
        Edge(table.type, made[table.source][source], made[table.target][target], _present(properties))
        for table in tables.edges
        for source, target, properties in table.rows
    ]
    return Graph(tuple(vertex for table in made for vertex in table.values()), tuple(edges))


def _present(properties: dict[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in properties.items() if value is not None}


def to_gquery(tables: Tables) -> gquery.Graph:
    id_types = {"int": pa.int64(), "text": pa.string()}
    vertices = {}
    for table in tables.vertices:
        columns = {"id": pa.array([id for id, _ in table.rows], id_types[table.ids])}
        vertices[table.labels] = pa.table(columns | _columns([row for _, row in table.rows], table.kinds, table.zone))
    edges = {}
    for table in tables.edges:
        source, target = tables.vertices[table.source], tables.vertices[table.target]
        ends = {
            "source": pa.array([row[0] for row in table.rows], id_types[source.ids]),
            "target": pa.array([row[1] for row in table.rows], id_types[target.ids]),
        }
        columns = ends | _columns([row[2] for row in table.rows], table.kinds, "UTC")
        edges[source.labels, table.type, target.labels] = pa.table(columns)
    return gquery.from_arrow(vertices=vertices, edges=edges)


def _columns(rows: list[dict[str, Value]], kinds: dict[str, str], zone: str) -> dict[str, Any]:
    return {
        key: pa.array([row[key] for row in rows], pa.timestamp("us", zone) if kind == "zoned" else KINDS[kind][0])
        for key, kind in kinds.items()
    }
