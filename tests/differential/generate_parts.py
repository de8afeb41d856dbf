"""Random queries with optional clauses and with patterns as conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.differential.forms import (
    Clause,
    DataGraph,
    Expression,
    Labelled,
    Part,
    Query,
    QueryEdge,
    QueryVertex,
    is_edge,
    variables,
)
from tests.differential.generate import MODES, known_keys, random_conditions, random_labels, random_query, random_types

INJECTIVE = ("different nodes", "induced")
MAX_REQUIRED = 4


def with_parts(random: Random, graph: DataGraph) -> Query:
    """A query of up to four required vertices and one to three parts; optional ones may have conditions like that."""
    query = random_query(random, graph)
    while len(query.vertices) > MAX_REQUIRED:
        query = random_query(random, graph)
    maker = _Maker(random, graph, query.clauses[0].mode, random.random() < 0.4, [*query.vertices], [*query.edges])
    required = [element.name for element in (*query.vertices, *query.edges)]
    parts, optional = [], 0
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        if random.random() < 0.5:
            optional += 1
        else:
            parts.append(maker.condition(required))
    above = [required]
    for _ in range(optional):
        part, visible = maker.optional(above)
        parts.append(part)
        above.append(visible)
    made = replace(query, parts=tuple(parts))
    read = {name for clause in made.all_clauses for condition in clause.conditions for name in variables(condition)}
    hidden = {*query.hidden, *(name for part in made.all_parts for name in maker.hidden(part))}
    return replace(made, hidden=frozenset(hidden - read))


@dataclass
class _Maker:
    """Makes parts, one after the other. `mixed`: each in a mode of its own. vertices, edges: all that there are."""

    random: Random
    graph: DataGraph
    mode: str
    mixed: bool
    vertices: list[QueryVertex]
    edges: list[QueryEdge]

    def optional(self, above: list[list[str]]) -> tuple[Part, list[str]]:
        """An optional clause and what later ones that build on it may speak of. `above` holds that of the earlier."""
        part = self._patterns("optional", self.random.choice(above))
        visible = next(names for names in above if {*part.earlier} <= {*names})
        part = self._with_conditions(part, visible)
        if self.random.random() < 0.3:
            part = replace(part, conditions=(self.condition([*visible, *part.names]),))
        return part, [*visible, *part.names]

    def condition(self, visible: list[str]) -> Part:
        part = self._patterns(self.random.choice(["exists", "absent"]), visible)
        return part if self.random.random() < 0.4 else self._with_conditions(part, visible)

    def hidden(self, part: Part) -> list[str]:
        """What is written without a variable if it can be."""
        often = part.kind != "optional" and self.random.random() < 0.7
        return [name for name in part.names if often or self.random.random() < 0.3]

    def _patterns(self, kind: str, earlier: list[str]) -> Part:
        """One or two edges that begin at earlier vertices, as a rule, or a lone vertex; at times three alike."""
        random = self.random
        if random.random() < 0.2:
            return self._leaves(kind, earlier)
        types = sorted(self.graph.types)
        old = len(self.vertices)
        ends = [name for name in earlier if not is_edge(name)]
        mentioned: list[str] = []
        edges = []
        for _ in range(random.choice([1, 1, 2])):
            pair = (self._end(ends, 0.05), self._end(ends, 0.6))
            source, target = pair if random.random() < 0.5 else pair[::-1]
            name, directed = f"r{len(self.edges)}", random.random() < 0.6
            edges.append(QueryEdge(name, source, target, random_types(random, types), directed))
            self.edges.append(edges[-1])
            mentioned += pair
        if random.random() < 0.05:
            mentioned.append(self._end(ends, 1.0))
        if random.random() < 0.1:
            mentioned.append(random.choice(ends))
        mode = random.choice(MODES) if self.mixed else self.mode
        return Part(kind, tuple(self.vertices[old:]), Clause(mode, tuple(dict.fromkeys(mentioned)), tuple(edges), ()))

    def _leaves(self, kind: str, earlier: list[str]) -> Part:
        """Three new vertices, each joined to one earlier vertex by an edge like the others'."""
        random = self.random
        centre = random.choice([name for name in earlier if not is_edge(name)])
        labels = random_labels(random, self._labels(), 0.2)
        types = random_types(random, sorted(self.graph.types))
        out, directed = random.random() < 0.5, random.random() < 0.6
        leaves = tuple(QueryVertex(f"a{len(self.vertices) + index}", labels) for index in range(3))
        self.vertices += leaves
        edges = []
        for leaf in leaves:
            ends = (centre, leaf.name) if out else (leaf.name, centre)
            edges.append(QueryEdge(f"r{len(self.edges)}", *ends, types, directed))
            self.edges.append(edges[-1])
        mode = random.choice(INJECTIVE) if self.mixed else self.mode
        names = (centre, *(leaf.name for leaf in leaves))
        return Part(kind, leaves, Clause(mode, names, tuple(edges), ()))

    def _end(self, ends: list[str], chance: float) -> str:
        """An end of an edge; by that chance a new vertex."""
        if self.random.random() >= chance:
            return self.random.choice(ends[-2:] if self.random.random() < 0.3 else ends)
        vertex = QueryVertex(f"a{len(self.vertices)}", random_labels(self.random, self._labels(), 0.4))
        self.vertices.append(vertex)
        ends.append(vertex.name)
        return vertex.name

    def _with_conditions(self, part: Part, visible: list[str]) -> Part:
        keys = known_keys(self.graph, tuple(self.vertices), self.edges)
        found: list[Expression] = [*random_conditions(self.random, sorted({*visible, *part.names}), keys)]
        for name in part.earlier:
            labels = random_labels(self.random, self._labels(), 0.12)
            if labels is not None:
                found.append(Labelled(name, labels))
        return replace(part, clause=replace(part.clause, conditions=tuple(found)))

    def _labels(self) -> list[str]:
        return sorted({label for labels in self.graph.label_sets for label in labels})
