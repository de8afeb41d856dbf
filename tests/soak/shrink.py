"""Makes a failing case small: drops parts of the graph and of the query while it still fails in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.soak.check import Case, Verdict, judged
from tests.soak.tables import EdgeTable, Tables, VertexTable
from tests.soak.tree import Call, Exists, Labels, Match, Projection, Query, contains

_DROPPED = {"clauses", "walks", "items", "order", "steps", "properties", "entries"}  # tuples that may lose members
_LEFT_OUT = {"where", "labels", "types", "skip", "limit", "name"}  # what may be None


def shrunk(case: Case, verdict: Verdict, most: int = 2_000) -> tuple[Case, Verdict]:
    """The smallest case that is found in so many tries, and its verdict."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in (*_queries(case), *_tables(case)):
            tries += 1
            if tries > most:
                return case, verdict
            found = _judged(candidate)
            if found is not None and found.summary == verdict.summary:
                case, verdict, smaller = candidate, found, True
                break
    return case, verdict


def _judged(case: Case) -> Verdict | None:
    try:
        return judged(case)
    except Exception:  # a tree that means nothing, or tables that are none
        return None


def _queries(case: Case) -> Iterator[Case]:
    for query in _simpler(case.query):
        yield replace(case, query=query)


def _simpler(tree: Any) -> Iterator[Any]:
    """The tree with one thing less."""
    if isinstance(tree, tuple):
        for index, part in enumerate(tree):
            for simpler in _simpler(part):
                yield (*tree[:index], simpler, *tree[index + 1 :])
    if not is_dataclass(tree) or isinstance(tree, type):
        return
    if isinstance(tree, Call):
        yield from tree.arguments
    if isinstance(tree, Labels):
        yield from tree.parts
    if isinstance(tree, Exists) and tree.bare:  # which has the mode of the clause around it
        yield replace(tree, bare=False)
        return
    if isinstance(tree, Projection) and tree.star:  # which has all names
        yield replace(tree, star=False)
        return
    if isinstance(tree, Match) and tree.optional:
        yield replace(tree, optional=False)
    if isinstance(tree, Match) and tree.mode != "repeatable elements" and not contains(tree.where, Exists):
        yield replace(tree, mode="repeatable elements")
    if isinstance(tree, Projection) and tree.distinct:
        yield replace(tree, distinct=False)
    for each in fields(tree):
        value = getattr(tree, each.name)
        if each.name in _LEFT_OUT and value is not None:
            yield _changed(tree, each.name, None)
        if each.name in _DROPPED and isinstance(value, tuple):
            for index in range(len(value) - isinstance(tree, Query)):  # which ends with RETURN
                yield _changed(tree, each.name, (*value[:index], *value[index + 1 :]))
        for simpler in _simpler(value):
            yield _changed(tree, each.name, simpler)


def _changed(tree: Any, name: str, value: Any) -> Any:
    return replace(tree, **{name: value})


def _tables(case: Case) -> Iterator[Case]:
    tables = case.tables
    for index, edges in enumerate(tables.edges):
        for fewer in _fewer_edges(edges):
            yield replace(case, tables=replace(tables, edges=_put(tables.edges, index, fewer)))
    for index, vertices in enumerate(tables.vertices):
        if not vertices.rows and all(index not in (edges.source, edges.target) for edges in tables.edges):
            yield replace(case, tables=_without_table(tables, index))
        for id, _ in vertices.rows:
            yield replace(case, tables=_without(tables, index, id))
        for key in vertices.kinds:
            rows = tuple((id, _less(row, key)) for id, row in vertices.rows)
            smaller = replace(vertices, kinds=_less(vertices.kinds, key), rows=rows)
            yield replace(case, tables=replace(tables, vertices=_put(tables.vertices, index, smaller)))


def _fewer_edges(table: EdgeTable) -> Iterator[EdgeTable | None]:
    yield None
    for index in range(len(table.rows)):
        yield replace(table, rows=(*table.rows[:index], *table.rows[index + 1 :]))
    for key in table.kinds:
        rows = tuple((*row[:2], _less(row[2], key)) for row in table.rows)
        yield replace(table, kinds=_less(table.kinds, key), rows=rows)


def _without(tables: Tables, index: int, id: int | str) -> Tables:
    """Without one vertex and its edges."""

    def stays(edges: EdgeTable, row: tuple[Any, ...]) -> bool:
        return (edges.source, row[0]) != (index, id) and (edges.target, row[1]) != (index, id)

    vertices: VertexTable = tables.vertices[index]
    rest = replace(vertices, rows=tuple(row for row in vertices.rows if row[0] != id))
    edges = tuple(replace(each, rows=tuple(row for row in each.rows if stays(each, row))) for each in tables.edges)
    return Tables(_put(tables.vertices, index, rest), edges)


def _without_table(tables: Tables, index: int) -> Tables:
    def moved(place: int) -> int:
        return place - (place > index)

    edges = tuple(replace(each, source=moved(each.source), target=moved(each.target)) for each in tables.edges)
    return Tables(_put(tables.vertices, index, None), edges)


def _put(parts: tuple[Any, ...], index: int, part: Any) -> tuple[Any, ...]:
    return (*parts[:index], *(() if part is None else (part,)), *parts[index + 1 :])


def _less(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}
