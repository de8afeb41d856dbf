"""Whether the rows that gquery gives are those that the evaluator expects."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from typing import Any

import gquery
from tests.evaluator.answers import Answer, contains
from tests.evaluator.tree import Aggregate, Query
from tests.evaluator.values import Edge, Path, Vertex, exact, is_nan


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
    moment in two zones; a collected list has no order."""
    loose = query.distinct or any(contains(item, Aggregate) for item, _ in query.items)
    names = [item.name if isinstance(item, Aggregate) else "" for item, _ in query.items]

    def column(name: str, value: Any) -> Hashable:
        if name in ("stdev", "stdevp"):  # far from zero the last digits are the mean's
            return ("float", format(value, ".6g"))
        return _bag(value, loose) if name == "collect" else canonical(value, loose)

    def form(row: Iterable[Any]) -> tuple[Hashable, ...]:
        return tuple(map(column, names, row))

    return form


def _bag(values: Any, loose: bool) -> Hashable:
    return tuple(sorted((canonical(value, loose) for value in values), key=repr))


def canonical(value: Any, loose: bool = False) -> Hashable:
    """A value of either side. Floats are held to twelve digits: functions may differ in the last ones."""

    def inner(part: Any) -> Hashable:
        return canonical(part, loose)

    match value:
        case None | bool() | str():
            return (type(value).__name__, value)
        case float() if not loose or value in (float("inf"), float("-inf")) or is_nan(value):
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
        case Path(elements):
            return ("path", tuple(map(inner, elements)))
        case gquery.Path():
            steps = zip(value.nodes[1:], value.relationships, strict=True)
            rest = [inner(part) for node, edge in steps for part in (edge, node)]
            return ("path", (inner(value.nodes[0]), *rest))
    raise AssertionError(f"a value of type {type(value).__name__}: {value!r}")


def _edge(type: str, start: Any, end: Any, properties: Any, inner: Callable[[Any], Hashable]) -> Hashable:
    return ("relationship", type, inner(start), inner(end), inner(dict(properties)))
