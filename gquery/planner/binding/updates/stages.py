"""A statement cut into stages: each reads what the graph is then, and changes it at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gquery.errors import BindError
from gquery.grammar import ast
from gquery.planner.binding.mentions import below, names_in
from gquery.records import record, replace

Writing = ast.Update | ast.Call | ast.Union
"""What changes the graph, or has queries that do."""


@record(frozen=True, slots=True)
class Stage:
    """Clauses that read, and one that changes the graph for all rows together, or has queries that do; None: the rows
    are only read."""

    reading: tuple[ast.Clause, ...]
    update: Writing | None

    @property
    def answers(self) -> bool:
        """Whether its rows are the answer."""
        return bool(self.reading) and isinstance(self.reading[-1], ast.Return)


def updates_in(clauses: Iterable[ast.Clause]) -> Iterator[ast.Update]:
    """The clauses that change the graph, also those of queries in CALL and UNION."""
    for clause in clauses:
        match clause:
            case ast.Update():
                yield clause
            case ast.Call(query=query):
                yield from updates_in(query.clauses)
            case ast.Union(branches=branches):
                for branch in branches:
                    yield from updates_in(branch.clauses)


def refuse_writing(tree: ast.Query) -> None:
    """Raises BindError where a query would change the graph."""
    found = next(updates_in(tree.clauses), None)
    if found is not None:
        word = type(found).__name__.upper()
        message = f"{word} changes the graph, and this one never changes"
        hint = "write to a store, `gquery.Store(graph).execute(...)`; at the terminal `gquery run --write` does"
        raise BindError(message, span=found.span, hint=hint)


def staged(clauses: Iterable[ast.Clause]) -> tuple[Stage, ...]:
    """The stages of a query's clauses. Raises BindError for clauses that cannot follow each other."""
    found: list[Stage] = []
    reading: list[ast.Clause] = []
    last: ast.Clause | None = None
    for clause in clauses:
        if not isinstance(clause, ast.Update):
            _expect_reading(clause, last)
        if not isinstance(clause, Writing) or not any(updates_in((clause,))):
            reading.append(clause)
        else:
            for update in _apart(clause):
                joined = _joined(found[-1].update, update) if found and not reading else None
                if joined is not None:
                    found[-1] = replace(found[-1], update=joined)
                    continue
                if reading and _is_alone(update):
                    found.append(Stage(tuple(reading), None))
                    reading = []
                found.append(Stage(tuple(reading), update))
                reading = []
        last = clause
    return (*found, Stage(tuple(reading), None)) if reading else tuple(found)


def _is_alone(clause: Writing) -> bool:
    """Whether the rows have to be there before it is known how the clause changes the graph for them."""
    if isinstance(clause, ast.Set):
        return counts_up(clause)
    return isinstance(clause, ast.Merge | ast.Foreach | ast.Call | ast.Union)


def _expect_reading(clause: ast.Clause, last: ast.Clause | None) -> None:
    """Raises where a clause that reads, or has a query of its own, stands behind one that changes the graph."""
    if isinstance(last, ast.Update) and not isinstance(clause, ast.With | ast.Return):
        word, what = type(last).__name__.upper(), "CALL" if isinstance(clause, ast.Call) else "what reads again"
        raise BindError(f"between {word} and {what} WITH is expected", span=clause.span, hint="such as WITH *")


def _joined(before: Writing | None, clause: Writing) -> ast.Update | None:
    """Two clauses as one, where the second asks nothing that the first has changed."""
    match before, clause:
        case (ast.Create(patterns=made), ast.Create(patterns=more)):
            new = set(names_in(before))
            if not any(new.intersection(names_in(each)) for path in more for each in _maps(path)):
                return ast.Create((*made, *more), span=before.span.to(clause.span))
        case (ast.Delete(items=gone), ast.Delete(items=more)):
            plain = all(isinstance(each, ast.Variable) for each in more)
            if plain and before.detach == clause.detach:
                return ast.Delete((*gone, *more), clause.detach, span=before.span.to(clause.span))
    return None


def _maps(path: ast.PathPattern) -> Iterator[ast.Node]:
    parts: tuple[ast.NodePattern | ast.RelationshipPattern, ...] = (*path.nodes, *path.relationships)
    return (part.properties for part in parts if part.properties is not None)


# --- SET, item by item ------------------------------------------------------------------------------------------


def _apart(clause: Writing) -> Iterator[Writing]:
    """The clause; a SET of which an item reads what one before it has changed, in several."""
    if not isinstance(clause, ast.Set):
        yield clause
        return
    together: list[ast.SetItem] = []
    for item in clause.items:
        if together and any(_reads(item, changed) for changed in together):
            yield ast.Set(tuple(together), span=clause.span)
            together = []
        together.append(item)
    yield ast.Set(tuple(together), span=clause.span)


def counts_up(clause: ast.Set) -> bool:
    """Whether what one row has changed may matter to another: an item reads what the clause changes."""
    named = all(isinstance(subject, ast.Variable) for subject in map(_subject, clause.items))
    return named and any(_reads(item, changed) for item in clause.items for changed in clause.items)


def subjects_of(clause: ast.Set) -> tuple[str, ...]:
    """The variables whose elements the clause changes."""
    found = (subject.name for subject in map(_subject, clause.items) if isinstance(subject, ast.Variable))
    return tuple(dict.fromkeys(found))


def _subject(item: ast.SetItem) -> ast.Expression:
    return item.target.subject if isinstance(item, ast.SetProperty) else item.subject


def _reads(item: ast.SetItem, changed: ast.SetItem) -> bool:
    """Whether an item may read what another has changed."""
    value = None if isinstance(item, ast.SetLabels) else item.value
    if value is None or isinstance(value, ast.Literal | ast.Parameter):
        return False
    copied = isinstance(item, ast.SetProperties) and not isinstance(value, ast.MapLiteral)
    keys = {each.key for each in below(value) if isinstance(each, ast.Property)}
    if copied or any(map(_reads_anything, below(value))):
        return True
    return changed.target.key in keys if isinstance(changed, ast.SetProperty) else bool(keys)


def _reads_anything(node: ast.Node) -> bool:
    """Whether an expression may read any property of an element, or its labels."""
    if isinstance(node, ast.FunctionCall):
        return node.name in ("properties", "keys", "labels")
    return isinstance(node, _WHOLE)


_WHOLE = (ast.Index, ast.LabelTest, ast.MapProjection, ast.Subquery, ast.Exists, ast.PatternPredicate)


# --- names -------------------------------------------------------------------------------------------------------


def names_written(query: ast.Query, parameters: Mapping[str, object]) -> frozenset[str]:
    """The labels, types and properties that a statement may write: they are no errors where it reads."""
    found = {name for update in updates_in(query.clauses) for name in _written(update)}
    found |= {entry.key for entry in below(query) if isinstance(entry, ast.MapEntry)}
    return frozenset(found.union(*map(_keys, parameters.values())))


def _written(update: ast.Update) -> Iterator[str]:
    for node in below(update):
        if isinstance(node, ast.LabelName):
            yield node.name
        elif isinstance(node, ast.SetProperty):
            yield node.target.key


def _keys(value: object) -> Iterator[str]:
    """The keys of maps, also of those in lists."""
    if isinstance(value, Mapping):
        yield from value
        value = tuple(value.values())
    for each in value if isinstance(value, list | tuple) else ():
        if isinstance(each, Mapping | list | tuple):
            yield from _keys(each)
