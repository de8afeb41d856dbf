"""Conditions that fail for some values, beside others: whether a query is an error, and what it answers else, against
an evaluator that looks at whole matches.

A match is one for which all conditions are true. It is an error if for some match none is false or null, and one fails;
of elements that are in no such match it does not matter whether they fail. Where one fails and a later one is false it
may be an error: which is asked first is the planner's choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product, takewhile
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pytest

import gquery
from gquery.errors import ExecutionError
from gquery.executor.relational.scanning import failing
from tests.differential.test_random import FUZZ

Row = Mapping[str, int | None]
Truth = bool | None


@pytest.fixture(autouse=True)
def many_are_few(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every second part as if more elements failed than are looked at one by one."""
    if chunk % 2:
        monkeypatch.setattr(failing, "FEW", 0)


class Fails(Exception):
    pass


class Condition(NamedTuple):
    """text: in the query. of: of the values of a match. may_fail: as the planner sees it. operator, parts: what it is
    made of, if it is AND or OR."""

    text: str
    of: Callable[[Row], Truth]
    may_fail: bool
    operator: str = ""
    parts: tuple[Condition, ...] = ()

    def operands(self, operator: str) -> Iterator[Condition]:
        """Of AND within AND, all."""
        if self.operator != operator:
            yield self
        for part in self.parts if self.operator == operator else ():
            yield from part.operands(operator)


def divided(number: int | None, by: int | None) -> int | None:
    if number is None or by is None:
        return None
    if by == 0:
        raise Fails
    return abs(number) // abs(by) * (-1 if (number < 0) != (by < 0) else 1)


def leaf(names: list[str], random: Random) -> Condition:
    one, other = random.choice(names), random.choice(names)
    number = random.randint(-2, 2)
    match random.randrange(6):
        case 0:
            return Condition(f"{one} IS NULL", lambda row: row[one] is None, False)
        case 1:
            return Condition(f"{one} <> {number}", lambda row: _compared(row[one], number, "<>"), False)
        case 2:
            return Condition(f"{one} > {number}", lambda row: _compared(row[one], number, ">"), False)
        case 3:
            return Condition(f"6 / {one} > {number}", lambda row: _compared(divided(6, row[one]), number, ">"), True)
        case 4:
            sign = random.choice(("<>", ">", "="))
            return Condition(
                f"6 / {one} {sign} {other}", lambda row: _compared(divided(6, row[one]), row[other], sign), True
            )
    return Condition(
        f"{other} / {one} > {number}", lambda row: _compared(divided(row[other], row[one]), number, ">"), True
    )


def _compared(one: int | None, other: int | None, sign: str) -> Truth:
    if one is None or other is None:
        return None
    return one > other if sign == ">" else (one == other) == (sign == "=")


def condition(names: list[str], random: Random, depth: int = 2) -> Condition:
    if depth == 0 or random.random() < 0.4:
        return leaf(names, random)
    parts = [condition(names, random, depth - 1) for _ in range(random.randint(1, 3))]
    if len(parts) == 1:
        (part,) = parts
        return Condition(f"NOT ({part.text})", lambda row: None if (is_ := part.of(row)) is None else not is_,
                         part.may_fail)  # fmt: skip
    operator = random.choice(("AND", "OR"))
    text = f" {operator} ".join(f"({part.text})" for part in parts)
    every = [operand for part in parts for operand in part.operands(operator)]
    may_fail = any(part.may_fail for part in parts)
    return Condition(text, lambda row: joined(operator, every, row), may_fail, operator, tuple(parts))


def joined(operator: str, parts: list[Condition], row: Row) -> Truth:
    """Those that cannot fail tell first; then one after the other."""
    telling, answer = operator == "OR", operator != "OR"
    found: set[Truth] = set()
    safe = [part.of(row) for part in parts if not part.may_fail]
    if telling in safe:
        return telling
    found.update(safe)
    for part in parts:
        if part.may_fail:
            found.add(part.of(row))
            if telling in found:
                return telling
    return None if None in found else answer


class Outcome(NamedTuple):
    """may_fail: if those that may fail are asked one after the other."""

    passes: bool
    fails: bool
    may_fail: bool


def asked(conditions: list[Condition], row: Row) -> Outcome:
    """Whether all are true; whether none is false or null, and one fails."""
    found: list[Truth | Fails] = []
    every = (operand for each in conditions for operand in each.operands("AND"))
    for each in sorted(every, key=lambda each: each.may_fail):
        try:
            found.append(each.of(row))
        except Fails as failure:
            found.append(failure)
    true = [each for each in found if each is True or isinstance(each, Fails)]
    fails = [isinstance(each, Fails) for each in true]
    beginning = list(takewhile(lambda each: each is True or isinstance(each, Fails), found))
    is_match = len(true) == len(found)
    may_fail = any(isinstance(each, Fails) for each in beginning)
    return Outcome(is_match and not any(fails), is_match and any(fails), may_fail)


