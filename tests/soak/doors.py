"""The ways in which one graph is asked. The answer must be the same by each of them."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import gquery
from tests.evaluator.answers import Row
from tests.soak.check import Ask, plainly


def narrow(graph: gquery.Graph) -> Ask:
    return plainly(graph.with_settings(memory_limit="64MB"))


def alone(graph: gquery.Graph) -> Ask:
    return plainly(graph.with_settings(threads=1))


def opened(graph: gquery.Graph) -> Ask:
    """Saved and opened again. The files may go once they are mapped into memory."""
    with tempfile.TemporaryDirectory() as folder:
        graph.save(f"{folder}/graph.gq")
        copy = gquery.open(f"{folder}/graph.gq")
        copy.query("MATCH (a) RETURN a").to_arrow()
        copy.query("MATCH ()-[r]->() RETURN r").to_arrow()
    return plainly(copy)


def explained(graph: gquery.Graph) -> Ask:
    """Planned before, by EXPLAIN, and then asked twice."""

    def ask(text: str, parameters: dict[str, Any]) -> list[Row]:
        plainly(graph)(f"EXPLAIN {text}", parameters)
        plainly(graph)(text, parameters)
        return plainly(graph)(text, parameters)

    return ask


def streamed(graph: gquery.Graph) -> Ask:
    """Read as a table, as a stream of batches and as rows, all of one length."""

    def ask(text: str, parameters: dict[str, Any]) -> list[Row]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            result = graph.query(text, parameters)
        table = result.to_arrow()
        table.validate(full=True)
        assert table.num_rows == sum(batch.num_rows for batch in result.reader())
        return [tuple(row) for row in result.rows()]

    return ask


DOORS: tuple[Callable[[gquery.Graph], Ask], ...] = (plainly, narrow, alone, opened, explained, streamed)
