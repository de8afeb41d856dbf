"""Binds one stage of a statement over the graph that it finds: chains of segments, and the update at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gquery.errors import Notice, Span
from gquery.grammar import ast
from gquery.planner.binding.clauses import ClauseBinder
from gquery.planner.binding.matches import MatchBinder
from gquery.planner.binding.projections import ProjectionBinder
from gquery.planner.binding.updates.drafts import Draft, drafted
from gquery.planner.binding.updates.stages import Stage
from gquery.planner.ir.expr import INTEGER, Kind, Type
from gquery.planner.ir.segments import BoundQuery, Segment, Variable
from gquery.planner.ir.types.common_type import list_of
from gquery.planner.ir.updates import OWN, PLACE, Create, Merge, Update
from gquery.settings import MatchMode
from gquery.stopping import Check
from gquery.storage.schema import Schema

ROW = Variable(" row", INTEGER)
"""Rows between two stages always have this column, so that there may be rows that nothing is named in."""


@dataclass(frozen=True, slots=True)
class StageBinder:
    """What holds for all stages of a statement. written: names that the graph need not have where it reads, since the
    statement writes them."""

    parameters: Mapping[str, object]
    mode: MatchMode
    strict: bool
    written: frozenset[str]
    check: Check

    def bind(self, stage: Stage, schema: Schema, rows: tuple[Variable, ...]) -> BoundQuery:
        """The segments of a stage, the last one an Update but for the answer's. rows: what it begins with.

        Raises BindError and UnsupportedError as for a query, and for what cannot be changed so.
        """
        notices: list[Notice] = []
        matches = MatchBinder(
            schema, self.parameters, self.mode, self.strict, self.check, notices, written=self.written
        )
        projections = ProjectionBinder(schema, self.parameters, self.strict, self.check, notices, self.written)
        chain = _Chain(ClauseBinder(matches, projections), rows)
        if stage.answers:
            chain.add(stage.reading)
        else:
            update = stage.update if isinstance(stage.update, ast.Update) else None
            _update(chain, stage.reading, drafted(update, self.parameters), schema)
        return BoundQuery(tuple(chain.segments), tuple(dict.fromkeys(notices)), matches.hints.device)


class _Chain:
    """Segments one after the other."""

    def __init__(self, binder: ClauseBinder, rows: tuple[Variable, ...]) -> None:
        self.binder = binder
        self.segments: list[Segment] = []
        self.rows = rows

    def add(self, clauses: tuple[ast.Clause, ...]) -> None:
        span = clauses[0].span.to(clauses[-1].span)
        self.segments += self.binder.chain(ast.Query(clauses, None, span=span), self.rows)
        self.rows = self.segments[-1].output


def _update(chain: _Chain, reading: tuple[ast.Clause, ...], draft: Draft, schema: Schema) -> None:
    chain.add((*reading, _with(draft.computed.items, PLACE)))
    action = draft.action({variable.name: variable for variable in chain.rows})
    if draft.clauses:
        chain.add((*draft.clauses, _with((), f"{OWN}found")))
    output = {variable.name: variable for variable in chain.rows if not variable.name.startswith(OWN)}
    create = action.create if isinstance(action, Merge) else action
    if isinstance(create, Create):
        output |= {each.name: each for each in _made(create, schema, output)}
    chain.segments.append(Update(action, chain.rows, (ROW, *output.values())))


def _with(items: Iterable[ast.ProjectionItem], name: str) -> ast.With:
    """`WITH *` and what is computed, and something in any case."""
    nowhere = Span(0, 0)
    there = ast.ProjectionItem(ast.Literal(0, span=nowhere), name, "", span=nowhere)
    return ast.With((*items, there), True, False, (), None, None, None, span=nowhere)


def _made(create: Create, schema: Schema, known: Mapping[str, Variable]) -> list[Variable]:
    """The variables that a row has besides once everything is made."""
    types = {name: variable.type for name, variable in known.items()}
    for vertex in create.vertices:
        tables = (place for place, table in enumerate(schema.vertex_tables) if set(table.labels) == {*vertex.labels})
        types[vertex.variable] = Type(Kind.NODE, tables=tuple(tables))
    for edge in create.edges:
        tables = (place for place, table in enumerate(schema.edge_tables) if table.type == edge.type)
        types[edge.variable] = Type(Kind.RELATIONSHIP, tables=tuple(tables))
    found = [Variable(name, types[name]) for name in create.made if not name.startswith(OWN)]
    for path in create.paths:
        nodes, links = (
            Type(kind, tables=tuple(sorted({table for name in names for table in types[name].tables})))
            for kind, names in ((Kind.NODE, path.vertices), (Kind.RELATIONSHIP, path.edges))
        )
        fields = (("nodes", list_of(nodes)), ("relationships", list_of(links)))
        found.append(Variable(path.name, Type(Kind.PATH, fields=fields)))
    return found
