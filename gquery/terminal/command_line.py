"""The grammar of the command line: commands, options, and how their values are read."""

from __future__ import annotations

import os
import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any, TypeVar, get_args

import gquery
from gquery.errors import GQueryError, did_you_mean
from gquery.settings import Device, parse_memory, parse_mode
from gquery.terminal.graphs import add_loading_options
from gquery.terminal.literals import read_assignment, read_count, read_seconds
from gquery.terminal.messages import UsageError
from gquery.terminal.motifs import add_motif_options

T = TypeVar("T")

COMMANDS = ("shell", "load", "run", "explain", "profile", "watch", "motifs", "info", "warm")
FORMATS = ("table", "csv", "json", "arrow", "parquet")
_BINARY = ("arrow", "parquet")
_ENDINGS = {
    ".csv": "csv", ".json": "json", ".jsonl": "json", ".arrow": "arrow", ".feather": "arrow", ".parquet": "parquet",
}  # fmt: skip

_EPILOG = """\
GRAPH is a folder made by `gquery load`, or anything that it loads: a folder of CSV or Parquet files, an edge list, a
.graph file. QUERY is the text of a query, `-` to read it from standard input, or `@FILE` to read it from a file.
Exit codes: 0 answered, 1 the query or the data is wrong, 2 usage, 124 timeout, 130 cancelled.
"""


def read_command_line(given: Sequence[str]) -> Namespace:
    """The command and its options. Raises UsageError; argparse ends the process after --help and most mistakes."""
    return _parser().parse_args(_with_command(list(given)))


def settings_of(chosen: Namespace) -> dict[str, Any]:
    """The settings of a query that were given."""
    names = ("mode", "device", "timeout", "memory_limit", "strict")
    return {name: getattr(chosen, name) for name in names if getattr(chosen, name, None) is not None}


def format_by_ending(path: str) -> str | None:
    """The format that the ending of a file's name stands for."""
    return _ENDINGS.get(PurePath(path).suffix.lower())


def format_of(chosen: Namespace) -> str:
    """The format of the answer: as asked for, by the file's ending, else table on a terminal and csv in a pipe."""
    by_ending = format_by_ending(chosen.output) if chosen.output else None
    if chosen.output and not (chosen.format or by_ending):
        raise UsageError(f"the ending of {chosen.output} tells no format", hint="say which by --format")
    on_terminal = not chosen.output and sys.stdout.isatty()
    format = str(chosen.format or by_ending or ("table" if on_terminal else "csv"))
    if on_terminal and format in _BINARY:
        raise UsageError(f"{format} is not for a terminal", hint="write it to a file by -o FILE, or into a pipe")
    return format


def query_text(query: str) -> str:
    """The text of a query: itself, from standard input (`-`) or from a file (`@FILE`)."""
    if query == "-":
        return sys.stdin.read()
    if not query.startswith("@"):
        return query
    try:
        return Path(query[1:]).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {query[1:]}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{query[1:]} is not UTF-8 text") from None


