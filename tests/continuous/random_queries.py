"""Random queries that stand over the random graphs of `batches`: patterns of a few relationships, often several between
the same two nodes, with all that may go with one."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.continuous.standing import Emit
from tests.continuous.batches import Random

_RELATIONSHIPS = 4
_SAME_ENDS, _LOOPS = 0.4, 0.1
_LABELS = ("", "", "", ":A", ":B", ":!A", ":A&B")
_TYPES = ("", "", ":X", ":X", ":X", ":Y", ":Y", ":X|Y", ":!X", ":Z")
_ARROWS = (("-", "->"), ("<-", "-"), ("-", "-"))


def random_query(random: Random) -> tuple[str, Emit]:
    """Its text, and how its changes are told: counts have a column `n`, those of groups another one, `p`."""
    pattern = _Pattern(random)
    matched = ("INDUCED " if random.random() < 0.1 else "") + pattern.text
    conditions = [_condition(random, pattern) for _ in range(random.integers(0, 3))]
    text = f"MATCH {matched}" + (f" WHERE {_pick(random, (' AND ', ' OR ')).join(conditions)}" if conditions else "")
    if random.random() < 0.15:
        text += f" OPTIONAL MATCH ({_pick(random, pattern.nodes)}){_relationship(random)}(z{_pick(random, _LABELS)})"
    if random.random() < 0.5:
        return f"{text} RETURN {_rows(random, pattern)}", "rows"
    group = f"{_pick(random, pattern.values)} AS p, " if random.random() < 0.5 else ""
    return f"{text} RETURN {group}count(*) AS n", "counts"


class _Pattern:
    """text: as it is matched. nodes, relationships: names of all nodes, and of the relationships that have one. values:
    properties of both."""

    def __init__(self, random: Random) -> None:
        self.nodes = ["a"]
        self.relationships: list[str] = []
        texts = [_node(random, "a")] if random.random() < 0.05 else []
        ends: list[tuple[str, str]] = []
        for number in range(0 if texts else random.integers(1, _RELATIONSHIPS + 1)):
            known = set(self.nodes) if number else set()
            pair = self._ends(random, ends)
            ends.append(pair)
            name = f"e{number}" if random.random() < 0.5 else ""
            self.relationships += [name] if name else []
            source, target = (f"({each})" if each in known else _node(random, each) for each in pair)
            texts.append(f"{source}{_relationship(random, name)}{target if pair[0] != pair[1] else f'({pair[1]})'}")
        self.text = ", ".join(texts)
        self.values = [f"{each}.p" for each in self.nodes] + [f"{each}.w" for each in self.relationships]

    def _ends(self, random: Random, ends: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Those of an earlier relationship, or a known node and a known or another one."""
        if ends and random.random() < _SAME_ENDS:
            one, other = ends[random.integers(len(ends))]
        else:
            one = _pick(random, self.nodes)
            other = _pick(random, "abcd"[: len(self.nodes) + 1])
            while other == one and random.random() > _LOOPS:
                other = _pick(random, "abcd"[: len(self.nodes) + 1])
            self.nodes += [other] if other not in self.nodes else []
        return (one, other) if random.random() < 0.5 else (other, one)


def _node(random: Random, name: str) -> str:
    return f"({name}{_pick(random, _LABELS)}{' {p: 1}' if random.random() < 0.1 else ''})"


def _relationship(random: Random, name: str = "") -> str:
    before, after = _ARROWS[random.integers(len(_ARROWS))]
    return f"{before}[{name}{_pick(random, _TYPES)}]{after}"


def _condition(random: Random, pattern: _Pattern) -> str:
    one, other = (_pick(random, pattern.values) for _ in range(2))
    node, next_ = (_pick(random, pattern.nodes) for _ in range(2))
    relationship = _relationship(random)
    return _pick(
        random,
        (
            f"{one} {_pick(random, ('<', '=', '<>', '>='))} {other}",
            f"{one} > 1",
            f"{one} IS NULL",
            f"({one} + {other} > 3 OR {other} = 0)",
            f"{node} <> {next_}",
            f"NOT ({node}){relationship}({next_})",
            f"NOT ({node}){relationship}(:B)",
            f"({node}){relationship}({next_})",
            f"EXISTS {{ ({node}){relationship}(y) WHERE y.p >= {one} }}",
            f"COUNT {{ ({node}){relationship}() }} > 1",
        ),
    )


def _rows(random: Random, pattern: _Pattern) -> str:
    chosen = random.choice(pattern.values, random.integers(1, len(pattern.values) + 1), replace=False).tolist()
    columns = ", ".join(chosen)
    return _pick(
        random,
        (
            columns,
            columns,
            columns,
            f"DISTINCT {columns}",
            f"{columns}, count(*)",
            f"{columns} ORDER BY {columns} LIMIT 3",
            ", ".join(pattern.nodes + pattern.relationships),
        ),
    )


def _pick(random: Random, given: Sequence[str]) -> str:
    return given[random.integers(len(given))]
