"""A query that stands beside the same query asked anew: what was answered before a batch, with what the batch changed,
is what is answered after it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from gquery.continuous.between import Between
from gquery.continuous.standing import Emit, Standing
from gquery.session import Graph
from gquery.settings import Settings
from gquery.storage.graph import Snapshot


class Rerun:
    """A query that stands from a version on, and what it answers there. Counts have a column `n`, those of groups
    another one, `p`."""

    def __init__(self, text: str, emit: Emit, settings: Settings, snapshot: Snapshot) -> None:
        self.text = text
        self._settings = settings
        self._standing = Standing(text, {}, settings, emit)
        self._told = _rows if emit == "rows" else _groups
        self._answer = self._asked(snapshot)

    def follow(self, between: Between) -> None:
        """To the next version. AssertionError where what is told of it is not by how much the answers differ."""
        added, removed = map(self._told, self._standing.change(between))
        before, self._answer = self._answer, self._asked(between.new)
        change = self._answer.copy()
        change.subtract(before)
        if self._told is _groups:  # matches that come and matches that go may be of one group
            added.subtract(removed)
            added, removed = +added, -added
        told, expected = (added, removed), (+change, -change)
        assert told == expected, f"{self.text}, {self._settings.mode}: told {told}, should be {expected}"

    def _asked(self, snapshot: Snapshot) -> Counter[str]:
        return self._told(Graph(snapshot, settings=self._settings).query(self.text).to_arrow())


def _rows(table: pa.Table) -> Counter[str]:
    return Counter(repr(list(map(_known, row.values()))) for row in table.to_pylist())


def _known(value: Any) -> Any:
    """An element without the properties that it has not: for which ones there is a column depends on the labels that a
    version has, and a change has those of both."""
    if isinstance(value, list):
        return [_known(item) for item in value]
    if not isinstance(value, dict) or "properties" not in value:
        return value
    return value | {"properties": {name: of for name, of in value["properties"].items() if of is not None}}


def _groups(table: pa.Table) -> Counter[str]:
    groups: Counter[str] = Counter()
    for row in table.to_pylist():
        groups[repr(row.get("p"))] += row["n"]
    return groups
