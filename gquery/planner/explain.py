"""The one renderer of plans: EXPLAIN with estimates, PROFILE with what really happened beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gquery.planner.explain_filters import filter_text, looked_up_lines
from gquery.planner.explain_paths import paths_heading, paths_lines
from gquery.planner.explain_updates import update_heading, update_lines
from gquery.planner.ir.filters import (
    EdgesFilter,
    EndsFilter,
    LabelFilter,
    LookupFilter,
    NeighbourFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan, Strategy
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.query_plan import ApplyPlan, ChainPlan, PathsPlan, QueryPlan
from gquery.planner.ir.segments import Exists, Match, NotExists, OptionalMatch, Project, Unwind
from gquery.planner.ir.updates import Update
from gquery.planner.ir.written import written
from gquery.records import record

_WAYS: Mapping[Strategy | None, str] = {
    None: "",
    "chain": " block by block",
    "tree": " depth first",
    "fold": " in one pass",
    "push": ", pushed from each {root} to all {far}",
    "adaptive": " depth first, next the vertex with the smallest set at hand, for some {tried} looks",
    "inside": " inside the neighbourhood of each {root}",
}


@record(frozen=True, slots=True)
class Ran:
    """What a run measured: by step, in seconds altogether, and the bytes that it held at most."""

    steps: Sequence[Measured]
    seconds: float
    peak_bytes: int


class Measured(Protocol):
    """What a run measured of a step. profile: seconds by stage, and what was searched for each matching; placed: why a
    count went where it went, where there was a choice."""

    @property
    def profile(self) -> Profiled: ...

    @property
    def matchings(self) -> Sequence[MatchPlan]: ...

    @property
    def candidates(self) -> Narrowed | None: ...

    @property
    def rows(self) -> int: ...

    @property
    def branches(self) -> Sequence[Sequence[Measured]]: ...

    @property
    def placed(self) -> str: ...


class Narrowed(Protocol):
    """Candidates, with what each filter left of them."""

    @property
    def outcomes(self) -> Sequence[Outcome]: ...

    @property
    def nbytes(self) -> int: ...


class Outcome(Protocol):
    """How many there were before a filter and after it."""

    @property
    def before(self) -> int: ...

    @property
    def after(self) -> int: ...


class Profiled(Protocol):
    @property
    def seconds(self) -> Mapping[str, float]: ...

    @property
    def enumerations(self) -> Sequence[Enumerated]: ...


class Enumerated(Protocol):
    """found: matches by level; seconds_until: kernel time of all threads by the level at which a vertex group ends."""

    @property
    def found(self) -> NDArray[np.int64]: ...

    @property
    def seconds_until(self) -> Mapping[int, float]: ...


class Described(Protocol):
    """What a projection does."""

    def describe(self) -> str: ...


class Chained(Protocol):
    """What the steps of a chain are made of: projections, and the chains of subqueries, by step."""

    @property
    def tails(self) -> Mapping[int, Described]: ...

    @property
    def subqueries(self) -> Mapping[int, Sequence[Chained]]: ...


Estimated = Callable[[int], Sequence[MatchPlan]]
"""How the matches of a segment are planned without having counted anything, by its number."""


Placed = Callable[[int], str]
"""Where a segment's count would go, and why, by its number; nothing where there is no choice."""


def explain(plan: ChainPlan, chain: Chained, estimated: Estimated, placed: Placed, ran: Ran | None = None) -> str:
    """The plan as text, one line a step, in the order of execution; what ran stands beside it. A chain of clauses has a
    heading for each, with its own steps below."""
    lines = _chain_lines(plan, chain, estimated, placed, ran.steps if ran else ())
    if ran:
        lines += [f"Total {_seconds(ran.seconds)}, at most {_bytes(ran.peak_bytes)} besides the graph"]
    return "\n".join(lines)


