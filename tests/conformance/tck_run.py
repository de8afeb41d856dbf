"""Runs a scenario of the openCypher Technology Compatibility Kit."""

from __future__ import annotations

import warnings

import pyarrow as pa

import gquery
from gquery.planner.ir.types.common_type import TIME
from gquery.values.elements import duration_text, python_values, tags_of
from gquery.values.moments import DAY, Moment, moved
from tests.conformance.tck_compare import canonical
from tests.conformance.tck_errors import expect_error
from tests.conformance.tck_features import Scenario, Step, read_scenarios
from tests.conformance.tck_setup import Store, build
from tests.conformance.tck_values import Reader
from tests.conftest import SHARED

TCK = SHARED / "tck"
SCENARIOS = list(read_scenarios(TCK / "features")) if TCK.is_dir() else []


def run(scenario: Scenario) -> None:
    """Raises AssertionError where the answer is another, UnsupportedError or UnreadableError where there is none. What
    is warned of is answered all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gquery.QueryWarning)
        _run(scenario)


def _run(scenario: Scenario) -> None:
    store = Store()
    query = ""
    parameters: dict[str, object] = {}
    for step in scenario.steps:
        if step.text == "having executed:":
            store.run(step.block)
        elif step.text.endswith(" graph") and (TCK / "graphs" / (name := step.text.split()[1])).is_dir():
            store.run((TCK / "graphs" / name / f"{name}.cypher").read_text())
        elif step.text == "parameters are:":
            parameters = {name: Reader(text).cell() for name, text in step.table}
        elif step.text == "executing query:":
            query = step.block
        elif "should be raised" in step.text:
            expect_error(step.text, _open(store), query, parameters)
        elif step.text.startswith("the result should be"):
            expect_result(_open(store).query(query, parameters), step)


def _open(store: Store) -> gquery.Graph:
    """openCypher's graphs have no schema: a name that no element has is no error."""
    return build(store).with_settings(strict=False)


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    """The rows as Python has them, times as the TCK writes them: to the nanosecond."""
    columns = [[value for chunk in column.chunks for value in _values(chunk)] for column in table.columns]
    return list(zip(*columns, strict=True))


def _values(column: pa.Array) -> list[object]:
    arrow = column.type
    if pa.types.is_list(arrow) and holds_times(arrow):
        return [None if item is None else _values(item.values) for item in _scalars(column)]
    if pa.types.is_union(arrow) and holds_times(arrow):
        members = [_values(column.field(index)) for index in range(arrow.num_fields)]
        return [members[tag][place] for place, tag in enumerate(tags_of(column))]
    if pa.types.is_struct(arrow) and holds_times(arrow) and not arrow.equals(TIME.arrow):
        names = [field.name for field in arrow]
        parts = zip(*map(_values, column.flatten()), strict=True)
        return [_element(dict(zip(names, row, strict=True))) for row in parts]
    if not pa.types.is_temporal(arrow) and not arrow.equals(TIME.arrow):
        return python_values(column)
    return [_written(value, arrow) if value.is_valid else None for value in column]


def _element(parts: dict[str, object]) -> object:
    """A node, or a map as it is."""
    if list(parts) != ["id", "labels", "properties"]:
        return parts
    properties, labels = parts["properties"], parts["labels"]
    assert isinstance(properties, dict)
    assert isinstance(labels, list)
    return gquery.Node(parts["id"], tuple(labels), {key: each for key, each in properties.items() if each is not None})


def _scalars(column: pa.Array) -> list[pa.Scalar | None]:
    return [value if value.is_valid else None for value in column]


def _written(value: pa.Scalar, arrow: pa.DataType) -> str:
    if pa.types.is_interval(arrow):
        return duration_text(value.as_py())
    if pa.types.is_date(arrow):
        return str(Moment(date=value.cast(pa.int32()).as_py()))
    if pa.types.is_struct(arrow):
        return str(Moment(None, value["time"].cast(pa.int64()).as_py(), value["offset_seconds"].as_py()))
    unit = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[arrow.unit]
    number = value.cast(pa.int64()).as_py() * unit
    if pa.types.is_time(arrow):
        return str(Moment(time=number))
    utc = Moment(number // DAY, number % DAY, None if arrow.tz is None else 0)
    return str(utc if arrow.tz is None else moved(utc, "Z" if arrow.tz == "UTC" else arrow.tz))


def holds_times(arrow: pa.DataType) -> bool:
    inside = [arrow.field(index).type for index in range(arrow.num_fields)] if pa.types.is_nested(arrow) else []
    return pa.types.is_temporal(arrow) or any(map(holds_times, inside))


def expect_result(result: gquery.Result, step: Step) -> None:
    """Compares columns and rows; the step's words say whether the order of rows and of list elements counts."""
    any_list_order = "ignoring element order" in step.text
    header, *rows = step.table
    expected = [tuple(canonical(Reader(cell).cell(), any_list_order) for cell in row) for row in rows]
    table = result.to_arrow()
    found = [tuple(canonical(value, any_list_order) for value in row) for row in _rows(table)]
    assert tuple(table.column_names) == header
    if "in order" in step.text:
        assert found == expected
    else:
        assert sorted(found) == sorted(expected)
