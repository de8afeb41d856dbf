"""Vertices whose predicates want different values of a property are not compared: they cannot be the same one."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pyarrow as pa
import pytest

import gquery

COMPARED = ("<> (a)", "<> (c)")
DIFFERENT = {
    "integers": ("v.kind = 0", "v.kind = 1"),
    "strings": ("v.name = 'x'", "v.name = 'y'"),
    "users' ids": ("id(v) = 3", "id(v) = 4"),
    "lists": ("v.kind IN [0, 2]", "v.kind IN [1, 3]"),
    "a list and more": ("v.kind IN [0, 1] AND v.kind = 0", "v.kind = 1"),
}
PERHAPS_THE_SAME = {
    "lists that meet": ("v.kind IN [0, 1]", "v.kind IN [1, 3]"),
    "other properties": ("v.kind = 0", "v.name = 'y'"),
    "floats": ("v.share = 0.1", "v.share = 0.2"),
    "parameters": ("v.kind = $one", "v.kind = $other"),
    "other comparisons": ("v.kind < 1", "v.kind = 1"),
}
EDGES = [pair for pair in permutations(range(12), 2) if Random(str(pair)).random() < 0.5 and pair[0] < pair[1]]


def graph() -> gquery.Graph:
    random = Random(3)
    ids = range(12)
    table = pa.table(
        {
            "id": ids,
            "kind": [random.randrange(4) for _ in ids],
            "name": [random.choice("xyz") for _ in ids],
            "share": [random.choice((0.1, 0.2)) for _ in ids],
        }
    )
    sources, targets = zip(*EDGES, strict=True)
    return gquery.from_arrow({"V": table}, {("V", "E", "V"): pa.table({"source": sources, "target": targets})})


def node(name: str, asked: str) -> str:
    return f"({name} WHERE {asked.replace('v.', f'{name}.').replace('(v)', f'({name})')})"


def text_of(asked: tuple[str, str], mode: str) -> str:
    one, other = (node(name, each) for name, each in zip("ac", asked, strict=True))
    return f"MATCH {mode} {one}-[]-(b)-[]-{other} RETURN count(*)"


@pytest.mark.parametrize("name", DIFFERENT)
def test_no_comparison_where_values_differ(name: str) -> None:
    found = graph().explain(text_of(DIFFERENT[name], "DIFFERENT NODES"))
    assert not any(each in found for each in COMPARED), found


@pytest.mark.parametrize("name", PERHAPS_THE_SAME)
def test_a_comparison_where_values_may_be_the_same(name: str) -> None:
    found = graph().explain(text_of(PERHAPS_THE_SAME[name], "DIFFERENT NODES"), {"one": 1, "other": 1})
    assert any(each in found for each in COMPARED), found


@pytest.mark.parametrize("mode", ["DIFFERENT NODES", "DIFFERENT EDGES", "INDUCED"])
@pytest.mark.parametrize("name", [*DIFFERENT, *PERHAPS_THE_SAME])
def test_counts(name: str, mode: str) -> None:
    """As of the pairs of ends that are listed without a mode, looked through here."""
    given, asked = {"one": 1, "other": 1}, {**DIFFERENT, **PERHAPS_THE_SAME}[name]
    made = graph()
    ends = [made.query(f"MATCH {node('a', each)} RETURN id(a)", given if "$" in each else None).rows() for each in
            (asked[0], asked[1].replace("$other", "$one"))]  # fmt: skip
    joined = {*EDGES, *((target, source) for source, target in EDGES)}
    pairs = [(one, other) for (one,) in ends[0] for (other,) in ends[1] if one != other]
    if mode == "INDUCED":
        pairs = [pair for pair in pairs if pair not in joined]
    wanted = sum((one, b) in joined and (b, other) in joined for one, other in pairs for b in range(12))
    assert made.query(text_of(asked, mode), given if "$" in asked[0] else None).scalar() == wanted
