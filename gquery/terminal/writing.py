"""A saved graph that the terminal may change: every statement that has changed it is saved before it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from gquery.storage.persist import is_saved
from gquery.store import Store
from gquery.terminal.asking import said_once
from gquery.terminal.messages import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.result import Result
    from gquery.session import Graph
    from gquery.settings import Settings


class Writer:
    """A folder, and the graph that is in it."""

    def __init__(self, graph: Graph, path: str) -> None:
        """Raises UsageError where the graph is no saved one."""
        if not is_saved(path):
            raise UsageError(f"{path} is no saved graph, and cannot be written to", hint="save it by `gquery load`")
        self.path = path
        self.store = Store(graph)

    def execute(self, text: str, parameters: Mapping[str, object], settings: Settings, notes: Console) -> Result:
        """Runs a statement, which may only read. Raises LoadError where what it has changed cannot be saved."""
        given = asdict(settings)
        del given["threads"]
        result = said_once(lambda: self.store.execute(text, parameters, **given), notes)
        if result.changes:
            self.store.graph.save(self.path)
        return result
