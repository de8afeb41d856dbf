"""What fails inside DuckDB is told apart by its type: the words of the data are never taken for a message."""

from __future__ import annotations

import duckdb
import pytest

import gquery
from gquery.executor.progress import Control
from gquery.executor.relational.database import running
from gquery.executor.relational.database.translation import translated

TRAPS = ["interrupted", "INTERRUPT Error: Interrupted!", "Query interrupted", "Out of Memory", "Out of Memory Error: x"]


def graph_of(text: str) -> gquery.Graph:
    return gquery.from_arrow({"P": {"id": list(range(5_000)), "t": [text] * 5_000}}, {})


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize(
    "query",
    [
        "RETURN date($text)", "MATCH (a) RETURN date(a.t)", "MATCH (a) RETURN date(a.t) AS d ORDER BY d",
        "MATCH (a) RETURN max(date(a.t))", "MATCH (a) WHERE date(a.t) > date('2020-01-01') RETURN count(*)",
    ],
)  # fmt: skip
def test_data_is_not_control(query: str, text: str) -> None:
    given = {"text": text} if "$" in query else {}
    with pytest.raises(gquery.ExecutionError) as raised:
        graph_of(text).query(query, given).to_arrow()
    assert type(raised.value) is gquery.ExecutionError
    assert "date" in raised.value.message


@pytest.mark.parametrize("error", [duckdb.BinderException, duckdb.CatalogException, duckdb.InternalException])
def test_faults_of_ours_show_no_sql(error: type[duckdb.Error]) -> None:
    with pytest.raises(gquery.ExecutionError) as raised, translated():
        raise error("Binder Error: No function matches list_transform(c0, lambda g: ...)")
    assert "list_transform" not in str(raised.value)


def test_our_instances_reach_nothing_and_cannot_be_changed() -> None:
    with running._shared_cursor(threads=1) as cursor:
        for sql in (
            f"SELECT * FROM read_text('{__file__}')", "COPY (SELECT 1) TO '/tmp/gquery-out.csv'", "INSTALL httpfs",
            "SET enable_external_access = true", "SET lock_configuration = false", "ATTACH '/tmp/gquery-out.db' AS x",
        ):  # fmt: skip
            with pytest.raises(duckdb.Error):
                cursor.execute(sql).fetchall()


def test_an_interrupt_of_ours_is_what_the_control_says() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(gquery.QueryCancelled, match="cancelled"), running._stoppable(control):
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")


def test_sums_beyond_64_bits_say_so() -> None:
    graph = gquery.from_arrow({"P": {"id": [1, 2], "n": [2**62, 2**62]}}, {})
    with pytest.raises(gquery.ExecutionError, match="9223372036854775808 is out of range"):
        graph.query("MATCH (a) RETURN sum(a.n)").rows()
    assert graph.query("MATCH (a) RETURN sum(a.n - 1)").scalar() == 2**63 - 2


def test_groups_of_more_matches_than_64_bits_hold_say_so() -> None:
    """A bare count is exact at any size; a count of a group or beside a sum is right or an error, never another."""
    both = {"source": [1, 1, 2, 2] * 500, "target": [1, 2, 1, 2] * 500}
    graph = gquery.from_arrow({"P": {"id": [1, 2]}}, {("P", "X", "P"): both})
    pattern = "MATCH REPEATABLE ELEMENTS (a)" + "".join(f"-[:X]->(v{number})" for number in range(7))
    assert graph.query(f"{pattern} RETURN count(*)").scalar() == 2 * 1000**7
    for items in ("a.id AS id, count(*)", "sum(a.id), count(*)", "count(*) + 1"):
        with pytest.raises(gquery.ExecutionError, match=r"2\^62|64 bits"):
            graph.query(f"{pattern} RETURN {items}").rows()
    shorter = pattern.replace("-[:X]->(v6)", "")
    found = graph.query(f"{shorter} RETURN a.id AS id, count(*) AS n ORDER BY id").rows()
    assert found == [(1, 1000**6), (2, 1000**6)]


def test_ctrl_c_while_duckdb_asks_python_for_rows_comes_out_as_itself() -> None:
    counting = "Invalid Input Error: counting the rows of the object registered as 'matches' failed: "
    with pytest.raises(KeyboardInterrupt), translated():
        raise duckdb.InvalidInputException(f"{counting}KeyboardInterrupt: ")
    with pytest.raises(gquery.ExecutionError), translated():
        raise duckdb.InvalidInputException(f"{counting}ValueError: failed: KeyboardInterrupt")
    with pytest.raises(gquery.ExecutionError), translated():
        raise duckdb.ConversionException("Conversion Error: 'failed: KeyboardInterrupt' is no date")
