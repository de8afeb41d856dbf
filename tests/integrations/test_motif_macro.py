"""The motifs of a graph as a table of DuckDB."""

from __future__ import annotations

import duckdb
import pytest

import gquery
from gquery.integrations.duckdb import motif_macro
from tests.motif.test_motifs import town


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    motif_macro(con, town(1), "motifs")
    return con


def test_the_same_as_in_python(con: duckdb.DuckDBPyConnection) -> None:
    known = gquery.motifs(town(1), 3, random=30, seed=4, model="mutual").table
    found = con.sql("SELECT * FROM motifs(3, random := 30, seed := 4, model := 'mutual')").arrow()
    found = found if hasattr(found, "column_names") else found.read_all()
    assert found.select(known.column_names).equals(known)
    assert found["labels"].null_count == len(found)


def test_labels_and_types(con: duckdb.DuckDBPyConnection) -> None:
    known = gquery.motifs(town(1), 3, random=0, by_label=True, types="X", labels=["A", "odd one"]).rows()
    found = con.sql("""
        SELECT labels, "count" FROM motifs(3, random := 0, by_label := true, types := ['X'], labels := ['A', 'odd one'])
    """).fetchall()  # fmt: skip
    assert found == [(row["labels"], row["count"]) for row in known]


def test_for_each_row(con: duckdb.DuckDBPyConnection) -> None:
    sizes = con.sql('SELECT k, sum("count") FROM range(3, 5) t(k), motifs(t.k, random := 0) GROUP BY k ORDER BY k')
    known = [(size, sum(gquery.motifs(town(1), size, random=0).table["count"].to_pylist())) for size in (3, 4)]
    assert sizes.fetchall() == known


def test_odd_calls(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match="3 to 8 vertices"):
        con.sql("FROM motifs(9)").fetchall()
    with pytest.raises(duckdb.Error, match="no label `Q`"):
        con.sql("FROM motifs(3, labels := ['Q'])").fetchall()
    with pytest.raises(gquery.BindError, match="no name for a macro"):
        motif_macro(con, town(1), "no name")
