"""Declares the elements of patterns, before any condition on them is bound.

Patterns are declared in blocks. A MATCH is a block, and so are the patterns of a condition. What is not simply
required, which is OPTIONAL MATCH and every such condition, gets a part of the query graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.describe import described_patterns
from gquery.planner.binding.labels import expect_known, types_of
from gquery.planner.binding.mentions import names_in, nodes_of
from gquery.planner.binding.scope import Block, EdgeDraft, Names, PartDraft, VertexDraft, is_hidden
from gquery.planner.binding.subqueries.pattern_condition import (
    PatternTest,
    conditions_of,
    is_checked_while_matching,
    pattern_test,
    undefined,
)
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.query_graph import PathVariable, Scope
from gquery.settings import MatchMode
from gquery.storage.schema import Schema


class PatternBinder:
    """Declares the MATCH clauses of a segment, in order. names: what the segments before bind. mode: for clauses
    that name none. deferred: the pattern tests, with their modes and the names that they may use, that speak of what
    only earlier segments bind or have conditions that cannot be checked while matching: they become segments of their
    own."""

    def __init__(self, schema: Schema, names: Names, mode: MatchMode) -> None:
        self.schema = schema
        self.mode = mode
        self.names = names
        self.blocks: list[Block] = []
        self.deferred: list[tuple[PatternTest, MatchMode, AbstractSet[str]]] = []

    def declare(self, clause: ast.Match, as_part: bool, foreign: AbstractSet[str] = frozenset()) -> None:
        """Declares what a clause binds, and the patterns in its conditions, unless they speak of `foreign` variables.
        `as_part`: it is an OPTIONAL MATCH of which only the number of matches is asked."""
        part = None
        if as_part:
            described = f"OPTIONAL MATCH {described_patterns(clause.patterns)}"
            part = self._open(PartDraft("optional", None, described, clause.span))
        mode = clause.mode or self.mode
        block = self._declare_block(clause, Block(part, "shared"), mode)
        for condition in conditions_of(clause):
            test = pattern_test(condition)
            if test is None:
                self._add_condition(condition, block)
            elif foreign.isdisjoint(names_in(test.match)) and (clause.optional or self._is_part(test)):
                self._declare_part(test, part, mode)
            else:
                self.deferred.append((test, mode, block.visible))

    def _is_part(self, test: PatternTest) -> bool:
        """Whether it can be asked while the clause is matched."""
        return is_checked_while_matching(test.match, {*self.names.vertices, *nodes_of(test.match)})

    def declare_test(self, test: PatternTest, mode: MatchMode) -> None:
        """Declares the patterns of a test that is a segment of its own."""
        self._declare_test(test, None, mode)

    # --- blocks and parts --------------------------------------------------------------------------------------

    def _open(self, part: PartDraft) -> int:
        self.names.parts.append(part)
        return len(self.names.parts) - 1

    def _declare_part(self, test: PatternTest, within: int | None, mode: MatchMode) -> None:
        self._declare_test(test, self._open(PartDraft(test.kind, within, test.described, test.span)), mode)

    def _declare_test(self, test: PatternTest, part: int | None, mode: MatchMode) -> None:
        if test.match.hints:
            raise BindError("USING stands behind a MATCH, not in a condition", span=test.match.hints[0].span)
        block = self._declare_block(test.match, Block(part, test.new_names), test.match.mode or mode)
        for condition in conditions_of(test.match):
            self._add_condition(condition, block)

    def _declare_block(self, clause: ast.Match, block: Block, mode: MatchMode) -> Block:
        vertices: dict[int, None] = {}
        edges: list[int] = []
        restricted: list[Scope] = []
        for pattern in clause.patterns:
            chain = [self._declare_vertex(node, block) for node in pattern.nodes]
            links = [
                self._declare_edge(relationship, chain[position], chain[position + 1], block)
                for position, relationship in enumerate(pattern.relationships)
            ]
            vertices.update(dict.fromkeys(chain))
            edges += [self.names.edges[link].index for link in links]
            if pattern.variable is not None:
                self._declare_path(pattern.variable, chain, links, block)
            restricted += self._restricted(pattern, chain, links, block)
        block.visible = frozenset(self.names.named())
        self.names.scopes += [Scope(mode, tuple(vertices), tuple(edges), block.part), *restricted]
        self.blocks.append(block)
        return block

    def _restricted(
        self, pattern: ast.PathPattern, chain: list[int], links: list[str], block: Block
    ) -> Iterator[Scope]:
        """What the mode of a path asks of its own elements."""
        edges = tuple(self.names.edges[link].index for link in links)
        if pattern.mode in (None, "walk") or not edges:
            return
        if pattern.mode == "trail":
            yield Scope("different edges", tuple(chain), edges, block.part)
            return
        closed = pattern.mode == "simple" and chain[0] == chain[-1]
        behind_first, before_last = (chain[1:], edges[1:]), (chain[:-1], edges[:-1])
        parts = [behind_first] if closed else [behind_first, before_last]
        if pattern.mode == "acyclic":
            parts = [(chain, edges)]
        for part, between in parts:
            if len(set(part)) < len(part):
                block.conditions.append(ast.Literal(False, span=pattern.span))
            yield Scope("different nodes", tuple(part), between, block.part)

    def _add_condition(self, condition: ast.Expression, block: Block) -> None:
        """A label test that every match of the block must pass narrows the tables before anything else is bound."""
        block.conditions.append(condition)
        if isinstance(condition, ast.LabelTest) and isinstance(condition.subject, ast.Variable):
            vertex = self.names.vertices.get(block.variable(condition.subject.name))
            if vertex is not None and vertex.part == block.part:
                vertex.labels.append(condition.labels)

    # --- elements ----------------------------------------------------------------------------------------------

    def _declare_vertex(self, node: ast.NodePattern, block: Block) -> int:
        variable = f" v{len(self.names.vertices)}"
        if node.variable is not None:
            variable = self._variable(node.variable, block, "node")
            if variable in self.names.vertices:
                self._use(node.variable, self.names.vertices[variable].part, block)
        vertex = self.names.vertices.get(variable)
        if vertex is None:
            known = self.names.incoming.get(variable)
            part = block.part if known is None else None
            vertex = VertexDraft(len(self.names.vertices), variable, node.variable is not None, part, known)
            self.names.vertices[variable] = vertex
        if node.labels is not None and vertex.part == block.part:
            vertex.labels.append(node.labels)
        elif node.labels is not None:
            subject = ast.Variable(name=variable, span=node.span)
            block.conditions.append(ast.LabelTest(subject=subject, labels=node.labels, span=node.labels.span))
        block.elements.append((node, variable))
        block.mentioned.add(variable)
        return vertex.index

    def _declare_edge(self, relationship: ast.RelationshipPattern, left: int, right: int, block: Block) -> str:
        variable, named = f" e{len(self.names.edges)}", False
        if (name := relationship.variable) is not None:
            known = self._variable(name, block, "relationship")
            if known in block.mentioned:
                raise BindError(
                    f"relationship `{name.name}` stands twice in one MATCH",
                    span=name.span,
                    hint="give the second one a name of its own",
                )
            if self.names.is_bound(known):
                (owner,) = self.names.owners(known)
                self._use(name, owner, block)
                block.same_edges.append((known, variable, name.span))
                block.mentioned.add(known)
            else:
                variable, named = known, True
        source, target = (right, left) if relationship.direction == "in" else (left, right)
        if relationship.types is not None:
            expect_known(relationship.types, Kind.RELATIONSHIP, self.schema, self.names)
        types = types_of(self.schema, relationship.types)
        directed = relationship.direction != "both"
        place = len(self.names.edges)
        self.names.edges[variable] = EdgeDraft(place, variable, named, block.part, source, target, types, directed)
        block.elements.append((relationship, variable))
        block.mentioned.add(variable)
        return variable

    def _declare_path(self, name: ast.Variable, chain: list[int], links: list[str], block: Block) -> None:
        variable = self._variable(name, block, "path")
        if self.names.is_bound(variable):
            raise BindError(f"path `{name.name}` is defined twice", span=name.span)
        vertices = list(self.names.vertices)
        path = PathVariable(variable, tuple(vertices[index] for index in chain), tuple(links))
        self.names.paths[variable] = path

    def _variable(self, name: ast.Variable, block: Block, kind: str) -> str:
        """The variable that a name stands for in the block; it may be a new one."""
        if is_hidden(name.name):
            raise BindError("a variable cannot begin with a blank", span=name.span)
        variable = block.variable(name.name)
        self.names.expect_free(variable, name.span, kind)
        if block.new_names == "shared" or self.names.is_bound(variable):
            return variable
        if block.new_names == "none":
            raise undefined(name, self.names.named())
        hidden = " " * (len(self.blocks) + 2) + name.name
        block.own[name.name] = ast.Variable(name=hidden, span=name.span)
        return hidden

    def _use(self, name: ast.Variable, owner: int | None, block: Block) -> None:
        """Lets a pattern use what part `owner` has. An OPTIONAL MATCH comes to hang on that part."""
        if owner in self.names.lineage(block.part):
            return
        part = None if block.part is None else self.names.parts[block.part]
        if part is not None and part.kind == "optional" and part.within in self.names.lineage(owner):
            part.within = owner
            return
        if self.names.filters(block.part):
            raise unusable(name.name, name.span)
        raise UnsupportedError(
            "gquery has no pattern over two OPTIONAL MATCH clauses of which neither builds on the other",
            span=name.span,
            hint=f"bind `{name.name}` in the same OPTIONAL MATCH as the other variables here",
        )


def unusable(name: str, span: Span) -> UnsupportedError:
    """The error for a variable of an OPTIONAL MATCH where rows are filtered by it."""
    return UnsupportedError(
        "gquery has no MATCH that uses a variable of an OPTIONAL MATCH before it",
        span=span,
        hint=f"bind `{name}` by MATCH, or use it only in OPTIONAL MATCH and RETURN",
    )