def _chain_lines(
    plan: ChainPlan, chain: Chained, estimated: Estimated, placed: Placed, ran: Sequence[Measured]
) -> list[str]:
    lines: list[str] = []
    plain = len(plan.steps) <= 2 and not any(isinstance(step, _HEADED) for step in plan.steps)
    for number, step in enumerate(plan.steps):
        here = ran[number] if ran else None
        if isinstance(step, QueryPlan):
            heading, below = _match_heading(step), _match_lines(step, partial(estimated, step.number), here)
        elif isinstance(step, PathsPlan):
            heading, below = paths_heading(step), paths_lines(step)
        elif isinstance(step, ApplyPlan):
            heading, below = _apply_heading(step), []
            for place, (branch, inner) in enumerate(zip(step.branches, chain.subqueries[number], strict=True)):
                below += ["UNION"] if place else []
                below += _chain_lines(branch, inner, estimated, placed, here.branches[place] if here else ())
        elif isinstance(step, Update):
            heading, below = update_heading(step), update_lines(step)
        else:
            heading = _project_heading(step, number == len(plan.steps) - 1)
            counts = plan.counts(number)
            below = chain.tails[number].describe().splitlines()
            if counts:
                where = ran[number - 1].placed if ran else placed(plan.matches[0].number)
                below = [*filter(None, [where]), "Count matches without listing them"]
        rows = f"  [{here.rows:,} rows]" if here and not (plain and isinstance(step, QueryPlan)) else ""
        if plain:
            lines += [*below[:-1], below[-1] + rows]
        else:
            lines += [heading + rows, *(f"  {line}" for line in below)]
    return lines


_HEADED = ApplyPlan | PathsPlan | Update


def _apply_heading(plan: ApplyPlan) -> str:
    """What is asked of a subquery, and what it reads of the rows."""
    apply = plan.segment
    word = "CALL" if apply.asked == "rows" else apply.asked.upper()
    read = ", ".join(variable.name for variable in apply.imported)
    each = "once" if apply.row is None else "for each row"
    return f"{word} {each}" + (f", with {read}" if read else "")


def _project_heading(project: Project, last: bool) -> str:
    if isinstance(project, Unwind):
        return f"UNWIND AS {project.projection.items[-1].name}"
    return "RETURN" if last else "WITH"


def _match_heading(plan: QueryPlan) -> str:
    """The clause, and what its rows are joined by."""
    segment = plan.segment
    words: dict[type[Match], str] = {OptionalMatch: "OPTIONAL MATCH", Exists: "EXISTS", NotExists: "NOT EXISTS"}
    word = words.get(type(segment), "MATCH")
    edges = [edge.described for edge in segment.graph.edges]
    alone = [vertex.described for vertex in segment.graph.vertices if not segment.graph.incident[vertex.index]]
    looked_up = [written((lookup.condition,)) for lookup in segment.lookups]
    joined = [*segment.bound, *looked_up, *(["conditions"] if segment.predicates else [])]
    heading = f"{word} {', '.join([*edges, *alone])}" + (f", joined by {', '.join(joined)}" if joined else "")
    if segment.input and plan.counting:
        return f"{heading}, counted once for all rows"
    return heading + (", once for rows that are alike" if segment.input and plan.merging else "")


def _match_lines(plan: QueryPlan, estimated: Callable[[], Sequence[MatchPlan]], actual: Measured | None) -> list[str]:
    if plan.looks_up:
        return ["Look up, and match with nothing", *looked_up_lines(plan)]
    matchings = (actual.matchings if actual else ()) or estimated()
    first = matchings[0]
    lines = ["Filter candidates" + _time(actual, "filter"), *_filters(plan, first, actual)]
    if first.space == "candidates":
        size = f", {_bytes(actual.candidates.nbytes)}" if actual and actual.candidates else ""
        lines += [f"Build the candidate graph ({first.reason}{size})" + _time(actual, "refine")]
    elif first.scanned:
        return [*lines, *_scan(first, actual), *_limit(matchings)]
    else:
        lines += [f"Walk the raw adjacency ({first.reason})"]
    if plan.segment.lead:
        few = any(isinstance(each, EndsFilter) for each in plan.filters)  # then it is not the text that says so
        lines += [f"Begin the order with {', '.join(plan.segment.lead)}" + ("" if few else ", as USING says")]
    for number, matching in enumerate(matchings):
        enumerations = actual.profile.enumerations if actual else ()
        measured = enumerations[number] if number < len(enumerations) else None
        if len(matchings) > 1:
            lines += [_term(plan.problem, matching.problem)]
        lines += _groups(matching, measured)
    return lines + _limit(matchings)


