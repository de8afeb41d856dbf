"""Writes docs/life-of-a-query.md from a real run of one query over the graph of the planner's tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from gquery.executor.lowering.lower import lower
from gquery.grammar.ast import Node
from gquery.grammar.parser import parse
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.query_graph import QueryGraph
from gquery.session import Prepared
from gquery.stopping import unchecked
from tests.planner.town import town

QUERY = """\
MATCH (a:Person)-[:KNOWS]->(b:Person)-[:LIVES_IN]->(c:City)
WHERE c.name = $city AND a.age < b.age
RETURN b.name AS name, count(*) AS younger
ORDER BY younger DESC, name LIMIT 3"""
PARAMETERS = {"city": "city 3"}

_PAGE = """\
# The life of a query

This page follows one query through the code, with what every stage really made of it. It is written by
`tests/docs/life_of_a_query.py`; a test compares, and `make golden` writes it anew. The whole way stands on one
screen in `gquery/session.py`.

The graph is a town: 400 people who know each other, 8 cities, 20 companies. Who in one city is known by the most
people who are younger?

```
{query}
```

with `$city = 'city 3'`.

## 1. From text to tree

`gquery/grammar/scanner.py` cuts the text into tokens, `parser.py` feeds them to the LALR parser that Lark makes of
`gquery.lark`, and `builder` makes the frozen nodes of `ast`. Every node keeps its place in the text, for
carets:

```
{tree}
```

## 2. From tree to query graph

`gquery/planner/binding/clauses.py` resolves names, labels, types and properties against the schema, one segment after
the other: neighbouring MATCH clauses are one (`grouping.py`, `matches.py`), every WITH and the RETURN are one each
(`projections.py`). Each says which variables come in and go out (`ir/segments.py`); this query has two. The parts of
WHERE that speak of one element alone go to that element; the rest spans several:

```
{bound}
```

## 3. Filters

`gquery/planner/plan.py` lists the passes that come before the data is looked at, one idea a file of `passes`:
`filters.py` and `candidates.py` pick what narrows the candidates of each vertex before any matching, and
`comparisons.py` and `constraints.py` say what the matcher has to test while it matches; those of `rewriting` make
another graph of the query's: what must be equal, as in `a.phone = b.phone`, becomes a vertex for the value, and edges
from it (`equal_values.py`), and edges that are compared, as in `p.time < q.time`, become vertices with edges to both of
their ends (`compared_edges.py`). What is left out because it always holds is certain (`storage/invariants.py`); what is
worth its cost is estimated (`storage/statistics.py`).
A condition is asked of all elements of its kind, also of those that no match has. Where it fails for some, such as
`10 / b.x > 1` where x is 0, it is asked again of what matters alone: `planner/relevant.py` makes a query of its own for
the elements that matches have which need not fulfil it. Of up to eight that it fails for, which asking halves finds
(`relational/scanning/failing.py`), it is asked whether they are in such a match, by queries that begin with them.
{constraints}

## 4. Order and plan

`plan.py` goes from the last segment to the first, since each asks something of the one before it: `demand.py` says
which vertices the answer speaks of: these are listed (`listing.py`), with those beside them that a value names, as
`$city` does; the others are summed out, so that only the number of their matches is known. `cardinality.py`
estimates how many vertices pass, `costs.py` what work costs; `ordering.py` picks the order of what is listed,
`grouping.py` the vertex groups, `factorise.py` the tree of what is summed out, and `matching.py` puts together the
`MatchPlan` of `ir/match_plan.py`, which is all that the executor is told. A count may become several plans that are
added and subtracted (`inclusion.py`), and symmetric matches are found once (`symmetry.py`).
`explain.py` prints it, as `graph.explain(...)` does:

```
{plan}
```

## 5. Candidates and matches

A run evaluates the predicates (`gquery/executor/lowering/masks.py`), filters (`cpu/candidates/sets.py`) and then plans
again with the true numbers. `executor/matcher.py` holds the way from here: `lowering/lower.py` turns the plan into a
program of levels, relations and tests by name, values that are compared become ranks (`ranks.py`), and those that are
met at become rows of those who have them (`values.py`). That is all that a backend is told:

```
{program}
```

On the CPU `cpu/search/pack.py` turns the program into flat arrays, and the kernel in `lists/extend.py` lists matches
block by block (`blocks.py`), on all cores (`workers.py`), which share what there is to do (`sharing.py`, `giving.py`);
`sums/chain.py` sums chains out in the same way, `sums/tree.py` whatever branches, `sums/inside.py` and `sums/push.py`
what is near a root or a pair (`lists/reached.py` lists such pairs), `sums/adaptive.py` in an order of its own for each
partial match, `sums/branch.py` folds. What comes back are positions and sums; `expansion/expand.py` makes matches of
them, the same for every backend.
Only ids travel: an int32 for a vertex, an int64 for an edge.
`graph.profile(...)` shows what happened (times and bytes are left out here):