class Data(NamedTuple):
    vertices: list[int | None]
    edges: list[tuple[int, int, int | None]]

    def graph(self) -> gquery.Graph:
        numbers = list(range(len(self.vertices)))
        source, target, values = zip(*self.edges, strict=True)
        vertices = pa.table({"id": numbers, "x": pa.array(self.vertices, pa.int64())})
        edges = pa.table({"source": source, "target": target, "w": pa.array(values, pa.int64())})
        return gquery.from_arrow(vertices={"A": vertices}, edges={("A", "K", "A"): edges})

    def rows(self, length: int) -> Iterator[tuple[list[int], Row]]:
        """The walks whose edges differ: their vertices, and their values by name."""
        pending: list[tuple[list[int], list[int]]] = [([start], []) for start in range(len(self.vertices))]
        while pending:
            vertices, edges = pending.pop()
            if len(edges) == length:
                row = {f"v{place}.x": self.vertices[vertex] for place, vertex in enumerate(vertices)}
                row |= {f"e{place}.w": self.edges[edge][2] for place, edge in enumerate(edges)}
                yield vertices, row
                continue
            for number, (source, target, _) in enumerate(self.edges):
                if source == vertices[-1] and number not in edges:
                    pending.append(([*vertices, target], [*edges, number]))

    def reached(self, start: int) -> Iterator[tuple[list[int], Row]]:
        """The ends of walks from a vertex, each once."""
        found: set[int] = set()
        while new := {target for source, target, _ in self.edges if source in found | {start}} - found:
            found |= new
        for end in found:
            yield [start, end], {"v0.x": self.vertices[start], "v1.x": self.vertices[end]}


def data(random: Random) -> Data:
    def value() -> int | None:
        return random.choice((None, -2, -1, 0, 0, 1, 2, 3))

    count = random.randint(2, 6)
    edges = [(random.randrange(count), random.randrange(count), value()) for _ in range(random.randint(1, 9))]
    return Data([value() for _ in range(count)], edges)


def pattern(length: int, begin: int = 0) -> str:
    return "".join(f"(v{place})-[e{place}:K]->" for place in range(begin, length)) + f"(v{length})"


def names_of(length: int) -> list[str]:
    return [f"v{place}.x" for place in range(length + 1)] + [f"e{place}.w" for place in range(length)]


def where(conditions: list[Condition]) -> str:
    return " AND ".join(f"({each.text})" for each in conditions)


def answer(graph: gquery.Graph, text: str, device: str) -> list[tuple[object, ...]] | None:
    """None for an error of values, which is no other one."""
    try:
        return graph.query(text, device=device).rows()
    except ExecutionError as error:
        if type(error) is not ExecutionError:
            raise
        return None


@pytest.mark.parametrize("chunk", range(4))
def test_of_a_pattern(chunk: int, device: str) -> None:
    for seed in range(chunk * 25 * FUZZ, (chunk + 1) * 25 * FUZZ):
        random = Random(seed)
        made = data(random)
        graph, length = made.graph(), random.randint(0, 2)
        conditions = [condition(names_of(length), random) for _ in range(random.randint(1, 3))]
        outcomes = [(vertices, asked(conditions, row)) for vertices, row in made.rows(length)]
        expected = Counter(tuple(vertices) for vertices, outcome in outcomes if outcome.passes)
        fails = any(outcome.fails for _, outcome in outcomes)
        may_fail = any(outcome.may_fail for _, outcome in outcomes)
        matched = f"MATCH {pattern(length)} WHERE {where(conditions)}"
        ids = ", ".join(f"v{place}.id" for place in range(length + 1))
        for returned in (ids, "count(*)", f"v{length}.id, count(*)"):
            text = f"{matched} RETURN {returned}"
            told = f"seed {seed}: {text}\n{made}"
            rows = answer(graph, text, device)
            assert not fails if rows is not None else may_fail, told
            if rows is not None and returned == ids:
                assert Counter(rows) == expected, told
            elif rows is not None and returned == "count(*)":
                assert rows == [(expected.total(),)], told


