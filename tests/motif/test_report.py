"""Pages and pictures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import gquery
from gquery.motif.matrices import Matrix
from gquery.motif.pictures import distribution_picture, motif_picture
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


def test_page_and_notebook() -> None:
    found = gquery.motifs(town(1), 4, by_label=True, random=5)
    assert len(found) > 20
    page = found.report()
    assert "A:odd one" in page
    assert page.count("<tr>") == 1 + min(len(found), 200)
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
