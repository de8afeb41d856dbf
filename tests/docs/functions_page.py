"""The text of docs/functions.md, from the table of functions that the planner has."""

from __future__ import annotations

from gquery.planner.ir.functions.scalars import SUBJECTS, Scalar

_HEAD = """# Functions

This page is made from `gquery/planner/ir/functions/scalars.py`; a test compares, `make golden` writes it anew. Every
example is a condition that is true, and is tried. Names may be written in any case. An argument with `?` may be left
out; null in, null out, but for `coalesce` and `nullIf`.
"""

_OF_COLUMNS = """| `id(element)` | the id that the data came with | |
| `elementId(element)` | a text of its labels or its type and its id, such as `:Person/1` or `KNOWS/17` | |
| `labels(node)` | the labels, sorted | |
| `type(relationship)` | the type | |
| `keys(element)` | the keys of a map, or of the properties that an element has | `keys({a: 1}) = ['a']` |
| `properties(element)` | all properties as a map; a map as it is | `properties({a: 1}).a = 1` |
"""

_TAIL = """
## Aggregates

An aggregate takes what `RETURN` groups together, nulls left out; all can be asked of `DISTINCT` values.

| function | gives |
|---|---|
| `count(*)` | the number of rows |
| `count(value)` | the number of values |
| `sum(number)` | the sum; 0, or 0.0 of floats, where there are none |
| `avg(number)` | the mean; null where there are none |
| `min(value)`, `max(value)` | the least and the greatest, in the order of `ORDER BY` |
| `collect(value)` | a list of the values |
| `percentileDisc(number, share)` | the number below which a share of them lies, between 0.0 and 1.0: one of them |
| `percentileCont(number, share)` | the same, where it lies between two |
| `stdev(number)`, `stdevP(number)` | the standard deviation of a sample, of a whole population |
"""


def page() -> str:
    """The text of the page."""
    sections = [_section(subject, scalars) for subject, scalars in SUBJECTS.items()]
    return _HEAD + "".join(sections) + _TAIL


def _section(subject: str, scalars: tuple[Scalar, ...]) -> str:
    rows = "".join(_row(scalar) for scalar in scalars)
    of_columns = _OF_COLUMNS if subject.startswith("Elements") else ""
    return f"\n## {subject}\n\n| function | gives | example |\n|---|---|---|\n{of_columns}{rows}"


def _row(scalar: Scalar) -> str:
    example = f"`{scalar.example}`" if scalar.example else ""
    return f"| `{scalar.written}` | {scalar.says} | {example} |\n".replace("||", "\\|\\|")
