"""Graphs of networkx. The library is not imported: the graph that is given brings all that is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import pyarrow as pa

from gquery.errors import LoadError
from gquery.storage.load.assembly.assemble import assemble
from gquery.storage.load.assembly.rows import RawTable, Reference, edge_rows, vertex_rows
from gquery.storage.load.formats.arrow import split_labels
from gquery.storage.load.formats.names import DEFAULT_TYPE
from gquery.storage.load.formats.python_values import column_of
from gquery.storage.load.loading import Loading
from gquery.storage.load.options import NetworkxOptions, read_options
from gquery.storage.load.rejects import Origin, Part
from gquery.storage.load.report import LoadedGraph
from gquery.storage.load.running import run
from gquery.storage.load.text.header import Column, Role

_LABEL_ATTRIBUTES = ("labels", "label")
_TYPE_ATTRIBUTE = "type"


def from_networkx(graph: Any, **options: Unpack[NetworkxOptions]) -> LoadedGraph:
    """A graph from a networkx `Graph`, `DiGraph`, `MultiGraph` or `MultiDiGraph`.

    The node attribute `label` or `labels` (a text or a list) gives the labels, the edge attribute `type` the type
    (else `EDGE`); other attributes are properties. The node itself is the id: an integer when all are, else text.
    Every edge of an undirected graph becomes one edge. Raises LoadError, also for attributes of mixed types.
    """
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("nodes", "edges", "is_multigraph")):
        raise LoadError(f"a {type(graph).__name__} is no networkx graph")
    return run(read_options(options, NetworkxOptions), lambda loading: _read(loading, graph))


def _read(loading: Loading, graph: Any) -> LoadedGraph:
    node_groups: dict[tuple[str, ...], list[tuple[Any, dict[Any, Any]]]] = {}
    for node, attributes in graph.nodes(data=True):
        node_groups.setdefault(_labels(attributes), []).append((node, attributes))
    edge_groups: dict[str, list[tuple[Any, Any, dict[Any, Any]]]] = {}
    for source, target, attributes in graph.edges(data=True):
        written = attributes.get(_TYPE_ATTRIBUTE)
        kind = ("" if written is None else str(written)) or DEFAULT_TYPE
        edge_groups.setdefault(kind, []).append((source, target, attributes))
    integers = all(isinstance(node, int) and not isinstance(node, bool) for node in graph.nodes)
    if not integers:
        _expect_texts_apart(graph.nodes)
    vertices, edges = [], []
    for labels, nodes in node_groups.items():
        rows = [attributes for _, attributes in nodes]
        name = "" if any("id" in attributes for attributes in rows) else "id"
        ends: list[tuple[str, Role, list[Any]]] = [(name, "id", [node for node, _ in nodes])]
        vertices += vertex_rows(loading, _table(ends, rows, _LABEL_ATTRIBUTES, "nodes", integers), labels, "")
    for kind, group in edge_groups.items():
        ends = [("source", "start", [edge[0] for edge in group]), ("target", "end", [edge[1] for edge in group])]
        table = _table(ends, [edge[2] for edge in group], (_TYPE_ATTRIBUTE,), "edges", integers)
        edges += edge_rows(loading, table, kind, Reference("source"), Reference("target"))
    return assemble(loading, vertices, edges)


def _expect_texts_apart(nodes: Iterable[Any]) -> None:
    """Raises LoadError where two nodes have one id as text, as 0 and "0" do."""
    named: dict[str, Any] = {}
    for node in nodes:
        other = named.setdefault(str(node), node)
        if other is not node:
            raise LoadError(
                f"the nodes {other!r} and {node!r} have the same id: not all nodes are integers, so that ids are texts",
                file="nodes",
                hint="give nodes of one kind: networkx.convert_node_labels_to_integers, networkx.relabel_nodes",
            )


def _labels(attributes: Mapping[Any, Any]) -> tuple[str, ...]:
    for name in _LABEL_ATTRIBUTES:
        value = attributes.get(name)
        if value is not None:
            return split_labels(value if isinstance(value, str | list | tuple) else str(value))
    return ()


def _table(
    ids: list[tuple[str, Role, list[Any]]],
    rows: list[dict[Any, Any]],
    without: tuple[str, ...],
    place: str,
    integers: bool,
) -> RawTable:
    """Id columns, then one column for each attribute that some row has."""
    keys = dict.fromkeys(str(key) for row in rows for key in row if key not in without)
    columns = [Column(name, role) for name, role, _ in ids] + [Column(key) for key in keys]
    texts = [values if integers else [str(value) for value in values] for _, _, values in ids]
    by_name = [_by_name(row, place) for row in rows]
    data = [_array(name or "id", values, place) for (name, _, _), values in zip(ids, texts, strict=True)]
    data += [_array(key, [row.get(key) for row in by_name], place) for key in keys]
    return RawTable(tuple(columns), tuple(data), Origin((Part(place, len(rows)),)), is_text=False)


def _by_name(row: dict[Any, Any], place: str) -> dict[str, Any]:
    """Attributes by their names as text. Raises LoadError where two have one name, as 3 and "3" do."""
    named: dict[str, Any] = {}
    for key, value in row.items():
        name = str(key)
        if name in named:
            raise LoadError("two attributes have this name as text", file=place, column=name)
        named[name] = value
    return named


def _array(name: str, values: list[Any], place: str) -> pa.ChunkedArray:
    try:
        column = column_of(values)
        return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise LoadError(f"the attribute cannot be a column: {reason}", file=place, column=name) from None