@pytest.mark.parametrize("chunk", range(4))
def test_of_alike_leaves(chunk: int, device: str) -> None:
    """Of leaves and edges of which the same is asked, so that one stands for another."""
    for seed in range(chunk * 6 * FUZZ, (chunk + 1) * 6 * FUZZ):
        random = Random(f"leaves {seed}")
        made = data(random)
        graph, count = made.graph(), random.randint(2, 3)
        mode = random.choice(["different edges", "different nodes", "repeatable elements"])
        of_leaf = [condition(["v1.x", "e0.w"], random, 1) for _ in range(random.randint(1, 2))]
        of_root = [condition(["v0.x"], random, 1)] * random.randint(0, 1)
        leaves = ", ".join(f"(v0)-[e{place}:K]->(v{place + 1})" for place in range(count))
        texts = [each.text.replace("v1.", f"v{place + 1}.").replace("e0.", f"e{place}.")
                 for place in range(count) for each in of_leaf]  # fmt: skip
        matched = f"MATCH {leaves} WHERE {' AND '.join(f'({text})' for text in (*(r.text for r in of_root), *texts))}"
        expected, may_fail = Counter[int](), False
        for begin in range(len(made.vertices)):
            edges = [(number, edge) for number, edge in enumerate(made.edges) if edge[0] == begin]
            for chosen in product(edges, repeat=count):
                if mode == "different edges" and len({number for number, _ in chosen}) < count:
                    continue
                if mode == "different nodes" and len({begin, *(edge[1] for _, edge in chosen)}) <= count:
                    continue
                root = asked(of_root, {"v0.x": made.vertices[begin]})
                each = [asked(of_leaf, {"v1.x": made.vertices[edge[1]], "e0.w": edge[2]}) for _, edge in chosen]
                may_fail |= root.may_fail or any(one.may_fail for one in each)
                expected[begin] += root.passes and all(one.passes for one in each)
        for returned in ("count(*)", "v0.id, count(*)", "v1.id, v2.id, v0.id"):
            told = f"seed {seed}: {matched} RETURN {returned}, {mode}\n{made}"
            rows = answer(graph.with_settings(mode=mode), f"{matched} RETURN {returned}", device)
            if rows is None:
                assert may_fail, told
            elif returned == "count(*)":
                assert rows == [(expected.total(),)], told
            elif returned == "v0.id, count(*)":
                assert dict(rows) == +expected, told
            else:
                assert Counter(root for _, _, root in rows) == +expected, told


@pytest.mark.parametrize("chunk", range(4))
@pytest.mark.parametrize("form", ["optional", "exists", "not exists", "count", "with", "reach"])
def test_of_what_follows(form: str, chunk: int, device: str) -> None:
    for seed in range(chunk * 12 * FUZZ, (chunk + 1) * 12 * FUZZ):
        random = Random(f"{form} {seed}")
        made = data(random)
        graph = made.graph()
        before = [condition(["v0.x"], random)] * random.randint(0, 1)
        asks = ["v1.x"] if form == "reach" else names_of(1)
        after = [condition(asks, random) for _ in range(random.randint(1, 2))]
        follows, first = (
            f"(v0)-[e0:K]->(v1) WHERE {where(after)}",
            f"MATCH (v0) {'WHERE ' * len(before)}{where(before)}",
        )
        text = {
            "optional": f"{first} OPTIONAL MATCH {follows} RETURN v0.id, v1.id",
            "exists": f"{first} {'AND' if before else 'WHERE'} EXISTS {{ MATCH {follows} }} RETURN v0.id",
            "not exists": f"{first} {'AND' if before else 'WHERE'} NOT EXISTS {{ MATCH {follows} }} RETURN v0.id",
            "count": f"{first} RETURN v0.id, COUNT {{ MATCH {follows} }}",
            "reach": f"{first} WITH v0, v0.x AS y MATCH SHORTEST 1 (v0)-[:K]->+(v1) WHERE {where(after)} "
            "RETURN v0.id, v1.id, y",
            "with": f"{first} WITH v0, v0.x AS y MATCH {follows} RETURN v0.id, v1.id, y",
        }[form]
        found = Counter[tuple[int | None, ...]]()
        # What is asked of the end of such a path may be asked of all vertices, before any path is looked for.
        fails = form == "reach" and any(asked(after, {"v1.x": value}).may_fail for value in made.vertices)
        for number, value in enumerate(made.vertices):
            outcome = asked(before, {"v0.x": value})
            fails |= outcome.may_fail
            if not outcome.passes:
                continue
            walks = made.reached(number) if form == "reach" else made.rows(1)
            those = [(vertices, asked(after, row)) for vertices, row in walks if vertices[0] == number]
            fails |= any(each.may_fail for _, each in those)
            ends = [vertices[1] for vertices, each in those if each.passes]
            if form == "optional":
                found.update((number, end) for end in ends or [None])
            elif form in ("with", "reach"):
                found.update((number, end, value) for end in ends)
            elif form == "count":
                found[number, len(ends)] += 1
            elif bool(ends) == (form == "exists"):
                found[(number,)] += 1
        told = f"seed {seed}: {text}\n{made}"
        rows = answer(graph, text, device)
        assert fails if rows is None else (Counter(rows) == found or (fails and Counter(rows) <= found)), told
