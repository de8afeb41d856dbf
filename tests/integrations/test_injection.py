"""No text of a user's becomes SQL: every text that the doors take is tried with what would read a forbidden file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import gquery
from gquery.integrations.duckdb import shadow, table_macro
from tests.integrations.doors import answer_or_error, connection, graph, opened

__all__ = ["connection", "graph"]

SECRET = "the secret word"


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "secret.txt"
    path.write_text(SECRET)
    return path


def attacks(path: Path) -> Iterator[str]:
    """Texts that end what they are put in, and read the file."""
    read = f"SELECT content FROM read_text('{path}')"
    struct = f"SELECT struct_pack(x := content) FROM read_text('{path}')"
    yield f"STRUCT(x VARCHAR)) WHERE false UNION ALL {struct} WHERE (true"
    yield f"VARCHAR) UNION ALL {read} WHERE (true"
    yield f"VARCHAR; {read}; --"
    yield f"ENUM({read})"
    yield f"' UNION ALL {read} --"
    yield f"') UNION ALL {read} --"
    yield f"'; {read}; --"
    yield f'" FROM ({read}) t("x") --'
    yield f'x" VARCHAR)) AS row) UNION ALL {read} --'
    yield f'x", ({read}) AS "y'
    yield f"x\0' UNION ALL {read} --"
    yield f"$$ UNION ALL {read} --"
    yield f"*/ UNION ALL {read} /*"
    yield f"\\' UNION ALL {read} --"


def never_found(con: duckdb.DuckDBPyConnection, sql: str, parameters: list[object] | None = None) -> None:
    assert SECRET not in repr(answer_or_error(con, sql, parameters))


@pytest.mark.parametrize("place", range(4))
def test_texts_of_the_macro_s_functions(graph: gquery.Graph, secret: Path, place: int) -> None:
    con = opened("macro")
    gquery.attach(con, graph, "social")
    for attack in attacks(secret):
        call: list[object] = ["social", "RETURN $x AS x", '{"x":"a"}', "STRUCT(x VARCHAR)"]
        call[place] = attack
        never_found(con, "SELECT _gquery_sql(?, ?, ?, ?)", call)
        never_found(con, "SELECT _gquery_rows(?, ?, ?, ?)", call)  # as it was once
        never_found(con, "SELECT _gquery_rows(?)", [attack])
        never_found(con, "SELECT _gquery_rows(to_base64(encode(?)))", [json.dumps([*call, True])])
    with pytest.raises(duckdb.Error):
        con.execute(f"SELECT * FROM read_text('{secret}')").fetchall()


def test_texts_of_calls(connection: duckdb.DuckDBPyConnection, secret: Path) -> None:
    for attack in attacks(secret):
        quoted = attack.replace("'", "''").replace("\0", "")
        in_query = json.dumps(attack).replace("'", "''").replace("\\u0000", "")
        alias = attack.replace("`", "").replace("'", "''").replace("\0", "")
        for call in (
            f"'{quoted}', 'RETURN 1 AS x'",
            f"'social', '{quoted}'",
            f"'social', 'RETURN {in_query} AS x'",
            f"'social', 'MATCH (a) WHERE a.name = {in_query} RETURN a.name AS x'",
            f"'social', 'RETURN 1 AS `{alias}`'",
            f"'social', 'MATCH (a) WITH a.name AS `{alias}` RETURN `{alias}`'",
            f"'social', 'RETURN $x AS x', params := {{'x': '{quoted}'}}",
            f"'social', 'RETURN $x AS x', params := MAP {{'x': '{quoted}'}}",
            f"""'social', 'RETURN $`{alias}` AS x', params := {{'{quoted.replace("'", "")}': 1}}""",
            f"'social', 'RETURN $x AS x', params := '{quoted}'",
            f"""'social', 'RETURN {{`{alias}`: 1}} AS x'""",
        ):
            never_found(connection, f"FROM gquery({call})")


def test_names_in_a_graph(secret: Path) -> None:
    """Labels, types and properties with quotes become names of columns and fields; names of attached graphs do not."""
    for attack in attacks(secret):
        people = pa.table({"id": [1, 2], "name": ["a", "b"], attack: ["c", None]})
        knows = pa.table({"source": [1], "target": [2], attack: [1]})
        label, kind = attack.replace("\0", ""), attack.replace("\0", "") + "E"
        try:
            odd = gquery.from_arrow({label: people}, {(label, kind, label): knows})
        except gquery.GQueryError:
            continue
        name = attack.replace("`", "``")
        texts = [
            f"MATCH (a:`{label}`)-[e:`{kind}`]->(b) RETURN a, e, b, labels(a) AS l, properties(a) AS p",
            f"MATCH (a) RETURN a.`{name}`",
            f"MATCH (a) WHERE a.`{name}` IS NOT NULL RETURN a.`{name}` AS x ORDER BY x",
        ]
        for text in texts:
            with contextlib.suppress(gquery.GQueryError):
                assert SECRET not in repr(odd.query(text).rows())
        for door in ("native", "macro"):
            try:
                con = opened(door)
            except gquery.UnsupportedError:
                continue
            gquery.attach(con, odd, attack.replace("\0", ""))
            for text in texts:
                never_found(con, _written(attack, text))
                if door == "native":  # the macro's texts have to be known when the statement is bound
                    never_found(con, "FROM gquery($1, $2)", [attack, text])
            con.close()


def _written(name: str, text: str) -> str:
    """A call with its texts as literals."""
    quoted = [part.replace("\0", "").replace("'", "''") for part in (name, text)]
    return f"FROM gquery('{quoted[0]}', '{quoted[1]}')"


def test_names_of_table_macros(graph: gquery.Graph, secret: Path) -> None:
    con = duckdb.connect()
    for attack in attacks(secret):
        with pytest.raises(gquery.BindError):
            table_macro(con, graph, attack, "RETURN 1 AS x", {})
        with pytest.raises(gquery.BindError):
            table_macro(con, graph, "f", f"RETURN $`{attack}` AS x", {attack: int})
    table_macro(con, graph, "select", "RETURN $from AS x", {"from": int})
    assert con.execute('SELECT x FROM "select"(5)').fetchall() == [(5,)]


def test_the_private_database_is_locked(secret: Path) -> None:
    with shadow._cursor() as cursor:
        for sql in (
            f"FROM read_text('{secret}')",
            "SET enable_external_access = true",
            "INSTALL httpfs",
            "ATTACH 'x.db'",
        ):
            with pytest.raises(duckdb.Error):
                cursor.execute(sql).fetchall()
