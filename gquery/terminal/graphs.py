"""The graph that a command names: a saved folder, or anything that can be loaded, with the options of loading."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gquery.opening import load, open
from gquery.terminal.messages import UsageError, counted, seconds
from gquery.terminal.output.progress import loading

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.session import Graph
    from gquery.storage.load.report import LoadReport
    from gquery.store import Store

_DELIMITERS = {"\\t": "\t", "tab": "\t"}
_OPTIONS = (
    "super_labels", "mapping", "undirected", "delimiter", "quote", "array_delimiter", "header", "null", "encoding",
    "types", "on_bad_row", "on_dangling",
)  # fmt: skip


def add_loading_options(parser: ArgumentParser) -> None:
    """The options of loading; one that is not given stays out of the namespace."""
    group = parser.add_argument_group("loading options", "for a graph that is loaded, not opened where it was saved")

    def option(name: str, **details: Any) -> None:
        group.add_argument(name, default=SUPPRESS, **details)

    option("--super-label", dest="super_labels", action="append", type=_super_label, metavar="NAME=A,B",
           help="label NAME stands for the labels A and B; may be given several times")  # fmt: skip
    option("--mapping", metavar="FILE.toml", help="which file is which table")
    option("--undirected", action="store_true", help="merge the two directions of a pair into one edge")
    option("--delimiter", type=_delimiter, metavar="C", help="what separates fields: one character or `tab`")
    option("--quote", type=_quote, metavar="C", help="what stands around fields: one character or `none`")
    option("--array-delimiter", type=_delimiter, metavar="C", help="what separates the items of lists, `;` by default")
    option(
        "--header", action=BooleanOptionalAction, help="whether the first row names the columns; else the file tells"
    )
    option("--null", action="append", metavar="WORD",
           help="a word that stands for a missing value, such as NA; may be given several times")  # fmt: skip
    option("--encoding", metavar="NAME", help="of text files: utf-8 (default), latin-1, cp1252, ...")
    option("--types", action="append", type=_type, metavar="COLUMN=TYPE",
           help="the type of a column, such as balance=float or zip=string; may be given several times")  # fmt: skip
    option("--on-bad-row", choices=("error", "skip"), help="a row that cannot be read: error (default) or skip")
    option("--on-dangling", choices=("error", "skip", "create"),
           help="an edge to a missing vertex: error (default), skip, or create the vertex")  # fmt: skip


def loading_options(arguments: Namespace) -> dict[str, Any]:
    """The options of loading that were given, as `gquery.load` takes them."""
    given = {name: getattr(arguments, name) for name in _OPTIONS if hasattr(arguments, name)}
    for name in {"super_labels", "types"} & given.keys():
        given[name] = dict(given[name])
    return given


def _super_label(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, parts = text.partition("=")
    labels = tuple(part.strip() for part in parts.split(",") if part.strip())
    if not name.strip() or not labels:
        raise ArgumentTypeError(f"`{text}` is not of the form Message=Post,Comment")
    return name.strip(), labels


def _type(text: str) -> tuple[str, str]:
    column, _, kind = text.rpartition("=")
    if not column or not kind:
        raise ArgumentTypeError(f"`{text}` is not of the form balance=float")
    return column, kind.strip()


def _quote(text: str) -> str:
    return "" if text.lower() == "none" else _delimiter(text)


def _delimiter(text: str) -> str:
    character = _DELIMITERS.get(text.lower(), text)
    if len(character) != 1:
        raise ArgumentTypeError(f"`{text}` is not one character")
    return character


def open_graph(path: str, options: dict[str, Any], console: Console) -> Graph:
    """Opens a saved graph or loads any other source; a bar shows a load that takes long. Raises LoadError."""
    from gquery.storage.persist import is_saved

    if not is_saved(path) and Path(path).suffix != ".gq":
        with loading(console) as progress:
            return load(path, progress=progress, **options)
    if options:
        given = ", ".join("--" + name.removesuffix("s").replace("_", "-") for name in options)
        raise UsageError(f"{path} is a saved graph, {given} cannot change it", hint="give the option to `gquery load`")
    return open(path)


def open_store(path: str) -> Store:
    """Opens a saved graph that statements may change. Raises LoadError, UsageError where it is no saved one."""
    from gquery.storage.persist import is_saved
    from gquery.store import Store

    if not is_saved(path):
        raise UsageError(f"{path} is no saved graph, and cannot be written to", hint="save it by `gquery load`")
    return Store.open(path)


def describe_load(report: LoadReport) -> list[str]:
    """What a user should know after a load, line by line."""
    nodes, relationships = counted(report.vertices, "node"), counted(report.edges, "relationship")
    remarks = (
        ("duplicate ids", report.duplicate_ids),
        ("relationships to nodes that are missing", report.dangling_edges),
        ("nodes created for relationships", report.created_vertices),
        ("relationships merged with their other direction", report.merged_edges),
        ("self-loops", report.self_loops),
        ("parallel relationships", report.parallel_edges),
        ("rows skipped or mended", report.rejects.num_rows),
    )
    summary = f"{nodes} and {relationships} loaded in {seconds(report.seconds)}"
    numbers = (f"  {what}: {number:,}" for what, number in remarks if number)
    return [summary, *numbers, *(f"  note: {note}" for note in report.notes)]