def _with_command(given: list[str]) -> list[str]:
    """`gquery` and `gquery GRAPH` mean `gquery shell ...`."""
    first = given[0] if given else ""
    if first in (*COMMANDS, "-h", "--help", "--version"):
        return given
    if first and not first.startswith("-") and not os.path.exists(first):
        hint = did_you_mean(first, COMMANDS)
        if hint or len(given) > 1:
            raise UsageError(f"`{first}` is neither a command nor a graph", hint=hint or "`gquery --help` lists them")
    return ["shell", *given]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="gquery", description="Ask graphs for patterns, from the shell.", epilog=_EPILOG,
                            formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False)  # fmt: skip
    parser.add_argument("--version", action="version", version=f"gquery {gquery.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)

    def command(name: str, help: str) -> ArgumentParser:
        return commands.add_parser(name, help=help, description=f"gquery {name}: {help}.", epilog=_EPILOG,
                                   formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False)  # fmt: skip

    shell = command("shell", "the REPL, which `gquery` and `gquery GRAPH` start too; reads a script from a pipe")
    shell.add_argument("graph", metavar="GRAPH", nargs="?")
    _add_settings(shell)

    load = command("load", "load a graph and save it")
    load.add_argument("source", metavar="SOURCE", help="a folder or a file")
    load.add_argument("-o", "--output", metavar="FOLDER.gq", required=True, help="where to save the graph")
    load.add_argument("--timeout", type=_value(read_seconds), metavar="SECONDS")
    load.add_argument("--rejects", metavar="FILE.csv", help="where to write the rows that were skipped or mended")

    run = command("run", "answer a query")
    _add_query(run)
    run.add_argument("-o", "--output", metavar="FILE", help="write the answer to a file")
    run.add_argument("--format", choices=FORMATS,
                     help="by default as FILE ends, else table on a terminal and csv in a pipe; "
                     "a table has 1,000 rows at most, json is one object a line")  # fmt: skip

    run.add_argument("--write", action="store_true", help="let QUERY change the saved graph GRAPH: CREATE, MERGE, SET, "
                     "REMOVE, DELETE, FOREACH; all of it or nothing is saved")  # fmt: skip

    _add_query(command("explain", "show the plan of a query with estimates"))
    _add_query(command("profile", "run a query and show its plan with real counts and times"))

    watch = command("watch", "show what updates of a graph change of the answer of a query; the graph stays as it is")
    _add_query(watch)
    watch.add_argument("--updates", metavar="FILE.csv", required=True, help="edges that come and go, with columns op "
                       "(+ or -), source, target, and maybe type, source_label, target_label and properties; `-` to "
                       "read them from standard input as they come")  # fmt: skip
    watch.add_argument("--batch", type=_value(read_count), metavar="N", default=1, help="updates at a time, else 1")
    watch.add_argument("--emit", choices=("rows", "counts"), default="rows",
                       help="rows that are new and gone, or how many matches are")  # fmt: skip
    watch.add_argument("-o", "--output", metavar="FILE", help="write the changes to a file")
    watch.add_argument("--format", choices=FORMATS[1:], help="by default as FILE ends, else csv")

    motifs = command("motifs", "find small patterns that are more frequent than chance would have it")
    add_motif_options(motifs)
    _add_limits(motifs)

    info = command("info", "show what is in a graph, or without GRAPH what this installation has")
    info.add_argument("graph", metavar="GRAPH", nargs="?")
    command("warm", "compile the kernels now, on all cores, and not when the first query waits for them")
    for parser_of_command in commands.choices.values():
        add_loading_options(parser_of_command)
    return parser


def _add_query(parser: ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH")
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--param", metavar="NAME=VALUE", type=_value(read_assignment), action="append", default=[],
                        help="a parameter of the query; VALUE is a JSON literal, or plain text")  # fmt: skip
    _add_settings(parser)


def _add_settings(parser: ArgumentParser) -> None:
    parser.add_argument("--mode", type=_value(parse_mode), help="how far matches may repeat elements: `different "
                        "edges` (default), `different nodes`, `repeatable elements`, `induced`")  # fmt: skip
    parser.add_argument("--device", choices=get_args(Device))
    _add_limits(parser)
    parser.add_argument("--strict", action=BooleanOptionalAction, help="whether labels, types and properties that the "
                        "graph does not have are errors (default), or no element's and warned of")  # fmt: skip


def _add_limits(parser: ArgumentParser) -> None:
    parser.add_argument("--timeout", type=_value(read_seconds), metavar="SECONDS")
    parser.add_argument("--memory-limit", type=_value(parse_memory), metavar="SIZE", help="such as 512MB or 2GiB")


def _value(read: Callable[[str], T]) -> Callable[[str], T]:
    """`read` as argparse wants it: what is wrong with the text becomes a usage error."""

    def value(text: str) -> T:
        try:
            return read(text)
        except GQueryError as error:
            raise ArgumentTypeError(f"{error.message}; {error.hint}" if error.hint else error.message) from None

    return value
