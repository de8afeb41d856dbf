"""Patterns: paths of nodes and relationships, and what is asked of their labels."""

from __future__ import annotations

from typing import Literal as OneOf

from gquery.grammar.ast.base import Node
from gquery.grammar.ast.expressions import Expression, MapLiteral, Parameter, Variable
from gquery.records import record

PathMode = OneOf["walk", "trail", "acyclic", "simple"]
Direction = OneOf["out", "in", "both"]


@record(frozen=True, slots=True)
class LabelExpression(Node):
    """Base of label (and type) expressions."""


@record(frozen=True, slots=True)
class LabelName(LabelExpression):
    name: str


@record(frozen=True, slots=True)
class LabelWildcard(LabelExpression):
    """`%`: at least one label."""


@record(frozen=True, slots=True)
class LabelNot(LabelExpression):
    operand: LabelExpression


@record(frozen=True, slots=True)
class LabelAnd(LabelExpression):
    """`A&B`; `:A:B` parses to the same."""

    left: LabelExpression
    right: LabelExpression


@record(frozen=True, slots=True)
class LabelOr(LabelExpression):
    """`A|B`."""

    left: LabelExpression
    right: LabelExpression


@record(frozen=True, slots=True)
class NodePattern(Node):
    """`(variable:labels {properties} WHERE condition)`."""

    variable: Variable | None
    labels: LabelExpression | None
    properties: MapLiteral | Parameter | None
    where: Expression | None


@record(frozen=True, slots=True)
class Length(Node):
    """How many relationships stand for one of variable length: `*least..most`, `*` from 1 on, `{least,most}`,
    `{least,}`, `+` from 1 on, `->*` from 0 on. most None: however many."""

    least: int
    most: int | None


@record(frozen=True, slots=True)
class RelationshipPattern(Node):
    """`-[variable:types*length {properties} WHERE condition]->`, or the length as a quantifier behind. `both` is
    written `-[]-` or `<-[]->`. length None: one relationship. inside: the pattern that is repeated, each time with its
    condition, where it is one in brackets, `(path WHERE condition){least,most}`, which has no variable, types and
    properties of its own."""

    variable: Variable | None
    types: LabelExpression | None
    direction: Direction
    properties: MapLiteral | Parameter | None
    where: Expression | None
    length: Length | None = None
    inside: PathPattern | None = None


@record(frozen=True, slots=True)
class PathPattern(Node):
    """`variable = shortest mode (n0)-[r0]-(n1)...`: one more node than relationships. shortest: so many of the shortest
    paths between the same two nodes, or all that are as short as the shortest; None where length does not matter.
    `shortestPath((a)-[*]-(b))` is parsed into `ANY SHORTEST (a)-[*]-(b)`, which is `SHORTEST 1`."""

    variable: Variable | None
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    shortest: int | OneOf["all"] | None = None
    mode: PathMode | None = None
