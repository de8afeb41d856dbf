"""From rows and an action to a batch of changes, and the rows that go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.updates.creating import Columns, created
from gquery.executor.updates.deleting import deleted
from gquery.executor.updates.giving import given
from gquery.executor.updates.merging import merged
from gquery.executor.updates.rows import GivenRows
from gquery.planner.ir.updates import OWN, PLACE, Create, Delete, Give, Merge, Update
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot


class Changed(NamedTuple):
    """rows: those that go on, with what was made. made: those for which MERGE made something, of all."""

    batch: Batch
    rows: GivenRows
    made: NDArray[np.bool_]


def changed(update: Update, rows: GivenRows, snapshot: Snapshot) -> Changed:
    """What an update makes of all rows. Raises ExecutionError for what cannot be changed so."""
    columns: Columns = {}
    made = np.zeros(rows.count, np.bool_)
    batch = Batch()
    match update.action:
        case Create() as create:
            batch, columns = created(create, rows, snapshot)
        case Merge() as merge:
            batch, columns, made = merged(merge, rows, snapshot)
        case Give() as give:
            batch = given(give, rows, snapshot)
        case Delete() as delete:
            batch = deleted(delete, rows, snapshot)
    columns = {name: values for name, values in columns.items() if not name.startswith(OWN)}
    return Changed(batch, rows.with_columns(columns | _row(rows), update.output), made)


def _row(rows: GivenRows) -> Columns:
    """The column that rows always have."""
    return {" row": rows.column(PLACE)}
