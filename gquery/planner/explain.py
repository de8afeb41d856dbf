"""The one renderer of plans: EXPLAIN with estimates, PROFILE with what really happened beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gquery.planner.physical import (
    EdgePredicateFilter,
    ExtendStep,
    Filter,
    LabelFilter,
    LoopFilter,
    MatchPlan,
    NeighbourFilter,
    PredicateFilter,
)
from gquery.planner.plan import QueryPlan
from gquery.planner.query_graph import QueryGraph


@dataclass(frozen=True, slots=True)
class Actuals:
    """What a run measured. filters: (before, after) for each; found: matches by level; seconds_until: kernel time of
    all threads by the level at which a vertex group ends; seconds: by stage of the pipeline."""

    filters: Sequence[tuple[int, int]]
    found: Sequence[int]
    seconds_until: Mapping[int, float]
    seconds: dict[str, float]
    candidate_bytes: int
    peak_bytes: int
    rows: int


def explain(plan: QueryPlan, matching: MatchPlan, tail: str, actual: Actuals | None = None) -> str:
    """The plan as text, one line a step, in the order of execution."""
    graph = plan.graph
    lines = []
    if graph.vertices:
        lines += ["Filter candidates" + _time(actual, "filter")]
        lines += _filters(plan, matching, actual)
        if matching.space == "candidates":
            size = f", {_bytes(actual.candidate_bytes)}" if actual else ""
            lines += [f"Build the candidate graph ({matching.reason}{size})" + _time(actual, "refine")]
        else:
            lines += [f"Walk the raw adjacency ({matching.reason})"]
        lines += _groups(plan, matching, actual)
    lines += [_answer(plan, matching, tail) + (f"  [{actual.rows:,} rows]" if actual else "")]
    if actual:
        total = sum(actual.seconds.values())
        lines += [f"Total {_seconds(total)}, at most {_bytes(actual.peak_bytes)} besides the graph"]
    return "\n".join(lines)


def _filters(plan: QueryPlan, matching: MatchPlan, actual: Actuals | None) -> list[str]:
    texts = [_filter_text(plan.graph, filter_) for filter_ in plan.filters]
    notes = []
    for index, filter_ in enumerate(plan.filters):
        if actual:
            before, after = actual.filters[index]
            notes.append(f"{before:,} -> {after:,}")
        elif isinstance(filter_, LabelFilter):
            notes.append(f"about {_number(matching.cardinalities.vertices[filter_.vertex])} after all filters")
        else:
            notes.append("")
    return [f"  {text}" + (f"  [{note}]" if note else "") for text, note in zip(texts, notes, strict=True)]


def _filter_text(graph: QueryGraph, filter_: Filter) -> str:
    match filter_:
        case LabelFilter(vertex=vertex):
            return f"{graph.vertices[vertex].described}: label"
        case PredicateFilter(vertex=vertex, predicates=predicates):
            return f"{graph.vertices[vertex].described}: {_count(len(predicates), 'predicate')}"
        case EdgePredicateFilter(edge=edge, predicates=predicates):
            return f"{graph.edges[edge].described}: {_count(len(predicates), 'predicate')}"
        case LoopFilter(vertex=vertex, present=present):
            return f"{graph.vertices[vertex].described}: {'has' if present else 'has no'} self-loop"
        case NeighbourFilter(vertex=vertex, edge=edge, required=required):
            return f"{graph.vertices[vertex].described}: at least {required} x {graph.edges[edge].described}"
    raise AssertionError(filter_)


def _groups(plan: QueryPlan, matching: MatchPlan, actual: Actuals | None) -> list[str]:
    lines = []
    level = 0
    for number, size in enumerate(matching.groups):
        seconds = ""
        if actual and level + size in actual.seconds_until:
            seconds = f"  [{_seconds(actual.seconds_until[level + size])}]"
        lines.append(f"Vertex group {number + 1}{seconds}")
        for step in matching.steps[level : level + size]:
            counted = matching.counting and level == len(matching.steps) - 1
            found = f", found {actual.found[level]:,}" if actual and level < len(actual.found) and not counted else ""
            lines.append(f"  {_step_text(plan, step, counted)}  [estimated {_number(step.rows)}{found}]")
            level += 1
    if matching.choices:
        edges = ", ".join(plan.graph.edges[choice.edge].described for choice in matching.choices)
        lines.append(f"Tell data edges apart: {edges}")
    return lines


def _step_text(plan: QueryPlan, step: ExtendStep, counted: bool) -> str:
    graph = plan.graph
    vertex = graph.vertices[step.vertex]
    text = ("Count " if counted else "Extend ") + vertex.described
    if step.backward:
        text += " along " + " and ".join(graph.edges[edge].described for edge in step.backward)
    else:
        text = ("Count " if counted else "Scan ") + vertex.described
    name = _names(graph)
    tests = [f"<> {name[other]}" for other in step.different_from]
    tests += [f"not ({name[a]} = {name[b]} and {name[c]} = {name[d]})" for a, b, c, d in step.different_pairs]
    tests += [f"no edge to {name[other]}" for other, _ in step.absent]
    for index in step.comparisons:
        comparison = plan.comparisons[index]
        tests.append(f"value at {name[comparison.left]} {comparison.operator} value at {name[comparison.right]}")
    return text + (", " + ", ".join(tests) if tests else "")


def _names(graph: QueryGraph) -> list[str]:
    return [vertex.described for vertex in graph.vertices]


def _answer(plan: QueryPlan, matching: MatchPlan, tail: str) -> str:
    if plan.counting:
        return "Count matches without listing them"
    stop = f"Stop after {matching.limit:,} matches\n" if matching.limit is not None else ""
    return stop + tail


def _time(actual: Actuals | None, stage: str) -> str:
    return f"  [{_seconds(actual.seconds.get(stage, 0.0))}]" if actual else ""


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
