"""The one DuckDB statement of a projection: its text, its parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from gquery.executor.relational.database.functions import Given
from gquery.executor.relational.growth import is_joined, may_be_long, most_copies, rows_at_once
from gquery.executor.relational.selection import WEIGHT, Selection, is_constant
from gquery.executor.relational.sql.expressions import SqlWriter
from gquery.executor.relational.sql.values import sorting_key
from gquery.executor.relational.sql.words import quoted
from gquery.planner.ir.expr import Constant, Expression, Parameter, children
from gquery.records import record
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot


@record(frozen=True, slots=True)
class Statement:
    """given: parameters and functions. rows_in, rows_out: how many rows DuckDB may see and answer at a time, None for
    any number. copies: how often a value may stand in one that is made of it. constant: the bytes of constants and
    parameters that are written into what is made for each row."""

    sql: str
    given: Given
    rows_in: int | None
    rows_out: int | None
    copies: int
    constant: int


def build_statement(
    selection: Selection, parameters: Mapping[str, object], snapshot: Snapshot, check: Check = unchecked
) -> Statement:
    """SELECT the outputs, called c0, c1..., FROM matches, as the selection says."""
    outputs = selection.outputs
    weight = f"m.{quoted(WEIGHT)}" if selection.weighted else None
    below = SqlWriter(
        {part: f"m.{quoted(name)}" for name, part in selection.names.items()},
        parameters,
        snapshot,
        weight=weight,
        check=check,
    )
    keys = tuple(dict.fromkeys(selection.keys))
    above = replace(below, keys=frozenset(keys)) if selection.grouped else below
    skip, limit = selection.bounds
    clauses = [
        "SELECT " + ", ".join(f"{above.write(output)} AS c{index}" for index, output in enumerate(outputs)),
        "FROM matches AS m",
    ]
    if selection.residual:
        clauses.append("WHERE " + below.all_true(selection.residual))
    varied = [sorting_key(below.write(key), key.type) for key in keys if not is_constant(key)]
    if varied:
        clauses.append("GROUP BY " + ", ".join(varied))
    elif keys:  # DuckDB groups by no constant
        clauses.append("HAVING count(*) > 0")
    directions = [_DIRECTIONS[item.descending] for item in selection.order_by]
    sorted_by = [sorting_key(above.write(item.expression), item.expression.type) for item in selection.order_by]
    if selection.cuts and selection.row is not None:
        # What windows are sorted by has to be computed before: it may be an error, which DuckDB does not take there.
        clauses[0] += "".join(f", {key} AS s{index}" for index, key in enumerate(sorted_by))
        sorted_by = [f"r.s{index}" for index in range(len(sorted_by))]
        row = f"r.c{outputs.index(selection.row)}"
        clauses = _cut_by_row(clauses, len(outputs), row, _sorting(sorted_by, directions), selection.bounds)
    if sorted_by:
        clauses.append(_sorting(sorted_by, directions))
    if limit is not None and selection.row is None:
        clauses.append(f"LIMIT {limit}")
    if skip and selection.row is None:
        clauses.append(f"OFFSET {skip}")
    if selection.where:
        after = replace(below, columns={output: f"r.c{index}" for index, output in enumerate(outputs)}, weight=None)
        clauses = [
            "SELECT " + ", ".join(f"r.c{index}" for index in range(selection.shown)),
            "FROM (",
            *(f"  {clause}" for clause in clauses),
            ") AS r",
            "WHERE " + after.all_true(selection.where),
        ]
    sql = "\n".join(clauses)
    rows = rows_at_once(selection.expressions)
    rows_out = rows if rows_at_once(output for output in outputs if may_be_long(output)) else None
    constant = _constant_bytes(selection.expressions, frozenset(filter(may_be_long, outputs)), parameters)
    return Statement(sql, below.asked(sql), rows, rows_out, most_copies(selection.expressions), constant)


def _constant_bytes(
    expressions: Iterable[Expression], outputs: Collection[Expression], parameters: Mapping[str, object]
) -> int:
    """The bytes of constants and parameters in what is made of several values, or goes out."""
    found, pending = 0, [(expression, expression in outputs) for expression in dict.fromkeys(expressions)]
    while pending:
        part, is_made = pending.pop()
        is_made = is_made or is_joined(part)
        match part:
            case Constant(value=value) if is_made:
                found += _bytes_of(value)
            case Parameter(name=name) if is_made:
                found += _bytes_of(parameters[name])
        pending += [(each, is_made) for each in children(part)]
    return found


def _bytes_of(value: object) -> int:
    """About the bytes of a value of Python's in a column."""
    match value:
        case str() | bytes():
            return len(value)
        case Mapping():
            return sum(map(_bytes_of, value.values()))
        case list() | tuple():
            return sum(map(_bytes_of, value))
    return 8


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
