"""Clauses that change the graph."""

from __future__ import annotations

from gquery.grammar.ast.base import Node
from gquery.grammar.ast.clauses import Clause
from gquery.grammar.ast.expressions import Expression, Property, Variable
from gquery.grammar.ast.patterns import LabelName, PathPattern
from gquery.records import record


@record(frozen=True, slots=True)
class Update(Clause):
    """Base of the clauses that change the graph."""


@record(frozen=True, slots=True)
class Create(Update):
    """`CREATE patterns`."""

    patterns: tuple[PathPattern, ...]


@record(frozen=True, slots=True)
class SetProperty(Node):
    """`target = value`; REMOVE sets to null."""

    target: Property
    value: Expression


@record(frozen=True, slots=True)
class SetProperties(Node):
    """`subject = value`, a map or an element with all properties; `subject += value` with those that it has."""

    subject: Expression
    value: Expression
    adding: bool


@record(frozen=True, slots=True)
class SetLabels(Node):
    """`subject:A:B`."""

    subject: Expression
    labels: tuple[LabelName, ...]


SetItem = SetProperty | SetProperties | SetLabels


@record(frozen=True, slots=True)
class Set(Update):
    """`SET items`."""

    items: tuple[SetItem, ...]


@record(frozen=True, slots=True)
class Remove(Update):
    """`REMOVE items`: of properties, and labels."""

    items: tuple[Property | SetLabels, ...]


@record(frozen=True, slots=True)
class Delete(Update):
    """`[DETACH] DELETE items`. detach: the relationships of nodes, too."""

    items: tuple[Expression, ...]
    detach: bool


@record(frozen=True, slots=True)
class Merge(Update):
    """`MERGE pattern ON CREATE SET on_create ON MATCH SET on_match`."""

    pattern: PathPattern
    on_create: tuple[SetItem, ...]
    on_match: tuple[SetItem, ...]


@record(frozen=True, slots=True)
class Foreach(Update):
    """`FOREACH (variable IN items | updates)`."""

    variable: Variable
    items: Expression
    updates: tuple[Update, ...]
