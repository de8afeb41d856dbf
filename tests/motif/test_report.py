"""Pages and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import gquery
from gquery.motif.matrices import Matrix
from gquery.motif.pages import drawing, report
from gquery.motif.pages.pictures import distribution_picture, motif_picture
from tests.motif.test_motifs import town

_SVG = "{http://www.w3.org/2000/svg}"


def test_a_picture_shows_all_arcs() -> None:
    loop = Matrix((0, 1, 0), ((0, 1, 1), (0, 0, 1), (0, 1, 0)))
    drawn = ElementTree.fromstring(motif_picture(loop, True))
    assert len(drawn.findall(f"{_SVG}polygon")) == 4
    assert [circle.get("fill") for circle in drawn.findall(f"{_SVG}circle")].count("#4e79a7") == 2
    assert [text.text for text in drawn.findall(f"{_SVG}text")] == ["a", "b", "c"]
    path = Matrix((0, 0, 0), ((0, 1, 0), (1, 0, 1), (0, 1, 0)))
    undirected = ElementTree.fromstring(motif_picture(path, False))
    assert len(undirected.findall(f"{_SVG}line")) == 2
    assert not undirected.findall(f"{_SVG}polygon")


@pytest.mark.parametrize(("counts", "count"), [([], 3), ([0, 0], 0), ([1, 5, 10**12], 4)])
def test_a_distribution_has_a_line_where_the_graph_is(counts: list[int], count: int) -> None:
    drawn = ElementTree.fromstring(distribution_picture(np.array(counts, np.int64), count))
    (line,) = drawn.findall(f"{_SVG}line")
    assert 0 <= float(line.get("x1", "-1")) <= 180
    assert bool(drawn.findall(f"{_SVG}rect")) == bool(counts)


@pytest.mark.parametrize(
    "options", [{}, {"by_label": True}, {"by_type": True}, {"directed": False}, {"labels": ["A"], "by_label": True}]
)
def test_instances_are_drawn_in_the_graph(options: Any) -> None:
    """All of them, with the vertices and edges that they have."""
    graph = town(1, loops=True)
    found = gquery.motifs(graph, 3, random=0, **options)
    for row in range(len(found)):
        instances = found._instances.of(found.matrices[row], 10_000)
        assert len(instances) == found.rows()[row]["count"]
        drawn = ElementTree.fromstring(found.drawing(row, 10_000))
        circles = drawn.findall(f"{_SVG}circle")
        known = set(map(str, graph.query("MATCH (a) RETURN id(a) AS id").to_arrow()["id"].to_pylist()))
        assert {circle.findtext(f"{_SVG}title") for circle in circles} <= known
        assert sum(circle.get("r") == "4" for circle in circles) == len(np.unique(instances))
        _, coloured = drawn.findall(f"{_SVG}path")
        assert coloured.get("d", "").count("M") >= len(np.unique(instances)) / 3
    assert found.drawing(0)._repr_svg_().startswith("<svg")
    for row in (-1, len(found)):
        with pytest.raises(gquery.ExecutionError, match=f"there is no motif {row}: the rows are those of"):
            found.drawing(row)


def test_of_a_large_graph_only_the_instances_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_MOST", 5)
    found = gquery.motifs(town(1), 3, random=0)
    drawn = ElementTree.fromstring(found.drawing(len(found) - 1, most=1))
    assert [circle.get("r") for circle in drawn.findall(f"{_SVG}circle")] == ["4", "4", "4"]
    assert "Where they are" in found.report()
    monkeypatch.setattr(report, "_PATIENCE", 1e-9)
    assert "Where they are" not in found.report()


def test_page_and_notebook() -> None:
    found = gquery.motifs(town(1), 4, by_label=True, random=5)
    assert len(found) > 20
    page = found.report()
    assert "A:odd one" in page
    assert page.count("<tr>") == 1 + min(len(found), 200)
    assert page.count("instances of motif") == 3
    assert f"and {len(found) - 20:,} more" in found._repr_html_()
    assert "%" in gquery.motifs(town(1), 3, random=0)._repr_html_()


def test_files(tmp_path: Path) -> None:
    found = gquery.motifs(town(1), 3, random=5, by_label=True)
    for name in ("table.csv", "table.arrow", "table.jsonl", "report.HTML"):
        assert found.write(tmp_path / name) == len(found)
    with pytest.raises(gquery.ExecutionError, match="cannot tell the format"):
        found.write(tmp_path / "table.odd")
    with pytest.raises(gquery.ExecutionError, match="cannot write"):
        found.write(tmp_path / "absent" / "report.html")


def loops() -> gquery.Graph:
    """Four feed-forward loops that share their ends."""
    edges = [(1, 9), *((1, middle) for middle in range(2, 6)), *((middle, 9) for middle in range(2, 6))]
    tails, heads = zip(*edges, strict=True)
    return gquery.from_arrow({"A": {"id": [1, 2, 3, 4, 5, 9]}}, {("A", "X", "A"): {"source": tails, "target": heads}})


def test_mfinder_reads_it(tmp_path: Path) -> None:
    found = gquery.motifs(loops(), 3, random=50)
    assert found.write(tmp_path / "loops_OUT.txt", "mfinder") == len(found) == 3
    _, listed = (tmp_path / "loops_OUT.txt").read_text().split("[MILI]\n")
    rows = {line.split("\t")[0]: line.split("\t") for line in listed.splitlines() if line}
    by_id = {str(row["mfinder"]): row for row in found.rows()}
    assert rows.keys() == by_id.keys() == {"6", "36", "38"}
    for name, (_, count, chance, z, p, share) in rows.items():
        row = by_id[name]
        assert int(count) == row["count"]
        assert chance == f"{row['mean']:.1f}+-{row['deviation']:.1f}"
        assert z == ("888888" if row["z"] is None else f"{row['z']:.2f}")
        assert float(p) == pytest.approx((row["p"] * 51 - 1) / 50, abs=1e-3)
        assert float(share) == pytest.approx(1000 * row["concentration"], abs=1e-2)


def test_fanmod_reads_it(tmp_path: Path) -> None:
    found = gquery.motifs(loops(), 3, random=50)
    found.write(tmp_path / "loops.csv", "fanmod")
    _, listed = (tmp_path / "loops.csv").read_text().split("[Random]\n\n")
    blocks = [block.split("\n") for block in listed.strip().split("\n\n")]
    assert len(blocks) == len(found)
    for place, (block, row) in enumerate(zip(blocks, found.rows(), strict=True)):
        first, *others = (line.split(",") for line in block)
        assert first[1] + "".join(line[1] for line in others) == row["class"]
        assert (int(first[0]), float(first[2][:-1]) / 100) == (row["mfinder"], pytest.approx(row["concentration"]))
        shares = found.shares(place)
        assert float(first[3][:-1]) / 100 == pytest.approx(shares.mean(), abs=1e-6)
        assert float(first[6]) == pytest.approx(np.mean(shares > row["concentration"]))


def test_what_other_tools_do_not_know(tmp_path: Path) -> None:
    alone = gquery.motifs(loops(), 3, random=0)
    assert alone.write(tmp_path / "alone.txt", "mfinder") == alone.write(tmp_path / "alone.csv", "fanmod") == 3
    assert "38,001," in (tmp_path / "alone.csv").read_text() or "38,000," in (tmp_path / "alone.csv").read_text()
    with pytest.raises(gquery.ExecutionError, match="no labels and types"):
        gquery.motifs(loops(), 3, random=0, by_label=True).write(tmp_path / "x", "mfinder")
    with pytest.raises(gquery.ExecutionError, match="`kavosh` is no format"):
        alone.write(tmp_path / "x", "kavosh")