def _limit(matchings: Sequence[MatchPlan]) -> list[str]:
    return [f"Stop after {each.limit:,} matches" for each in matchings if each.limit is not None]


def _scan(matching: MatchPlan, actual: Measured | None) -> list[str]:
    """The one step of a plan that looks at data edges alone."""
    (edge,), step = matching.graph.edges, matching.steps[-1]
    (measured,) = (actual.profile.enumerations if actual else ()) or (None,)
    seconds = f"  [{_seconds(measured.seconds_until[2])}]" if measured else ""
    tests = "".join(f", {one} <> {other}" for one, other in _different(matching))
    note = _estimates(step, int(measured.found[1]) if measured else 0)
    return [f"Scan the edges, each is a match{seconds}", f"  {edge.described}{tests}  [{note}]"]


def _different(matching: MatchPlan) -> list[tuple[str, str]]:
    """The vertices that have to differ, by their names."""
    name = _names(matching.graph)
    return [(name[one], name[other]) for one, other in matching.problem.different]


def _estimates(step: ExtendStep, found: int) -> str:
    """How many partial matches were expected after a step, and how many there were."""
    estimates = [f"estimated {_number(step.rows)}"]
    if step.contexts:
        estimates.append(f"in {_number(step.contexts)} contexts")
    if found:
        estimates.append(f"found {found:,}")
        if f"{(ratio := step.rows / found):.2g}" != "1":
            estimates.append(f"ratio {_ratio(ratio)}")
    return ", ".join(estimates)


def _term(query: Problem, problem: Problem) -> str:
    """How a problem takes part in a sum of several, by what distinguishes it from the query."""
    sign = "Add" if problem.coefficient > 0 else "Subtract"
    times = f" {abs(problem.coefficient)} times" if abs(problem.coefficient) > 1 else ""
    name = _names(query.graph)
    groups = dict.fromkeys(group for group in problem.merged if len(group) > 1)
    changes = [" = ".join(name[vertex] for vertex in group) for group in groups]
    changes += [
        f"with {edge.described}"
        for edge, origin in zip(problem.graph.edges, problem.edges, strict=True)
        if origin is None
    ]
    left_out, tests = query.constraints.tests, problem.constraints.tests
    what = "matches" + (f" where {', '.join(changes)}" if changes else "")
    if not changes and tests < left_out:
        what += f" that pass {tests} of {_count(left_out, 'test')}"
    return f"{sign}{times} the {what}"


def _filters(plan: QueryPlan, matching: MatchPlan, actual: Measured | None) -> list[str]:
    texts = [filter_text(plan.graph, filter_) for filter_ in plan.filters]
    left = zip(matching.problem.merged, matching.cardinalities.vertices, strict=True)
    sizes = {vertex: size for group, size in left for vertex in group}
    notes = []
    for index, filter_ in enumerate(plan.filters):
        if actual and actual.candidates:
            outcome = actual.candidates.outcomes[index]
            notes.append(f"{outcome.before:,} -> {outcome.after:,}")
        elif isinstance(filter_, LabelFilter | SeedFilter | ValueFilter | EdgesFilter | LookupFilter):
            size = sizes.get(filter_.vertex)  # values may be compared, and not met at
            notes.append("" if size is None else f"about {_number(size)} after all filters")
        elif isinstance(filter_, NeighbourFilter):
            notes.append(f"{'by signature, ' if filter_.signature is not None else ''}keeps about {filter_.share:.0%}")
        else:
            notes.append("")
    left_out = [f"{plan.implied} that every vertex passes"] if plan.implied else []
    left_out += [f"{plan.costly} that would cost more than they save"] if plan.costly else []
    lines = [f"  {text}" + (f"  [{note}]" if note else "") for text, note in zip(texts, notes, strict=True)]
    return lines + (["  Left out: " + ", ".join(left_out)] if left_out else [])


