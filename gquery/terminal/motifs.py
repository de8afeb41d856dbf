"""`gquery motifs`: its options, and how what it finds is shown."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from gquery.terminal.messages import counted
from gquery.terminal.output.progress import watch

if TYPE_CHECKING:
    from rich.console import Console

    from gquery.motif.discovery import Discovery
    from gquery.motif.found import Motifs
    from gquery.session import Graph

SHOWN = 30  # rows of a table on a terminal
MODELS = ("degrees", "mutual", "stubs", "erdos-renyi")
_OPTIONS = ("random", "model", "switches", "seed", "labels", "types", "by_label", "by_type", "threads", "device",
            "timeout", "memory_limit")  # fmt: skip


def add_motif_options(parser: ArgumentParser) -> None:
    """What `gquery.motifs` takes; see docs/motifs.md."""
    option = parser.add_argument
    option("graph", metavar="GRAPH")
    option("-k", type=int, required=True, metavar="SIZE", help="vertices of a motif, 3 to 8")
    option("--random", type=int, metavar="N", help="random graphs, 1000 by default; with 0 motifs are only counted")
    option("--model", choices=MODELS, help="what a random graph keeps: everybody's `degrees` (default); `mutual`, also "
           "edges there and back; `stubs`, degrees but for lost edges; `erdos-renyi`, the number of edges")  # fmt: skip
    option("--switches", type=int, metavar="N", help="attempts to switch an edge, for each edge, 10 by default")
    option(
        "--seed", type=int, metavar="N", help="of the random graphs, 0 by default: the same one gives the same table"
    )
    option("--ignore-directions", action="store_true", help="an edge there and one back are the same")
    option("--label", dest="labels", action="append", metavar="NAME",
           help="count among vertices of this label; may be given several times")  # fmt: skip
    option("--type", dest="types_of_edges", action="append", metavar="NAME",
           help="count edges of this type; may be given several times")  # fmt: skip
    option("--by-label", action="store_true", default=None, help="labels are part of a motif")
    option("--by-type", action="store_true", default=None, help="types are part of a motif")
    option("--min-z", type=float, metavar="Z", help="show motifs with this z and more")
    option("--max-p", type=float, metavar="P", help="show motifs with this adjusted p and less")
    option("-o", "--output", metavar="FILE", help="a page with pictures (.html), or the table (.csv, .parquet, ...)")
    option("--format", choices=("html", "mfinder", "fanmod"), help="of the FILE, where its ending does not say")
    option("--threads", type=int, metavar="N")
    option("--device", choices=("auto", "cpu", "gpu"), help="where motifs are counted; `auto`: where that takes less")


def ask_for_motifs(chosen: Namespace, graph: Graph, console: Console) -> tuple[Motifs, Discovery]:
    """Searches, with a bar on the console; Ctrl-C ends it."""
    from gquery.motif.discovery import Discovery

    options: dict[str, Any] = {name: getattr(chosen, name, None) for name in _OPTIONS}
    options |= {"types": chosen.types_of_edges, "directed": False if chosen.ignore_directions else None}
    search = Discovery(graph, chosen.k, **{name: value for name, value in options.items() if value is not None})
    found = watch(search, search.run, console, lambda _: f"{search.asked.random:,} random graphs")
    return found.select(z=chosen.min_z, p=chosen.max_p), search


def show_motifs(found: Motifs, console: Console) -> None:
    """The first rows as a table."""
    from gquery.terminal.output.tables import Head, answer

    table = found.table.slice(0, SHOWN)
    console.print(answer(Head(table, len(found) > SHOWN), SHOWN, console))
    if len(found) > SHOWN:
        console.print(f"and {counted(len(found) - SHOWN, 'more row')}; `-o FILE` writes all", markup=False)
