"""From the syntax tree to the bound query: every name resolved, every type known, one segment after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TypeVar

from gquery.errors import BindError, Notice, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.grouping import grouped, names_nothing_new, without_plain_projections
from gquery.planner.binding.lengths.alternatives import (
    alternatives,
    empty_lengths,
    has_few_lengths,
    has_lengths,
    have_lengths,
    not_searched,
    returning,
)
from gquery.planner.binding.lengths.conditions.unrolled import asks_of_lists
from gquery.planner.binding.lengths.names import expect_names
from gquery.planner.binding.lengths.repeats import names_no_path, repeats_matter
from gquery.planner.binding.lengths.searches import Search, can_be_swept, finds_few, searches
from gquery.planner.binding.matches import MatchBinder
from gquery.planner.binding.mentions import binds, is_random, names_in
from gquery.planner.binding.projections import ProjectionBinder, projected
from gquery.planner.binding.scope import is_hidden
from gquery.planner.binding.subqueries.counted import counting_each
from gquery.planner.binding.subqueries.in_expressions import (
    as_subquery,
    beside,
    expect_known,
    filtering,
    filters_only,
    in_mode,
    in_sight,
    parted,
    taken_out,
)
from gquery.planner.binding.subqueries.outer_names import keeping_outer_names, query_of
from gquery.planner.binding.subqueries.pattern_condition import pattern_tests
from gquery.planner.binding.subqueries.procedures import written_out
from gquery.planner.binding.updates.stages import refuse_writing
from gquery.planner.ir.expr import BOOLEAN, INTEGER, Type
from gquery.planner.ir.problem import parts_are_checked
from gquery.planner.ir.segments import Apply, Asked, BoundQuery, Match, Project, Segment, Variable
from gquery.planner.ir.types.common_type import list_of, unify
from gquery.records import replace
from gquery.settings import MatchMode
from gquery.stopping import Check, unchecked
from gquery.storage.schema import Schema

Rows = tuple[Variable, ...]
_Bound = TypeVar("_Bound")


def bind(
    tree: ast.Query,
    schema: Schema,
    parameters: Mapping[str, object],
    mode: MatchMode,
    check: Check = unchecked,
    *,
    strict: bool = True,
    stands: bool = False,
) -> BoundQuery:
    """Binds a query against a graph's schema. `mode` is the session's, for clauses that name none. `check` is called
    for every clause, condition and expression. strict: labels, types and properties that the graph does not have are
    errors; else they are what no element has, and a notice says so. stands: whether it is asked what changes
    do to matches: few lengths are bound hop by hop then even where a plan is sure to do without, and what is optional
    is matched.

    Raises BindError for anything unknown or ill-typed and UnsupportedError for what the engine lacks.
    """
    notices: list[Notice] = []
    matches = MatchBinder(schema, parameters, mode, strict, check, notices)
    projections = ProjectionBinder(schema, parameters, strict, check, notices)
    refuse_writing(tree)
    segments = ClauseBinder(matches, projections, stands=stands).chain(tree, (), whole=True)
    assert isinstance(segments[-1], Project)  # a query ends with RETURN
    return BoundQuery(segments, tuple(dict.fromkeys(notices)), matches.hints.device)


@dataclass(slots=True)
class ClauseBinder:
    """Binds chains of clauses, those of subqueries within each other. numbers: for names that nobody has written.
    apart: whether OPTIONAL MATCHes and patterns that are conditions are never matched together with others. stands:
    as `bind` has it."""

    matches: MatchBinder
    projections: ProjectionBinder
    numbers: count[int] = field(default_factory=count)
    apart: bool = False
    stands: bool = False

    def chain(
        self, query: ast.Query, rows: Rows, per: Variable | None = None, *, whole: bool = False
    ) -> tuple[Segment, ...]:
        """The segments of a query over the rows before it. per: tells the rows of an outer query apart. whole: nothing
        is made of what it gives."""
        if isinstance(query.clauses[-1], ast.Union):
            return self._union(query.clauses[-1], rows, per)
        clauses = list(written_out(query.clauses, self.matches.schema))
        return self._segments(without_plain_projections(clauses), rows, per, whole=whole)

    def _segments(
        self, clauses: Sequence[ast.Clause], rows: Rows, per: Variable | None, *, whole: bool = False
    ) -> tuple[Segment, ...]:
        segments: list[Segment] = []
        waiting: list[ast.Match] = []
        required, optional = set[str](), set[str]()  # the names that those which wait bind
        known, clauses = {variable.name for variable in rows}, list(clauses)
        for place, written in enumerate(clauses, 1):
            after = clauses[place] if place < len(clauses) else None
            counting = None if self.stands else counting_each(written, after, known)
            if counting is not None:
                clauses[place] = counting
                continue
            # Before the clauses that wait, with what no other of these may speak of, and before it.
            names, seen = {variable.name for variable in rows} | (optional - required), known
            for clause in _apart(written, names, seen, self.apart):
                if isinstance(clause, ast.Match) and not has_lengths(clause):
                    if clause.optional and names_nothing_new(clause, seen):
                        # Whatever it finds, each row stays as it is: it only may be wrong.
                        deque(self._matched([*waiting, replace(clause, optional=False)], None, rows, per), 0)
                        continue
                    waiting.append(clause)
                    (optional if clause.optional else required).update(binds(clause))
                    continue
                if waiting:
                    segments += self._matched(waiting, clause, rows, per)
                    waiting, rows = [], segments[-1].output
                    required, optional = set(), set()
                alone = not (segments or rows)
                if isinstance(clause, ast.Match):
                    matter = partial(repeats_matter, clauses[place:], whole)
                    segments += self._of_lengths(clause, rows, per, alone, matter)
                else:
                    segments += self._carried(clause, rows, per, alone)
                rows = segments[-1].output
                known = {variable.name for variable in rows}
            for clause in waiting[-1:]:
                known.update(binds(clause))
        return (*segments, *self._matched(waiting, None, rows, per))

    def _matched(
        self, waiting: list[ast.Match], after: ast.Clause | None, rows: Rows, per: Variable | None
    ) -> Iterator[Segment]:
        for together in grouped(waiting, after, {variable.name for variable in rows}, self.apart):
            found: Sequence[Segment] = tuple(self.matches.bind(together, rows))
            if not self.apart and not all(parts_are_checked(each.graph) for each in found if isinstance(each, Match)):
                alone = ClauseBinder(self.matches, self.projections, self.numbers, apart=True, stands=self.stands)
                found = alone._segments(together, rows, per)
            for segment in found:
                yield segment
                rows = segment.output

    def _carried(self, clause: ast.Clause, rows: Rows, per: Variable | None, alone: bool) -> Iterator[Segment]:
        """A clause that is no MATCH, behind what its subqueries compute. alone: whether nothing comes before it."""
        if isinstance(clause, Search):
            yield self.matches.bind_search(clause, rows)
            return
        if isinstance(clause, ast.Call):
            yield self._call(clause, rows, alone)
            return
        told, found = taken_out(clause, self.numbers)
        for name, asked in found.items():
            apply = self._asked(as_subquery(asked), rows, name, alone)
            yield apply
            rows = apply.output
        project = self.projections.bind(told, rows, per)
        yield project
        for test in pattern_tests(told.where) if isinstance(told, ast.With) else ():
            yield self.matches.bind_test(test, project.output)

    # --- lengths -----------------------------------------------------------------------------------------------

    def _of_lengths(
        self, clause: ast.Match, rows: Rows, per: Variable | None, alone: bool, matter: Callable[[], bool | None]
    ) -> Iterator[Segment]:
        """A MATCH with relationships of variable length: alternatives of fixed lengths where these are few, or of those
        that cannot be searched for, else searches for paths. matter: whether it does how often a row comes, None where
        that is not known yet: where it may not, a sweep is thought of too, and nothing else where it is sure to be
        one."""
        expect_names(clause, rows)
        self.matches.notices.extend(empty_lengths(clause))
        if clause.where is not None:
            clause = replace(clause, where=in_mode(clause.where, clause.mode))
        mode = clause.mode or self.matches.mode
        names = {variable.name for variable in rows if not is_hidden(variable.name)}
        few = has_few_lengths(clause, mode) and (self.stands or not finds_few(clause, mode, names))
        swept = few and can_be_swept(clause, mode, self.matches.schema)
        if swept and not self.stands:
            told = matter()
            few, swept = told is not False or not names_no_path(clause), told is not True
        written_out = have_lengths(clause) if few else not_searched(clause, mode)
        if not written_out and not clause.optional:
            schema = self.matches.schema
            yield from self._by_item(
                clause, lambda by_item: self._segments(searches(clause, mode, names, schema, by_item), rows, per)
            )
            return
        begin, row = self._inner(clause, rows, names, alone)
        seen = names.intersection(variable.name for variable in begin)

        def searched(by_item: bool) -> ast.Query:
            new = [(name, ast.Variable(name, span=clause.span)) for name in dict.fromkeys(binds(clause))]
            returned = returning([each for each in new if each[0] not in seen], clause)
            found = searches(replace(clause, optional=False), mode, seen, self.matches.schema, by_item)
            return ast.Query((*found, returned), None, span=clause.span)

        def united(by_item: bool) -> Apply:
            written = tuple(alternatives(clause, seen, written_out, by_item)) if written_out else (searched(by_item),)
            return self._united(written, rows, (begin, row), clause.span)

        apply = self._by_item(clause, united)
        if few and swept:
            apply = replace(
                apply, swept=self._by_item(clause, lambda by_item: self.chain(searched(by_item), begin, row))
            )
        if clause.optional:
            new = (replace(variable, nullable=True) for variable in apply.new)
            apply = replace(apply, optional=True, output=(*rows, *new))
        yield apply

    def _by_item(self, clause: ast.Match, bound: Callable[[bool], _Bound]) -> _Bound:
        """What is bound with conditions on lists asked of their items. It is bound with them asked of lists, too, as
        they are written, which has all that is to be said of them: not each item need have the properties that some of
        a list have."""
        as_written = bound(False)
        if not asks_of_lists(clause):
            return as_written
        notices = self.matches.notices
        said = len(notices)
        try:
            return bound(True)
        except (BindError, UnsupportedError):
            return as_written
        finally:
            del notices[said:]

    # --- subqueries --------------------------------------------------------------------------------------------

    def _asked(self, tree: ast.Subquery, rows: Rows, name: str, alone: bool) -> Apply:
        """A subquery in an expression, which sees all that the expression sees."""
        seen = {variable.name for variable in rows}
        begin, row = self._inner(tree.query, rows, seen, alone)
        branch = self.chain(keeping_outer_names(_distinct_names(tree.query), seen), begin, row)
        result = Variable(name, _ASKED[tree.kind])
        if tree.kind == "collect":
            values = [variable for variable in branch[-1].output if variable != row]
            if not isinstance(branch[-1], Project) or len(values) != 1:
                raise BindError("COLLECT takes a query that returns one column", span=tree.span)
            result = Variable(name, list_of(values[0].type))
        return Apply(tree.kind, (branch,), row, False, rows, (*rows, result))

    def _call(self, clause: ast.Call, rows: Rows, alone: bool) -> Apply:
        names = {variable.name for variable in rows}
        seen = names if clause.star else {each.name for each in clause.imports or imported(clause.query)}
        for each in clause.imports or ():
            if each.name not in names:
                raise BindError(f"variable `{each.name}` is not defined", span=each.span)
        begin, row = self._inner(clause.query, rows, seen, alone)
        branch = self.chain(query_of(clause, seen), begin, row)
        new = tuple(variable for variable in branch[-1].output if variable != row)
        if clause.star and clause.optional:
            new = tuple(variable for variable in new if variable.name not in names)
        for variable in new:
            if variable.name in names:
                raise BindError(f"variable `{variable.name}` is already defined", span=clause.span)
        if clause.optional:
            new = tuple(replace(variable, nullable=True, constant=None) for variable in new)
        return Apply("rows", (branch,), row, clause.optional, rows, (*rows, *new))

    def _union(self, union: ast.Union, rows: Rows, per: Variable | None) -> tuple[Segment, ...]:
        """All branches of UNION over the same rows, and then what tells equal rows from each other."""
        inner = self._inner(union, rows, {variable.name for variable in rows}, alone=not rows)
        apply = self._united(union.branches, rows, inner, union.span)
        return (apply, projected(apply.new, apply.output, union.distinct, per))

    def _united(
        self, queries: Sequence[ast.Query], rows: Rows, inner: tuple[Rows, Variable | None], span: Span
    ) -> Apply:
        """The rows of several queries, which have the same columns. inner: what they begin with."""
        begin, row = inner
        branches = [self.chain(query, begin, row) for query in queries]
        outputs = [{each.name: each for each in branch[-1].output if each != row} for branch in branches]
        for query, output in zip(queries, outputs, strict=True):
            if output.keys() != outputs[0].keys():
                listed = " and ".join(", ".join(names) for names in (outputs[0], output))
                raise BindError(f"the queries of UNION return other columns: {listed}", span=query.span)
        new = tuple(_common([output[name] for output in outputs]) for name in outputs[0])
        branches = [_as_types(branch, new, row) for branch in branches]
        return Apply("rows", tuple(branches), row, False, rows, (*rows, *new))

    def _inner(self, tree: ast.Node, rows: Rows, seen: AbstractSet[str], alone: bool) -> tuple[Rows, Variable | None]:
        """What a subquery begins with, and the variable that numbers the rows; nothing where it uses none of them and
        has the same for each. alone: whether there is but one row, as nothing comes before it."""
        used = seen & set(names_in(tree))
        begin = tuple(variable for variable in rows if variable.name in used)
        if not begin and (alone or not is_random(tree)):
            return (), None
        row = Variable(f" row {next(self.numbers)}", INTEGER)
        return (*begin, row), row


def _apart(
    clause: ast.Clause, incoming: AbstractSet[str], names: AbstractSet[str], all_tests: bool
) -> Iterator[ast.Clause]:
    """The clause, and behind it those of its conditions that need subqueries. incoming: the names before the clauses
    that it may be matched with; names: all before it. all_tests: all patterns that are conditions are such."""
    if isinstance(clause, ast.With) and not filters_only(clause):
        clause, *dropping = in_sight(clause, names)
        yield from _filtered(clause, incoming, names, all_tests)
        yield from dropping
    else:
        yield from _filtered(clause, incoming, names, all_tests)


def _filtered(
    clause: ast.Clause, incoming: AbstractSet[str], names: AbstractSet[str], all_tests: bool
) -> Iterator[ast.Clause]:
    if isinstance(clause, ast.Match):
        clause = beside(clause)
    if not isinstance(clause, (ast.Match, ast.With)) or clause.where is None or filters_only(clause):
        yield clause
        return
    plain, apart = parted(clause, incoming, names, all_tests)
    if apart is None:
        yield clause
        return
    if isinstance(clause, ast.Match):
        expect_known(apart, {*names, *binds(clause)})
        apart = in_mode(apart, clause.mode)
    else:
        expect_known(apart, {*names, *(item.alias for item in clause.items if item.alias is not None)})
    if isinstance(clause, ast.Match) and clause.optional:
        match = replace(clause, where=plain, optional=False)
        bound = (ast.Variable(name, span=clause.span) for name in dict.fromkeys(binds(clause)))
        query = ast.Query((match, filtering(apart), _returning(bound, clause.span)), None, span=clause.span)
        yield ast.Call(query, None, True, True, span=clause.span)
    else:
        yield replace(clause, where=plain)
        yield filtering(apart)


_ASKED: Mapping[Asked, Type] = {"exists": BOOLEAN, "count": INTEGER, "collect": INTEGER}


def imported(query: ast.Query) -> Iterator[ast.Variable]:
    """The names that a WITH at the beginning carries into a subquery, or one of its branches."""
    first = query.clauses[0]
    if isinstance(first, ast.Union):
        for branch in first.branches:
            yield from imported(branch)
    elif isinstance(first, ast.With):
        yield from (item.expression for item in first.items if isinstance(item.expression, ast.Variable))


def _returning(names: Iterable[ast.Variable], span: Span) -> ast.Return:
    items = tuple(ast.ProjectionItem(name, None, name.name, span=span) for name in names)
    return ast.Return(items, False, False, (), None, None, span=span)


def _distinct_names(query: ast.Query) -> ast.Query:
    """A query of which nobody reads the names: they are numbers."""
    *before, last = query.clauses
    if not isinstance(last, ast.Return):
        return query
    items = (replace(item, alias=item.alias or f" {number}") for number, item in enumerate(last.items))
    return replace(query, clauses=(*before, replace(last, items=tuple(items))))


def _common(columns: list[Variable]) -> Variable:
    """A column of UNION, of the type that holds the values of all branches."""
    found = unify(column.type for column in columns)
    return Variable(columns[0].name, found, any(column.nullable for column in columns))


def _as_types(branch: tuple[Segment, ...], wanted: Rows, row: Variable | None) -> tuple[Segment, ...]:
    """The branch with its columns in the order and of the types that are wanted."""
    before = branch[-1].output
    own = {variable.name: variable.type for variable in before}
    if all(own[variable.name] == variable.type for variable in wanted):
        return branch
    return (*branch, projected(wanted, before, False, row))
