"""Aggregates as SQL, of rows that stand for one match each or for several."""

from __future__ import annotations

from gquery.executor.relational.sql.values import has_key, sorting_key, sql_type
from gquery.planner.ir.expr import Aggregate, Kind
from gquery.planner.ir.types.common_type import MOST_DIGITS, decimal, digits_and_scale


def is_weighed(aggregate: Aggregate) -> bool:
    """Whether it matters how many matches a row stands for."""
    return not aggregate.distinct and aggregate.function in ("count", "sum", "avg")


def plain(aggregate: Aggregate, value: str) -> str:
    """The aggregate of a value, each row once."""
    assert aggregate.argument is not None
    of = aggregate.argument.type
    if has_key(of) and (aggregate.distinct or aggregate.function in ("min", "max")):
        return _by_key(aggregate, value, sorting_key(value, of))
    argument = f"DISTINCT {value}" if aggregate.distinct else value
    match aggregate.function:
        case "sum" if aggregate.type.kind is Kind.DECIMAL:
            return f"coalesce(sum({argument}), 0::{sql_type(aggregate.type)})"
        case "avg" if of.kind is Kind.DECIMAL:  # DuckDB's own rounds while it adds
            return f"(sum({argument})::DOUBLE / nullif(count({argument}), 0))"
        case "collect":
            return f"coalesce(list({argument}) FILTER ({value} IS NOT NULL), [])"
        case "sum" if aggregate.type.kind is Kind.INTEGER:  # summed in 128 bits, and an error if 64 are too few
            return f"CAST(coalesce(sum({argument}), 0) AS BIGINT)"
        case "sum":
            return f"coalesce(sum({argument}), 0.0::DOUBLE)"
        case "stdev":
            return f"coalesce(stddev_samp({argument}), 0.0::DOUBLE)"
        case "stdevp":
            return f"coalesce(stddev_pop({argument}), 0.0::DOUBLE)"
    return f"{aggregate.function}({argument})"


def weighed(aggregate: Aggregate, value: str, weight: str) -> str:
    """The aggregate of rows that stand for several matches each."""
    number = f"coalesce(sum({weight}) FILTER (({value}) IS NOT NULL), 0)"
    match aggregate.function:
        case "count":
            return f"CAST({number} AS BIGINT)"
        case "sum" if aggregate.type.kind is Kind.INTEGER:
            return f"CAST(coalesce(sum(CAST({value} AS HUGEINT) * {weight}), 0) AS BIGINT)"
        case "sum" if aggregate.type.kind is Kind.DECIMAL:
            wide = sql_type(aggregate.type)
            return f"coalesce(sum({value}::{wide} * {weight}::DECIMAL(19,0)), 0::{wide})"
        case "sum":
            return f"coalesce(sum({value} * {weight}), 0.0::DOUBLE)"
        case "avg" if aggregate.argument is not None and aggregate.argument.type.kind is Kind.DECIMAL:
            wide = sql_type(decimal(MOST_DIGITS, digits_and_scale(aggregate.argument.type)[1]))
            return f"(sum({value}::{wide} * {weight}::DECIMAL(19,0))::DOUBLE / nullif({number}, 0))"
    return f"(sum(CAST({value} AS DOUBLE) * {weight}) / nullif({number}, 0))"


def _by_key(aggregate: Aggregate, value: str, key: str) -> str:
    """Aggregates that tell equal values of several types from others."""
    match aggregate.function:
        case "count":
            return f"count(DISTINCT {key})"
        case "min" | "max":
            return f"arg_{aggregate.function}({value}, {key})"
    pairs = f"list_sort(list(DISTINCT {{k: {key}, v: {value}}}) FILTER ({value} IS NOT NULL))"
    # No column's name begins with a blank: `b.v0` would be read of a column b before the parameter of a lambda.
    firsts = """list_filter(" b".v0, lambda " e", " i": " i" = 1 OR " b".v0[" i" - 1].k <> " e".k)"""
    values = f'list_transform({firsts}, lambda " e": " e".v)'
    return f'coalesce(list_transform([{{v0: {pairs}}}], lambda " b": {values})[1], [])'
