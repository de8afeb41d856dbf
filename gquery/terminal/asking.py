"""A query is asked, and what is odd about it is said once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gquery.errors import QueryWarning
from gquery.terminal.messages import styled

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.result import Result
    from gquery.session import Graph
    from gquery.store import Store


class Warned(Protocol):
    """A result, or a watch."""

    @property
    def warnings(self) -> tuple[str, ...]: ...


Asked = TypeVar("Asked", bound=Warned)


def ask(graph: Graph, text: str, parameters: Mapping[str, object], notes: Console) -> Result:
    """The result of a query; its warnings are printed to `notes`, in place of Python's own."""
    return said_once(lambda: graph.query(text, parameters), notes)


def execute(
    store: Store, text: str, parameters: Mapping[str, object], settings: Mapping[str, Any], notes: Console
) -> Result:
    """The result of a statement, which may only read; its warnings are printed to `notes`."""
    return said_once(lambda: store.execute(text, parameters, **settings), notes)


def explained(graph: Graph, text: str, parameters: Mapping[str, object], notes: Console) -> Result:
    """The plan of a query, or of a statement that writes: as nothing is written, any graph will do."""
    from gquery.store.executing import executed

    return said_once(lambda: executed(graph, text, parameters, graph.settings).result, notes)


def said_once(run: Callable[[], Asked], notes: Console) -> Asked:
    """What `run` gives; its warnings are printed to `notes`, in place of Python's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        result = run()
    for warning in result.warnings:
        notes.print(styled(warning, "bold yellow"))
    return result
