"""The one DuckDB statement of a query: what it reads, its text, its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gquery.errors import Span
from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.growth import may_be_long, rows_at_once
from gquery.executor.relational.sql.expressions import SqlWriter, inputs
from gquery.executor.relational.sql.values import sorting_key
from gquery.executor.relational.sql.words import Names, quoted
from gquery.planner.ir.expr import INTEGER, Attribute, Call, Column, Expression, children, is_aggregated, is_volatile
from gquery.planner.ir.segments import Project
from gquery.records import record
from gquery.storage.graph import Snapshot

WEIGHT = " weight"
WEIGHTS = Column(INTEGER, Span(0, 0), WEIGHT, Attribute.VALUE)


@record(frozen=True, slots=True)
class Statement:
    """inputs: the columns of the relation `matches` by name, and what is gathered into them. given: parameters and
    functions. blocking: it has to see all matches before its first row. rows_in, rows_out: how many rows DuckDB may
    see and answer at a time, None for any number.
    """

    sql: str
    given: Given
    inputs: Mapping[str, Expression]
    blocking: bool
    rows_in: int | None
    rows_out: int | None


def build_statement(
    outputs: tuple[Expression, ...],
    project: Project,
    residual: tuple[Expression, ...],
    parameters: Mapping[str, object],
    snapshot: Snapshot,
    bounds: tuple[int, int | None],
    weighted: bool,
) -> Statement:
    """SELECT `outputs`, called c0, c1..., FROM matches, as the projection says. `bounds`: skip and limit. `weighted`:
    the column WEIGHT says how many matches a row stands for."""
    projection, shown = project.projection, len(outputs)
    outputs = tuple(dict.fromkeys((*outputs, *_asked_after(project.where, outputs))))
    order_by = tuple(item for item in projection.order_by if not _is_constant(item.expression))
    read = [part for expression in (*outputs, *(item.expression for item in order_by), *residual)
            for part in inputs(expression)]  # fmt: skip
    names = named(dict.fromkeys([*read, *([WEIGHTS] if weighted else [])]))
    weight = f"m.{quoted(WEIGHT)}" if weighted else None
    below = SqlWriter({part: f"m.{quoted(name)}" for name, part in names.items()}, parameters, snapshot, weight=weight)
    grouped = projection.distinct or any(is_aggregated(output) for output in outputs)
    keys = tuple(dict.fromkeys(output for output in outputs if not is_aggregated(output))) if grouped else ()
    above = replace(below, keys=frozenset(keys)) if grouped else below
    skip, limit = bounds
    clauses = [
        "SELECT " + ", ".join(f"{above.write(output)} AS c{index}" for index, output in enumerate(outputs)),
        "FROM matches AS m",
    ]
    if residual:
        clauses.append("WHERE " + " AND ".join(below.write(predicate) for predicate in residual))
    varied = [sorting_key(below.write(key), key.type) for key in keys if not _is_constant(key)]
    if varied:
        clauses.append("GROUP BY " + ", ".join(varied))
    elif keys:  # DuckDB groups by no constant
        clauses.append("HAVING count(*) > 0")
    directions = [_DIRECTIONS[item.descending] for item in order_by]
    sorted_by = [sorting_key(above.write(item.expression), item.expression.type) for item in order_by]
    cut = skip > 0 or limit is not None
    if cut and project.per is not None:
        # What windows are sorted by has to be computed before: it may be an error, which DuckDB does not take there.
        clauses[0] += "".join(f", {key} AS s{index}" for index, key in enumerate(sorted_by))
        sorted_by = [f"r.s{index}" for index in range(len(sorted_by))]
        row = f"r.c{outputs.index(projection.items[-1].expression)}"
        clauses = _cut_by_row(clauses, len(outputs), row, _sorting(sorted_by, directions), bounds)
    if sorted_by:
        clauses.append(_sorting(sorted_by, directions))
    if limit is not None and project.per is None:
        clauses.append(f"LIMIT {limit}")
    if skip and project.per is None:
        clauses.append(f"OFFSET {skip}")
    if project.where:
        after = replace(below, columns={output: f"r.c{index}" for index, output in enumerate(outputs)}, weight=None)
        clauses = [
            "SELECT " + ", ".join(f"r.c{index}" for index in range(shown)),
            "FROM (",
            *(f"  {clause}" for clause in clauses),
            ") AS r",
            "WHERE " + " AND ".join(after.write(condition) for condition in project.where),
        ]
    sql = "\n".join(clauses)
    rows = rows_at_once((*outputs, *(item.expression for item in order_by), *residual, *project.where))
    rows_out = rows if rows_at_once(output for output in outputs if may_be_long(output)) else None
    blocking = grouped or bool(order_by) or (cut and project.per is not None)
    return Statement(sql, below.asked(sql), names, blocking, rows, rows_out)


_DIRECTIONS = {True: "DESC NULLS FIRST", False: "ASC NULLS LAST"}


def _sorting(keys: list[str], directions: list[str]) -> str:
    return "ORDER BY " + ", ".join(map(" ".join, zip(keys, directions, strict=True))) if keys else ""


def _cut_by_row(clauses: list[str], count: int, row: str, sorting: str, bounds: tuple[int, int | None]) -> list[str]:
    """SKIP and LIMIT among the rows of each row of an outer query, which `row` numbers. count: of the columns."""
    skip, limit = bounds
    place = f"row_number() OVER ({' '.join(['PARTITION BY', row, sorting]).strip()})"
    tests = [f"{place} > {skip}", *([] if limit is None else [f"{place} <= {skip + limit}"])]
    return [
        "SELECT " + ", ".join(f"r.c{index} AS c{index}" for index in range(count)),
        "FROM (",
        *(f"  {clause}" for clause in clauses),
        ") AS r",
        "QUALIFY " + " AND ".join(tests),
    ]


def _asked_after(where: tuple[Expression, ...], outputs: tuple[Expression, ...]) -> Iterator[Expression]:
    """What the conditions after a projection read besides its outputs."""
    known = frozenset(outputs)
    pending = list(reversed(where))
    while pending:
        found = pending.pop()
        if found in known:
            continue
        if any(found == part for part in inputs(found)):
            yield found
        else:
            pending.extend(reversed(children(found)))


def _is_constant(expression: Expression) -> bool:
    """Whether the expression has one value for all rows."""
    return not any(inputs(expression)) and not is_volatile(expression) and not is_aggregated(expression)


def named(parts: Iterable[Expression]) -> dict[str, Expression]:
    """Names for what is read, in the relation that it is read into."""
    names = Names()
    return {names.new(_described(part)): part for part in parts}


def _described(part: Expression) -> str:
    match part:
        case Column(variable=variable, attribute=Attribute.ELEMENT | Attribute.VALUE):
            return variable
        case Column(variable=variable, attribute=Attribute.PROPERTY, key=key):
            return f"{variable}.{key}"
        case Column(variable=variable, attribute=attribute):
            return f"{attribute.value}({variable})"
        case Call(function=function, arguments=(Column(variable=variable),)):
            return f"{function}({variable})"
    raise AssertionError(part)
