"""What names mean while a query is bound: the graph elements in scope and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gquery.errors import BindError, Notice, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.ir.expr import Expression, Kind
from gquery.planner.ir.query_graph import PartKind, PathVariable, Scope
from gquery.planner.ir.segments import Variable


@dataclass(slots=True)
class VertexDraft:
    """A query vertex while clauses are still adding to it. part: the part that has it, None when it is required. known:
    what earlier segments bind it to."""

    index: int
    variable: str
    named: bool
    part: int | None
    known: Variable | None = None
    labels: list[ast.LabelExpression] = field(default_factory=list)
    tables: tuple[int, ...] = ()
    predicates: list[Expression] = field(default_factory=list)

    @property
    def described_tables(self) -> tuple[int, ...]:
        """The tables whose properties it has: of what was bound before, whatever it has to be in this pattern."""
        return self.tables if self.known is None else self.known.type.tables


@dataclass(slots=True)
class EdgeDraft:
    """A query edge while clauses are still adding to it."""

    index: int
    variable: str
    named: bool
    part: int | None
    source: int
    target: int
    types: tuple[str, ...]
    directed: bool
    predicates: list[Expression] = field(default_factory=list)


@dataclass(slots=True)
class PartDraft:
    """A part of the query graph while it is declared. `span`: the clause or condition that it is written as."""

    kind: PartKind
    within: int | None
    described: str
    span: Span
    predicates: list[Expression] = field(default_factory=list)


NewNames = Literal["shared", "own", "none"]
"""What a name that nothing binds yet becomes: a variable for all that follows, a variable of the block, an error."""


@dataclass(slots=True)
class Block:
    """Patterns that are matched together: a MATCH clause, or the patterns of a condition.

    elements: the nodes and relationships as written, each with its variable. conditions: the conjuncts of its WHEREs.
    same_edges: relationships that are another one too, by variable. own: what the names that only it knows stand for.
    visible: the variables that its conditions may use. mentioned: those that its patterns speak of, its own and earlier
    ones.
    """

    part: int | None
    new_names: NewNames
    elements: list[tuple[ast.NodePattern | ast.RelationshipPattern, str]] = field(default_factory=list)
    conditions: list[ast.Expression] = field(default_factory=list)
    same_edges: list[tuple[str, str, Span]] = field(default_factory=list)
    own: dict[str, ast.Variable] = field(default_factory=dict)
    visible: frozenset[str] = frozenset()
    mentioned: set[str] = field(default_factory=set)

    def variable(self, name: str) -> str:
        """What a name stands for in this block."""
        return self.own[name].name if name in self.own else name


NOTHING = " \0"
"""The name of a column that is there only because rows need one; no user can write it."""


def is_hidden(variable: str) -> bool:
    """Whether no clause can name the variable: it has no name, or one that only its block knows."""
    return variable.startswith(" ")


_NUMBERED = re.compile(r"(.+) \d+")  # as `lengths.names.Unused` makes them
_NAMELESS = ("node", "relationship", "path", "element")
_UNNAMED = re.compile(r" ([ve])\d+")  # as `PatternBinder` calls nodes and edges without a name


def spoken(variable: str) -> str:
    """How messages name a variable: one that nobody has named, or that stands for one of several, as these are
    called."""
    if unnamed := _UNNAMED.fullmatch(variable):
        return "a node" if unnamed[1] == "v" else "a relationship"
    name = variable.strip()
    numbered = _NUMBERED.fullmatch(name)
    known = name if numbered is None else numbered[1]
    return f"a {known}" if numbered and known in _NAMELESS else f"`{known}`"


@dataclass(slots=True)
class Names:
    """Everything bound so far, by variable. incoming: what the segments before bind. Vertices and edges, of this
    segment, are in the order of their indices. strict: whether names that the graph does not have are errors; written:
    but for these, which the statement writes. notices: what has to be said of the query, though it can be answered."""

    incoming: Mapping[str, Variable] = field(default_factory=dict)
    strict: bool = True
    written: frozenset[str] = frozenset()
    vertices: dict[str, VertexDraft] = field(default_factory=dict)
    edges: dict[str, EdgeDraft] = field(default_factory=dict)
    paths: dict[str, PathVariable] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)
    parts: list[PartDraft] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def is_bound(self, variable: str) -> bool:
        return variable in self.incoming or self.is_own(variable)

    def is_own(self, variable: str) -> bool:
        """Whether a pattern of this segment has the variable, which an earlier one may have bound."""
        return variable in self.vertices or variable in self.edges or variable in self.paths

    def named(self) -> list[str]:
        """The variables that a clause can name: what comes in, then elements, then paths."""
        known = {**self.incoming, **self.vertices, **self.edges, **self.paths}
        return [variable for variable in known if not is_hidden(variable)]

    def lineage(self, part: int | None) -> Iterator[int | None]:
        """The part and all that it hangs on, innermost first; None, for what is required, comes last."""
        while part is not None:
            yield part
            part = self.parts[part].within
        yield None

    def filters(self, part: int | None) -> bool:
        """Whether what the part asks for decides if a row is there at all: it is required, or a condition of that."""
        return part is None or (self.parts[part].kind != "optional" and self.parts[part].within is None)

    def owners(self, variable: str) -> set[int | None]:
        """The parts that a variable's elements belong to: several for a path. What comes in is required."""
        if not self.is_own(variable):
            return {None}
        if variable in self.paths:
            path = self.paths[variable]
            return {owner for name in (*path.vertices, *path.edges) for owner in self.owners(name)}
        return {self.vertices[variable].part if variable in self.vertices else self.edges[variable].part}

    def unknown(self, name: str, span: Span) -> BindError:
        """The error for a variable that nothing binds."""
        known = [told for told in dict.fromkeys(map(spoken, self.named())) if told.startswith("`")]
        listing = "in scope are " + ", ".join(known) if known else None
        hint = did_you_mean(name, [told.strip("`") for told in known]) or listing
        return BindError(f"variable `{name}` is not defined", span=span, hint=hint)

    def lack(self, name: str, error: BindError, consequence: str) -> None:
        """Raises the error for a label, type or property that the graph does not have; a query that is not strict is
        answered, and the user warned of the consequence."""
        if name in self.written:
            return
        if self.strict:
            raise error
        assert error.span is not None
        self.notices.append(Notice(f"{error.message}: {consequence}", error.span, error.hint))

    def expect_free(self, variable: str, span: Span, wanted: str) -> None:
        """Raises when the variable already stands for something that is not `wanted`."""
        for kind, taken in (("node", self.vertices), ("relationship", self.edges), ("path", self.paths)):
            if variable in taken and kind != wanted:
                raise BindError(f"`{variable.strip()}` is a {kind} already, it cannot be a {wanted} too", span=span)
        known = self.incoming.get(variable)
        if known is None or known.type.kind is Kind.NULL or _KINDS.get(known.type.kind) == wanted:
            return
        if known.type.kind in _KINDS:
            kind = _KINDS[known.type.kind]
            raise BindError(f"`{variable}` is a {kind} already, it cannot be a {wanted} too", span=span)
        raise BindError(
            f"`{variable}` is a value of type {known.type}, it cannot be a {wanted}",
            span=span,
            hint=f"give the {wanted} another name and compare it with `{variable}` in WHERE",
        )


_KINDS = {Kind.NODE: "node", Kind.RELATIONSHIP: "relationship", Kind.PATH: "path"}
