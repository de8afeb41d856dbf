"""The command line: `gquery`, `gquery load`, `run`, `explain`, `profile`, `watch`, `motifs`, `info`, `warm`.

Data goes to stdout, everything else to stderr. Exit codes: 0 answered, 1 the query or the data is wrong, 2 usage,
124 timeout, 130 cancelled, 141 nobody reads the output any more.
"""

from __future__ import annotations

import atexit
import errno
import gc
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from gquery.imports import ending_quietly

with ending_quietly():
    from gquery.errors import ExecutionError, GQueryError
    from gquery.terminal.asking import ask, execute, explained, said_once
    from gquery.terminal.command_line import format_by_ending, format_of, query_text, read_command_line, settings_of
    from gquery.terminal.graphs import describe_load, loading_options, open_graph, open_store
    from gquery.terminal.messages import (
        ANSWERED,
        BROKEN_PIPE,
        CANCELLED,
        STOPPED,
        UNCUT,
        WRONG,
        UsageError,
        counted,
        exit_code,
        seconds,
        show_error,
        stderr_console,
        stdout_console,
    )
    from gquery.terminal.output.progress import watch

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.result import Result
    from gquery.session import Graph
    from gquery.storage.load.report import LoadReport
    from gquery.terminal.output.tables import Head


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (that of the process when None) and returns its exit code."""
    logging.getLogger("gquery").addHandler(logging.NullHandler())  # the progress bar tells what it would
    if arguments is None:
        _open_standard_streams()
        atexit.register(_end_soon)
    try:
        chosen = read_command_line(sys.argv[1:] if arguments is None else arguments)
        code = _COMMANDS[chosen.command](chosen)
        sys.stdout.flush()
    except GQueryError as error:
        show_error(error, stderr_console())
        return exit_code(error)
    except KeyboardInterrupt:
        stderr_console().print(STOPPED)
        return CANCELLED
    except BrokenPipeError:
        _drop_stdout()
        return BROKEN_PIPE
    except OSError as error:
        _drop_stdout()
        show_error(ExecutionError(f"cannot write the answer: {error.strerror or error}"), stderr_console())
        return WRONG
    except SystemExit as stop:  # argparse has said what there is to say
        return int(stop.code or 0)
    return code


def _open_standard_streams() -> None:
    """A process may begin without them, as after `<&-` and `>&-`: then there is nothing to read, and writing fails.

    A name that the encoding of stdout lacks, as where Windows writes to a pipe, is spelt out as stderr does it. A
    script is in UTF-8, as files are; where it is not, the parser shows the place."""
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, TextIOWrapper) and not sys.stdin.isatty():
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")


def _end_soon() -> None:
    """When Python ends it looks through all objects for garbage, which is a fifth of the time of a short command. What
    DuckDB has made has to go, though: its binding says what is left."""
    if "duckdb" not in sys.modules:
        gc.freeze()


def _drop_stdout() -> None:
    """Python flushes stdout once more when it ends: what is left goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shell(chosen: Namespace) -> int:
    from gquery.repl import run
    from gquery.terminal.shell import Shell

    shell = Shell(stdout_console(), stderr_console(), "table" if sys.stdout.isatty() else "csv")
    shell.change(**settings_of(chosen))
    if chosen.graph is not None:
        shell.open(chosen.graph, loading_options(chosen))
    try:
        return run(shell) if sys.stdin.isatty() else shell.execute_all(sys.stdin.read())
    finally:
        shell.close()


def _load(chosen: Namespace) -> int:
    from gquery.terminal.warming import warming_beside

    console = stderr_console()
    options = loading_options(chosen)
    if chosen.timeout is not None:
        options["timeout"] = chosen.timeout
    with warming_beside():
        graph = open_graph(chosen.source, options, console)
        if graph.report is not None:
            console.print("\n".join(describe_load(graph.report)), markup=False)
            if chosen.rejects:
                _write_rejects(graph.report, chosen.rejects)
        graph.save(chosen.output)
    console.print(f"saved as {chosen.output}", markup=False)
    return ANSWERED


def _write_rejects(report: LoadReport, path: str) -> None:
    from pyarrow import csv

    with _opened(path) as sink:
        csv.write_csv(report.rejects, sink)


def _run(chosen: Namespace) -> int:
    format, text, console = format_of(chosen), query_text(chosen.query), stderr_console()
    if chosen.output:
        _make_sure_of(chosen.output)
    result = _asked(chosen, text, console)
    if result.changes is not None:
        console.print(str(result.changes), highlight=False)
    if not result.columns:
        return ANSWERED
    if format == "table":
        found = _print_table(result, chosen.output, console)
        rows, more = found.row_count, "; a table shows no more, other formats do" if found.more else ""
    else:
        rows, more = counted(_write_rows(result, format, chosen.output, console), "row"), ""
    console.print(f"{rows} in {seconds(result.progress.elapsed)}{more}")
    return ANSWERED


def _asked(chosen: Namespace, text: str, console: Console) -> Result:
    parameters = dict(chosen.param)
    if not chosen.write:
        return ask(_graph(chosen, console), text, parameters, console)
    with open_store(chosen.graph) as store:
        return execute(store, text, parameters, settings_of(chosen), console)


def _write_rows(result: Result, format: str, path: str | None, console: Console) -> int:
    """Writes the answer as it comes; the number of rows."""
    if path is None:
        drawn_over = sys.stdout.isatty()  # a bar among the rows would spoil both
        write = partial(result.write_to, sys.stdout.buffer, format)
        return watch(result, write, None if drawn_over else console)
    if format == format_by_ending(path):
        return watch(result, partial(result.write, path), console)
    with _put_in_place(path) as sink:
        return watch(result, partial(result.write_to, sink, format), console)


