"""The REPL without its keyboard: a graph, settings and parameters, and the running of one statement after another."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from gquery.errors import GQueryError, did_you_mean
from gquery.settings import Device, Settings, parse_memory, parse_mode, parse_strict
from gquery.terminal.asking import ask, execute
from gquery.terminal.commands import run_command
from gquery.terminal.entry.syntax import BARE_COMMANDS, statements
from gquery.terminal.graphs import describe_load, open_graph, open_store
from gquery.terminal.literals import read_seconds
from gquery.terminal.messages import (
    ANSWERED,
    CANCELLED,
    STOPPED,
    WRONG,
    UsageError,
    counted,
    exit_code,
    seconds,
    show_error,
)
from gquery.terminal.output.progress import watch
from gquery.terminal.output.tables import answer, head

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.result import Result
    from gquery.session import Graph
    from gquery.store import Store

_FEWEST_ROWS = 10
_OTHER_LINES = 9  # of a screen: a table's frame and head, the line below it, the prompt


class Shell:
    """State and statements of a session. Data goes to `console`, everything else to `notes`.

    format: `table`, or `csv` for answers as plain text.
    """

    def __init__(self, console: Console, notes: Console, format: str = "table") -> None:
        self.console = console
        self.notes = notes
        self.settings = Settings()
        self.format = format
        self.parameters: dict[str, object] = {}
        self.timing = True
        self.graph: Graph | None = None
        self.store: Store | None = None
        self.folder: Path | None = None  # of the store
        self.name = ""
        self.last: Result | None = None
        self.last_text = ""
        self.last_seconds: float | None = None
        self.finished = False

    # --- statements ----------------------------------------------------------------------------------------------

    def execute_all(self, text: str) -> int:
        """Runs the statements of `text` in turn; stops at the first that fails. Returns its exit code, or 0."""
        for statement in statements(text):
            code = self.execute(statement)
            if code or self.finished:
                return code
        return ANSWERED

    def execute(self, statement: str) -> int:
        """Runs one query or colon-command and shows what comes of it, errors too. Returns an exit code."""
        statement = BARE_COMMANDS.get(statement.lower(), statement)
        try:
            if statement.startswith(":"):
                run_command(self, statement)
            else:
                self.query(statement)
        except GQueryError as error:
            show_error(error, self.notes)
            return exit_code(error)
        except KeyboardInterrupt:
            self.notes.print(STOPPED)
            return CANCELLED
        except (OSError, SystemExit):  # nobody reads, or no room is left for what is shown
            raise
        except Exception:  # a mistake of ours must not end the session
            self.notes.print(traceback.format_exc() + "This is a mistake in gquery: please report it.", markup=False)
            return WRONG
        return ANSWERED

    def query(self, text: str) -> None:
        """Runs a query and shows its answer."""
        started = time.perf_counter()
        self.last = result = self.ask(text)
        self.last_text = text
        if result.changes is not None:
            self.notes.print(str(result.changes), highlight=False)
        if not result.columns:
            return
        if self.format == "table":
            found = watch(result, lambda: head(result), self.notes)
            shown = min(found.table.num_rows, max(_FEWEST_ROWS, self.console.height - _OTHER_LINES))
            self.console.print(answer(found, shown, self.console))
            rows = found.row_count
            rest = "" if shown == found.table.num_rows and not found.more else f"; {shown} shown, :export FILE for all"
        else:
            rows = counted(watch(result, lambda: result.write_to(sys.stdout.buffer, self.format), self.notes), "row")
            rest = ""
        self.last_seconds = time.perf_counter() - started
        self.notes.print(rows + (f" in {seconds(self.last_seconds)}" if self.timing else "") + rest)

    def ask(self, text: str) -> Result:
        """The result of a query, or of a statement that writes where the graph may be written to."""
        graph = self.loaded()
        if self.store is None:
            return ask(graph, text, self.parameters, self.notes)
        settings = asdict(self.settings)
        del settings["threads"]
        result = execute(self.store, text, self.parameters, settings, self.notes)
        self.graph = self.store.graph.with_settings(**asdict(self.settings))
        return result

    # --- what the commands change --------------------------------------------------------------------------------

    def loaded(self) -> Graph:
        """The graph; an error when there is none yet."""
        if self.graph is None:
            raise UsageError("there is no graph yet", hint="`:load SOURCE` or `:open FOLDER` brings one")
        return self.graph

    def open(self, path: str, options: dict[str, Any]) -> None:
        """Opens or loads a graph in place of the present one."""
        graph = open_graph(path, options, self.notes)
        if graph.report is not None:
            self.notes.print("\n".join(describe_load(graph.report)), markup=False, highlight=False)
        self.use(graph, Path(path).name or path)

    def open_to_write(self, path: str) -> None:
        """Opens a saved graph, which statements may change, in place of the present one."""
        folder = Path(path).resolve()
        if folder == self.folder:
            self.close()  # it has one writer
        store = open_store(path)
        self.use(store.graph, Path(path).name or path)
        self.store, self.folder = store, folder

    def close(self) -> None:
        """Lets others write to the graph."""
        if self.store is not None:
            self.store.close()
            self.store = self.folder = None

    def use(self, graph: Graph, name: str) -> None:
        """Takes a graph; what was asked of the old one is forgotten."""
        self.graph = graph.with_settings(**asdict(self.settings))
        self.name = name
        self.close()
        self.last, self.last_text = None, ""

    def set(self, name: str, text: str) -> None:
        """Changes a setting to what `text` says. Raises UsageError or BindError."""
        if name not in SETTINGS:
            raise UsageError(f"there is no setting `{name}`", hint=did_you_mean(name, SETTINGS) or _listed(SETTINGS))
        self.change(**{name: SETTINGS[name](text)})

    def change(self, **settings: Any) -> None:
        """Changes settings, now and for the graphs to come."""
        self.settings = replace(self.settings, **settings)
        if self.graph is not None:
            self.graph = self.graph.with_settings(**asdict(self.settings))


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: None if text.lower() in ("none", "off") else read(text)


def _read_device(text: str) -> str:
    if text.lower() not in get_args(Device):
        raise UsageError(f"there is no device `{text}`", hint=_listed(get_args(Device)))
    return text.lower()


def _read_threads(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"`{text}` is not a number of threads")
    return int(text)


def _listed(names: Any) -> str:
    return "there are " + ", ".join(names)


SETTINGS: dict[str, Callable[[str], Any]] = {
    "mode": parse_mode,
    "device": _read_device,
    "timeout": _or_none(read_seconds),
    "memory_limit": _or_none(parse_memory),
    "threads": _read_threads,
    "strict": parse_strict,
}
"""Setting -> the reader of its value."""
