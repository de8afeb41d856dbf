"""A query is asked, and what is odd about it is said once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gquery.errors import QueryWarning
from gquery.terminal.messages import styled

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.result import Result
    from gquery.session import Graph
    from gquery.store import Store


def ask(graph: Graph, text: str, parameters: Mapping[str, object], notes: Console) -> Result:
    """The result of a query; its warnings are printed to `notes`, in place of Python's own."""
    return _said_once(lambda: graph.query(text, parameters), notes)


def execute(
    store: Store, text: str, parameters: Mapping[str, object], settings: Mapping[str, Any], notes: Console
) -> Result:
    """The result of a statement, which may only read; its warnings are printed to `notes`."""
    return _said_once(lambda: store.execute(text, parameters, **settings), notes)


def _said_once(run: Callable[[], Result], notes: Console) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        result = run()
    for warning in result.warnings:
        notes.print(styled(warning, "bold yellow"))
    return result
