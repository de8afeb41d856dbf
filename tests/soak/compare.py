"""Whether the rows that gquery gives are those that the evaluator expects."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from typing import Any

import gquery
from tests.evaluator.answers import Answer
from tests.evaluator.values import Edge, Path, Vertex, exact
from tests.soak.tree import Aggregate, Called, Projection, Query


def agrees(query: Query, expected: Answer, found: list[tuple[Any, ...]]) -> bool:
    """Run by run: where SKIP or LIMIT cuts a run, any rows of it will do."""
    form = _form(query)
    rows = [form(row) for row in found]
    if len(rows) != expected.end - expected.begin:
        return False
    place = 0
    for run in expected.runs:
        begin, end = max(place, expected.begin), min(place + len(run), expected.end)
        place += len(run)
        if begin < end:
            shown = Counter(rows[begin - expected.begin : end - expected.begin])
            if not shown <= Counter(form(row) for row in run):
                return False
    return True


def _form(query: Query) -> Callable[[Iterable[Any]], tuple[Hashable, ...]]:
    """Rows in a form that can be compared. Where values are grouped, 1 and 1.0 may stand for each other, and so may one
    moment in two zones; a collected list has no order, nor have those that are collected in it."""
    loose = any(isinstance(clause, Projection | Called) and clause.grouped for clause in query.clauses)
    meant = [query.first_meant(item) for item, _ in query.returned.items]
    names = [item.name if isinstance(item, Aggregate) else "" for item in meant]
    projections = [clause for clause in query.clauses if isinstance(clause, Projection)]
    items = [item for clause in projections for item, _ in clause.items]
    twice = sum(isinstance(item, Aggregate) and item.name == "collect" for item in items) > 1

    def collected(value: list[Any]) -> Hashable:
        parts = (collected(part) if twice and isinstance(part, list) else canonical(part, loose) for part in value)
        return tuple(sorted(parts, key=repr))

    def column(name: str, value: Any) -> Hashable:
        match name, value:
            case "collect", list():
                return collected(value)
            # DuckDB goes over the values once, in floats: of numbers near 2^32 that differ by one, the deviation has an
            # error of 2^32 * 2^-53 for each of them, and a mean near zero of such numbers has no more right digits.
            case "stdev" | "stdevp" | "avg", float():
                return canonical(float(format(value, ".5g")), loose)
        return canonical(value, loose)

    return lambda row: tuple(map(column, names, row))


def canonical(value: Any, loose: bool = False) -> Hashable:
    """A value of either side. Floats are held to twelve digits: functions may differ in the last ones."""

    def inner(part: Any) -> Hashable:
        return canonical(part, loose)

    match value:
        case None | bool() | str():
            return (type(value).__name__, value)
        case float() if not loose or value in (float("inf"), float("-inf")) or value != value:
            return ("float", format(value + 0.0, ".12g"))
        case int() | float() | Decimal():
            return ("number", exact(Decimal(format(value, ".12g")) if isinstance(value, float) else value))
        case datetime.datetime() if value.tzinfo is not None:
            return ("zoned", value.astimezone(datetime.UTC).isoformat(), None if loose else value.utcoffset())
        case datetime.date() | datetime.time():
            return (type(value).__name__, value.isoformat())
        case list():
            return ("list", tuple(map(inner, value)))
        case dict():
            return ("map", tuple((key, inner(value[key])) for key in sorted(value)))
        case Vertex() | gquery.Node():
            return ("node", inner(value.id), tuple(sorted(value.labels)), inner(dict(value.properties)))
        case Edge():
            return _edge(value.type, value.source.id, value.target.id, value.properties, inner)
        case gquery.Relationship():
            return _edge(value.type, value.start, value.end, value.properties, inner)
        case Path():
            forward = tuple(one.source == before for before, one in zip(value[::2], value[1::2], strict=False))
            return ("path", tuple(map(inner, value)), forward)
        case gquery.Path():
            steps = zip(value.nodes[1:], value.relationships, strict=True)
            rest = [inner(part) for node, edge in steps for part in (edge, node)]
            return ("path", (inner(value.nodes[0]), *rest), value.forward)
    raise AssertionError(f"a value of type {type(value).__name__}: {value!r}")


def _edge(type: str, start: Any, end: Any, properties: Any, inner: Callable[[Any], Hashable]) -> Hashable:
    return ("relationship", type, inner(start), inner(end), inner(dict(properties)))