def _print_table(result: Result, path: str | None, console: Console) -> Head:
    """Prints the first rows as a table."""
    from rich.console import Console

    from gquery.terminal.output.tables import answer, head

    found = watch(result, partial(head, result), console)
    if path is None:
        target = stdout_console()
        target.print(answer(found, found.table.num_rows, target))
    else:
        with _put_in_place(path) as sink:
            target = Console(file=TextIOWrapper(sink, "utf-8"), width=UNCUT)
            target.print(answer(found, found.table.num_rows, target))
            target.file.flush()
    return found


def _make_sure_of(path: str) -> None:
    """Where the answer cannot be written nothing is asked, and nothing changed."""
    target, reason = Path(path), 0
    if target.is_dir():
        reason = errno.EISDIR
    elif not target.parent.is_dir():
        reason = errno.ENOENT
    elif not os.access(target.parent if target.is_file() or not target.exists() else target, os.W_OK):
        reason = errno.EACCES
    if reason:
        raise ExecutionError(f"cannot write {path}: {os.strerror(reason)}")


def _put_in_place(path: str) -> AbstractContextManager[BinaryIO]:
    """A file that takes the place of the one before when it is whole; a pipe or a device is written to as it is."""
    from gquery.values.formats import new_file

    target = Path(path)
    return new_file(target) if target.is_file() or not target.exists() else _opened(path)


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "wb")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _explain(chosen: Namespace) -> int:
    text, console = query_text(chosen.query), stderr_console()
    with GQueryError.behind("EXPLAIN "):
        result = explained(_graph(chosen, console), f"EXPLAIN {text}", dict(chosen.param), console)
    _print("\n".join(result.to_arrow()["plan"].to_pylist()))
    return ANSWERED


def _profile(chosen: Namespace) -> int:
    text, console = query_text(chosen.query), stderr_console()
    with GQueryError.behind("PROFILE "):
        result = ask(_graph(chosen, console), f"PROFILE {text}", dict(chosen.param), console)
    _print("\n".join(watch(result, result.to_arrow, console)["plan"].to_pylist()))
    return ANSWERED


def _watch(chosen: Namespace) -> int:
    from gquery.store import Store
    from gquery.store.feed import fed, long_fields
    from gquery.values.formats import file_format, flushing, stream_format

    if chosen.query == chosen.updates == "-":
        raise UsageError("the query and the updates cannot both be read from standard input")
    console = stderr_console()
    by_ending = format_by_ending(chosen.output) if chosen.output else None
    format = str(chosen.format or by_ending or "csv")
    store = Store(_graph(chosen, console))
    text, parameters = query_text(chosen.query), dict(chosen.param)
    standing = said_once(lambda: store.watch(text, parameters, emit=chosen.emit), console)
    with (
        long_fields(),
        _feed(chosen.updates) as lines,
        _opened(chosen.output) if chosen.output else nullcontext(sys.stdout.buffer) as sink,
    ):
        name = "standard input" if chosen.updates == "-" else chosen.updates
        changes = fed(store, standing, lines, name, chosen.batch)
        written = file_format(chosen.output)[1] if format == by_ending else stream_format(sink, format)
        rows = written.write(flushing(changes, sink), standing.schema, sink)
    console.print(f"{counted(rows, 'row')} of {counted(standing.version, 'version')}")
    return ANSWERED


def _feed(path: str) -> AbstractContextManager[TextIO]:
    if path == "-":
        if isinstance(sys.stdin, TextIOWrapper):  # read as a file is, whatever the terminal's encoding
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict", newline="")
        return nullcontext(sys.stdin)
    try:
        return open(path, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _motifs(chosen: Namespace) -> int:
    from gquery.terminal.motifs import ask_for_motifs, show_motifs

    console = stderr_console()
    found, search = ask_for_motifs(chosen, _graph(chosen, console), console)
    if chosen.output:
        found.write(chosen.output, chosen.format)
    elif sys.stdout.isatty():
        show_motifs(found, stdout_console())
    else:
        found.write_to(sys.stdout.buffer, "csv")
    for note in found.notes:
        console.print(note, markup=False)
    console.print(f"{counted(len(found), 'motif')} in {seconds(search.progress.elapsed)}")
    return ANSWERED


def _info(chosen: Namespace) -> int:
    if chosen.graph is None:
        from gquery.terminal.installation import describe_installation

        _print("\n".join(describe_installation()))
    else:
        from gquery.terminal.output.schema_picture import show_schema

        show_schema(open_graph(chosen.graph, loading_options(chosen), stderr_console()), stdout_console())
    return ANSWERED


def _warm(_: Namespace) -> int:
    from gquery.terminal.output.progress import loading
    from gquery.terminal.warming import warm

    console = stderr_console()
    with loading(console) as show:
        show("compiling", 0.0)
        warm(lambda done, groups: show("compiling", done / groups))
    console.print("all common kernels are compiled")
    return ANSWERED


def _graph(chosen: Namespace, console: Console) -> Graph:
    graph = open_graph(chosen.graph, loading_options(chosen), console)
    for note in graph.report.notes if graph.report is not None else ():
        console.print(f"note: {note}", markup=False)
    return graph.with_settings(**settings_of(chosen))


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


_COMMANDS: Mapping[str, Callable[[Namespace], int]] = {
    "shell": _shell,
    "load": _load,
    "run": _run,
    "explain": _explain,
    "profile": _profile,
    "watch": _watch,
    "motifs": _motifs,
    "info": _info,
    "warm": _warm,
}