```
{profile}
```

## 6. The answer

`gquery/executor/run.py` goes through the segments, each reading the rows of the one before while its own are read. A
pattern that begins with what is bound already, or with what values of the rows name (`chain/lookups.py`), starts from
the distinct bindings (`chain/seeds.py`), and its matches are joined back to the rows (`chain/joined.py`).

`gquery/executor/relational/tail.py` gathers the columns that are spoken of (`gather.py`) for each batch of matches,
or counts rows that are alike where there are many and properties of few values are grouped (`codes/alike.py`), and
gives them to one DuckDB statement, shown above, which does the grouping, sorting and cutting. A statement takes a
millisecond to begin with: where Arrow computes all that is asked as openCypher has it, rows that turn out to be few are
grouped and sorted by Arrow (`relational/direct`).
`gquery/result.py` hands the answer on as Arrow batches:

```
{answer}
```

## What writes

A statement that changes a graph goes the same way, several times ([writing](writing.md)). In `planner/binding/updates`,
`stages.py` cuts it into stages, each of which reads first and changes then; `stage.py` binds a stage over the graph
that the stages before have made: its segments, which begin with their rows, and an `Update` at the end
(`ir/updates.py`). All rows of a stage are read before `executor/updates` makes one batch of them, and
`storage/changes` the next snapshot. Ids keep their meaning, so that the rows go on. `gquery/store/statement.py` holds
this on one screen; the store shows the last snapshot to others when all stages are done.
"""


def page() -> str:
    """The text of the page."""
    graph = town()
    query = Prepared(graph.snapshot, QUERY, PARAMETERS, graph.settings)
    return _PAGE.format(
        query=QUERY,
        tree="\n".join(_outline(parse(QUERY))),
        bound="\n".join(_described(query.plan.matches[0].graph)),
        constraints=_constraints(query),
        plan=graph.explain(QUERY, PARAMETERS),
        program="\n".join(_lowered(query)),
        profile=_without_measures(graph.profile(QUERY, PARAMETERS)),
        answer="\n".join(str(row) for row in graph.query(QUERY, PARAMETERS).rows()),
    )


def _outline(node: Node, depth: int = 0) -> Iterator[str]:
    """One line a node, with the text that it stands for."""
    words = " ".join(QUERY[node.span.start : node.span.end].split())
    yield f"{'  ' * depth}{type(node).__name__}  {words}" if depth else type(node).__name__
    if depth == 3:
        return
    for field in fields(node):
        value = getattr(node, field.name)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, Node):
                yield from _outline(child, depth + 1)


def _described(graph: QueryGraph) -> Iterator[str]:
    for vertex in graph.vertices:
        yield f"u{vertex.index}  {vertex.described}, vertex tables {vertex.tables}{_predicates(vertex.predicates)}"
    for edge in graph.edges:
        yield f"e{edge.index}  u{edge.source} -> u{edge.target}, types {edge.types}{_predicates(edge.predicates)}"
    yield f"spanning several elements: {_texts(graph.predicates)}"


def _lowered(query: Prepared) -> Iterator[str]:
    half = query.matchings[0]
    (matching,) = half.matchings(half.cardinalities(None), "vertices", "", unchecked)
    program = lower(matching, unchecked)
    yield f"in the space of {program.space}, {program.listed} listed, {program.strategy}"
    for number, level in enumerate(program.levels):
        along = [f"{rows.relation.types} {rows.direction} from level {rows.level}" for rows in level.backward]
        told = [f"level {number}, candidates of u{level.candidates[0]}", *along]
        told += [f"rank pair {each.pair} {each.operator}" for each in level.comparisons]
        told += ["folded"] if level.folded else []
        yield ", ".join(told)


def _predicates(predicates: tuple[Expression, ...]) -> str:
    return f", where {_texts(predicates)}" if predicates else ""


def _texts(predicates: tuple[Expression, ...]) -> str:
    return " and ".join(QUERY[predicate.span.start : predicate.span.end] for predicate in predicates)


def _constraints(query: Prepared) -> str:
    constraints = query.plan.matches[0].problem.constraints
    tests = len(constraints.different) + len(constraints.different_pairs) + len(constraints.choices)
    assert not tests, "the page says that nothing can collide"
    comparisons = len(query.plan.matches[0].problem.comparisons)
    return (
        f"Here that is {comparisons} comparison of two vertices. No vertices or edges have to be told\n"
        "apart: a `KNOWS` edge is never a `LIVES_IN` edge, so `DIFFERENT EDGES` asks for nothing."
    )


def _without_measures(profile: str) -> str:
    """Without times and bytes, which no two runs share."""
    lines = [line for line in profile.splitlines() if not line.startswith("Total ")]
    return "\n".join(re.sub(r"  \[[\d.,]+ m?s\]$|, [\d.,]+ MB(?=\))", "", line) for line in lines)
