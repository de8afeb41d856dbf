"""A query as a `pyarrow.dataset.Dataset`: DuckDB, Polars and others hand down the columns and filters they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from gquery.integrations.duckdb.registry import Result


def dataset(result: Result) -> ds.Dataset:
    """The answer of a query as a dataset, run anew on every scan.

    Only the columns asked for are handed over, and rows that fail the filter are dropped before. Register it
    (`con.register("friends", dataset(result))`) or name the Python variable in SQL; no extension is needed.
    """
    return ResultDataset(result)


class ResultDataset(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """The answer of a query; see `dataset`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    @property
    def schema(self) -> pa.Schema:
        return self._result.schema

    def scanner(
        self, columns: Sequence[str] | None = None, filter: ds.Expression | None = None, **options: Any
    ) -> ds.Scanner:
        """One run of the query, as a scanner over its batches."""
        names = None if columns is None else list(columns)
        return ds.Scanner.from_batches(self._result.reader(), columns=names, filter=filter, **options)
