"""The graph that a command names: a saved folder, or anything that can be loaded, with the options of loading."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gquery
from gquery.terminal.messages import counted, seconds
from gquery.terminal.progress import loading

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.storage.load.report import LoadReport

_ESCAPES = {"\\t": "\t", "tab": "\t", "comma": ",", "pipe": "|", "space": " "}
_OPTIONS = ("super_labels", "mapping", "undirected", "delimiter", "on_bad_row", "on_dangling")


def add_loading_options(parser: ArgumentParser) -> None:
    """The options of loading; what is not given stays out of the namespace."""
    group = parser.add_argument_group("loading options", "for a graph that is loaded, not opened from a .gq folder")
    group.add_argument("--super-label", dest="super_labels", action=_SuperLabel, type=_super_label, default=SUPPRESS,
                       metavar="NAME=A,B", help="declare that label NAME stands for the labels A and B; repeatable")
    group.add_argument("--mapping", metavar="FILE.toml", default=SUPPRESS, help="which file is which table")
    group.add_argument("--undirected", action="store_true", default=SUPPRESS,
                       help="merge the two directions of a pair into one edge")
    group.add_argument("--delimiter", type=_delimiter, metavar="C", default=SUPPRESS,
                       help="field separator, such as ',' '|' or '\\t' (default: told by the file)")
    group.add_argument("--on-bad-row", choices=("error", "skip"), default=SUPPRESS,
                       help="what to do with a row that cannot be read (default: error)")
    group.add_argument("--on-dangling", choices=("error", "skip", "create"), default=SUPPRESS,
                       help="what to do with an edge whose end is missing (default: error)")  # fmt: skip


class _SuperLabel(__import__("argparse").Action):  # type: ignore[misc]
    pass


def open_graph(path: str, options: dict[str, Any], console: Console) -> gquery.Graph:
    """Opens a saved graph or loads any other source; a bar shows a load that takes long. Raises LoadError."""
    from gquery.storage.persist import is_saved

    if is_saved(path) or Path(path).suffix == ".gq":
        return gquery.open(path)
    with loading(console) as progress:
        return gquery.load(path, progress=progress, **options)
