"""Motifs as other tools write them, for whoever reads these files: mfinder's and FANMOD's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gquery.errors import ExecutionError
from gquery.motif.matrices import Matrix, mfinder_id

if TYPE_CHECKING:
    from gquery.motif.found import Motifs

_NO_Z = 888888  # mfinder's word for it
_METHODS = {
    "degrees": "Switches", "mutual": "Switches, mutual edges kept", "stubs": "Stubs", "erdos-renyi": "Erdos-Renyi",
}  # fmt: skip


def mfinder(motifs: Motifs) -> str:
    """The list of subgraphs of mfinder's `..._OUT.txt`, as with its option -nu: how many instances have no vertex in
    common is not told. p is the share of random graphs with as many or more. Raises ExecutionError for labels and
    types."""
    size, graphs = motifs.asked.size, motifs.asked.random
    total = sum(row["count"] for row in motifs.rows())
    rows = [
        f"{mfinder_id(matrix)}\t{row['count']}\t{row['mean'] or 0:.1f}+-{row['deviation'] or 0:.1f}\t"
        f"{_NO_Z if row['z'] is None else format(row['z'], '.2f')}\t"
        f"{float(np.mean(motifs.distribution(place) >= row['count'])) if graphs else 1:.3f}\t"
        f"{1000 * row['count'] / total:.2f}"
        for place, (row, matrix) in enumerate(_plain(motifs))
    ]
    return "\n".join([
        "MOTIF FINDER RESULTS:\n",
        f"\tNetwork type: {'Directed' if motifs.asked.directed else 'Non-Directed'}\n",
        f"\tMotif size searched  {size}",
        f"\tTotal number of {size}-node subgraphs : {total}",
        f"\tNumber of random networks generated : {graphs}",
        f"\tRandom networks generation method: {_METHODS[motifs.asked.model]}\n",
        f"Full list of subgraphs size {size} ids:\n",
        f"\t( Total num of different subgraphs size {size} is : {len(rows)} )\n",
        "MOTIF\tNREAL\tNRAND\t\tNREAL\tNREAL\tCREAL",
        "ID\t\tSTATS\t\tZSCORE\tPVAL\t[MILI]",
        *(f"{row}\n" for row in rows),
    ]) + "\n"  # fmt: skip


def fanmod(motifs: Motifs) -> str:
    """The comma-separated list of FANMOD. Its frequencies are shares of all subgraphs of the size, in random graphs of
    theirs, z is that of these shares, and p the share of random graphs where it is larger. Raises ExecutionError for
    labels and types."""
    asked = motifs.asked
    lines = [
        "Result overview:\n",
        "ID,Adj-Matrix,Frequency,Mean-Freq,Standard-Dev,Z-Score,p-Value",
        ",,[Original],[Random],[Random]\n",
    ]
    for place, (row, matrix) in enumerate(_plain(motifs)):
        share, numbers = row["concentration"], ""
        if asked.random:
            shares = motifs.shares(place)
            spread = float(shares.std(ddof=1)) if asked.random > 1 else 0.0
            z = f"{(share - float(shares.mean())) / spread:.5g}" if spread > 0 else "undefined"
            numbers = f",{shares.mean():.5%},{spread:.5g},{z},{float(np.mean(shares > share)):.5g}"
        first, *others = ("".join(str(entry) for entry in arcs) for arcs in matrix.arcs)
        lines += [f"{mfinder_id(matrix)},{first},{share:.5%}{numbers}", *(f",{line}" for line in others), ""]
    header = f"gquery's motifs\n\nNetwork type: {'Directed' if asked.directed else 'Undirected'}\n"
    return "\n".join([header, f"Subgraph size: {asked.size}\n", *lines]) + "\n"


def _plain(motifs: Motifs) -> Iterator[tuple[dict[str, Any], Matrix]]:
    """Rows and matrices of motifs without labels and types."""
    if motifs.asked.by_label or motifs.asked.by_type:
        raise ExecutionError("these files have no labels and types", hint="write the table, or leave them out")
    yield from zip(motifs.rows(), motifs.matrices, strict=True)


EXPORTS: Mapping[str, Callable[[Motifs], str]] = {"mfinder": mfinder, "fanmod": fanmod}