def _groups(matching: MatchPlan, measured: Enumerated | None) -> list[str]:
    lines = []
    level = 0
    for number, size in enumerate(matching.groups):
        seconds = ""
        if measured and level + size in measured.seconds_until:
            seconds = f"  [{_seconds(measured.seconds_until[level + size])}]"
        summed = level >= matching.kept
        symmetric = f", each match stands for {matching.factor:,}" if matching.factor > 1 and not number else ""
        root, far = (matching.graph.vertices[vertex].described for vertex in (matching.order * 2)[:2])
        way = _WAYS[matching.strategy].format(root=root, far=far, tried=_number(matching.tried))
        what = f"Sum out{way}" if summed else f"Vertex group {number + 1}"
        lines.append(what + symmetric + seconds)
        depths = _depths(matching)
        for step in matching.steps[level : level + size]:
            note = _estimates(step, int(measured.found[level]) if measured and level < len(measured.found) else 0)
            indent = "  " * (1 + depths[level])
            lines.append(f"{indent}{_step_text(matching, level, step)}  [{note}]")
            level += 1
    return lines + _told_apart(matching)


def _told_apart(matching: MatchPlan) -> list[str]:
    """What is done about query edges that several data edges may fit."""
    ways: dict[str, list[str]] = {}
    for choice in matching.choices:
        way = "Tell data edges apart" if choice.listed else "Multiply by the number of data edges"
        way = "Match once for each data edge" if choice.edge in matching.repeated else way
        ways.setdefault(way, []).append(matching.graph.edges[choice.edge].described)
    return [f"{way}: {', '.join(edges)}" for way, edges in ways.items()]


def _depths(matching: MatchPlan) -> list[int]:
    """Depth of each level in the tree of those that are summed out; 0 for what is listed."""
    depths: list[int] = []
    for level, step in enumerate(matching.steps):
        depths.append(depths[step.parent] + 1 if level > 0 and level >= matching.kept else 0)
    return depths


def _step_text(matching: MatchPlan, level: int, step: ExtendStep) -> str:
    graph = matching.graph
    vertex = graph.vertices[step.vertex]
    if step.backward:
        along = " and ".join(graph.edges[edge].described for edge in step.backward)
        text = f"{'Extend' if level < matching.kept else 'Sum over'} {vertex.described} along {along}"
    else:
        reached = matching.strategy == "push" and level == 1 < matching.kept
        way = "Reach" if reached else "Scan" if level == 0 or level < matching.kept else "Sum over"
        text = f"{way} {vertex.described}"
    name = _names(graph)
    tests = [f"<> {name[other]}" for other in step.different_from]
    if step.constants:
        tests.append(f"less {len(step.constants)} for {', '.join(name[other] for other in step.constants)}")
    tests += [f"> {name[other]}" for other in step.above]
    tests += [f"not ({name[a]} = {name[b]} and {name[c]} = {name[d]})" for a, b, c, d in step.different_pairs]
    tests += [f"no edge to {name[other]}" for other, *_ in step.absent]
    for index in step.comparisons:
        comparison = matching.comparisons[index]
        tests.append(f"value at {name[comparison.left]} {comparison.operator} value at {name[comparison.right]}")
    if step.folded:
        tests.append("for all " + name[step.context[0]])
    if step.like is not None:
        tests.append(f"as many as for {name[step.like]} before that")
    if step.contexts:
        tests.append("once for each " + (", ".join(name[other] for other in step.context) or "run"))
    return text + (", " + ", ".join(tests) if tests else "")


def _names(graph: QueryGraph) -> list[str]:
    return [vertex.described for vertex in graph.vertices]


def _time(actual: Measured | None, stage: str) -> str:
    return f"  [{_seconds(actual.profile.seconds.get(stage, 0.0))}]" if actual else ""


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _number(value: float) -> str:
    return f"{round(value):,.15g}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _ratio(value: float) -> str:
    """Of an estimate to the truth, in two digits."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
