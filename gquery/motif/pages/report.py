"""A search's findings as a page: a picture of every motif, its numbers, and how random graphs compare."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

from gquery.errors import QueryTimeout
from gquery.motif.pages.pictures import distribution_picture, motif_picture

if TYPE_CHECKING:
    from gquery.motif.found import Motifs

SHOWN, PREVIEW = 200, 20  # motifs of a page, and of a notebook
DRAWN = 3  # motifs whose instances are drawn
_PATIENCE = 10.0  # seconds for the instances of one

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Motifs of {size} vertices</title>
<style>
body {{ font-family: sans-serif; margin: 2em; color: #222 }}
table {{ border-collapse: collapse }}
th, td {{ padding: 4px 12px; border-bottom: 1px solid #ddd; text-align: right; vertical-align: middle }}
th:first-child, td:first-child, td:last-child, th:last-child {{ text-align: left }}
code {{ font-size: 85% }}
</style></head><body>
<h1>Motifs of {size} vertices</h1>
<ul>{notes}</ul>
<p>The grey bars are the counts in random graphs, the red line is the graph itself. A motif is over-represented where
the line is far to the right: z is its distance from the mean in standard deviations, the adjusted p says which share
of the motifs with this p or less would be false alarms.</p>
{table}
{more}{drawings}</body></html>
"""

_WHERE = """<p>The first motifs in the graph: vertices and edges of at most 200 instances are in colour. Point at
a vertex to see its id. Of a large graph only the instances are drawn.</p>"""

_HEADS = ("motif", "count", "of all", "in random graphs", "z", "p, adjusted", "", "pattern")


def page(motifs: Motifs) -> str:
    """A whole HTML page, which needs nothing else; the first 200 motifs, and where the first three are."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in motifs.notes)
    more = f"<p>and {len(motifs) - SHOWN:,} more, in the table</p>" if len(motifs) > SHOWN else ""
    return _PAGE.format(
        size=motifs.asked.size, notes=notes, table=table(motifs, SHOWN), more=more, drawings=_drawings(motifs)
    )


def _drawings(motifs: Motifs) -> str:
    """The graph with the instances of the first motifs; without those that are hard to find."""
    lines: list[str] = []
    for row in range(min(DRAWN, len(motifs))):
        with suppress(QueryTimeout):
            graph = motifs.drawing(row, timeout=_PATIENCE)
            lines.append(f"<h3>{motif_picture(motifs.matrices[row], motifs.asked.directed)}</h3>{graph}")
    return f"<h2>Where they are</h2>{_WHERE}{''.join(lines)}" if lines else ""


def table(motifs: Motifs, most: int) -> str:
    """The first rows as an HTML table."""
    rows = motifs.table.slice(0, most).to_pylist()
    lines = "".join(f"<tr>{_cells(motifs, place, row)}</tr>" for place, row in enumerate(rows))
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in _HEADS)}</tr>{lines}</table>"


def _cells(motifs: Motifs, place: int, row: dict[str, Any]) -> str:
    random = motifs.distribution(place)
    compared = f"{row['mean']:,.1f} &plusmn; {row['deviation']:,.1f}" if row["deviation"] is not None else ""
    cells = (
        motif_picture(motifs.matrices[place], motifs.asked.directed) + _labels(row),
        f"{row['count']:,}",
        f"{row['concentration']:.3%}",
        compared,
        "" if row["z"] is None else f"{row['z']:.1f}",
        "" if row["p_adjusted"] is None else f"{row['p_adjusted']:.2g}",
        distribution_picture(random, row["count"]) if len(random) else "",
        f"<code>{escape(row['pattern'])}</code>",
    )
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _labels(row: dict[str, Any]) -> str:
    if not row.get("labels"):
        return ""
    named = (f"{vertex}: {labels or 'no label'}" for vertex, labels in zip("abcdefgh", row["labels"], strict=False))
    return f"<br>{escape(', '.join(named))}"
