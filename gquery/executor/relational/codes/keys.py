"""Groups are told apart by numbers where their keys are properties of few values.

DuckDB hashes and compares texts for each row; it groups by small numbers as an array is looked into. So a key that is
read for nothing else goes in as its code, which is in the order of the values, and comes out as a value again.
"""

from __future__ import annotations

from collections.abc import Sequence

from gquery.executor.progress import Control
from gquery.executor.relational.codes.property_codes import codes_of, have_order, may_have_codes
from gquery.executor.relational.inputs import Inputs
from gquery.executor.relational.selection import Selection
from gquery.executor.relational.sql.expressions import inputs
from gquery.executor.relational.sql.values import has_key
from gquery.planner.ir.expr import Column, is_aggregated
from gquery.records import replace


def coded_keys(selection: Selection) -> tuple[str, ...]:
    """The names of the columns that a grouping reads as keys, and for nothing else but its order."""
    if not selection.grouped or not any(map(is_aggregated, selection.outputs)):
        return ()
    keys = {key for key in selection.keys if may_have_codes(key) and not has_key(key.type)}
    sorted_by = {item.expression for item in selection.order_by}
    keys -= {key for key in keys & sorted_by if not have_order(key)}
    read = (*selection.outputs, *sorted_by)
    others = (*(each for each in read if each not in keys), *selection.residual, *selection.where)
    keys -= {part for each in others for part in inputs(each)} | {selection.row}
    return tuple(name for name, part in selection.names.items() if part in keys)


def with_codes(read: Inputs, names: Sequence[str], control: Control) -> Inputs:
    """What is read, with codes for columns of some names, where they have few values."""
    codes = {}
    for name in names:
        column = read.read[name]
        assert isinstance(column, Column)
        found = codes_of(read.snapshot, read.kinds[column.variable], column, control)
        if found is not None and len(found.values):
            codes[name] = found
    return replace(read, codes=codes)
