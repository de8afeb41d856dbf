"""One process that is given texts, one after the other, and says what became of each."""

from __future__ import annotations

import warnings
from contextlib import suppress
from datetime import date
from decimal import Decimal
from multiprocessing.connection import Connection

import pyarrow as pa

import gquery
from tests.fuzz.texts import TABLES, Text, text_at
from tests.soak.tables import to_gquery

TIMEOUT = 1.0  # seconds


def serve(pipe: Connection) -> None:
    """Reads texts until there is None; answers each with an empty text, or with what is wrong."""
    graphs = {False: small_graph(), True: to_gquery(TABLES)}
    warnings.simplefilter("ignore", UserWarning)  # of comparisons that can never be true
    _warm(graphs[True])
    pipe.send("ready")
    while (text := pipe.recv()) is not None:
        pipe.send(problem(graphs[text.tabled], text))


def _warm(graph: gquery.Graph) -> None:
    """Kernels are compiled when they are first used, which may take longer than a text is given."""
    for text in filter(lambda each: each.tabled, (text_at(0, number) for number in range(60))):
        with suppress(Exception):
            graph.query(text.text, text.parameters).to_arrow()


def problem(graph: gquery.Graph, text: Text) -> str:
    """What is wrong with the answer to a text: an exception that is not ours, or an error that cannot be shown."""
    try:
        result = graph.query(text.text, text.parameters, timeout=TIMEOUT, memory_limit="100MB")
        result.to_arrow()
        list(result.rows())
    except gquery.GQueryError as error:
        return _unreadable(error)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def _unreadable(error: gquery.GQueryError) -> str:
    try:
        str(error).encode()
    except Exception as problem:
        return f"the message of a {type(error).__name__} cannot be shown: {problem}"
    return ""


def small_graph() -> gquery.Graph:
    """Two tables with the names that the TCK's queries use most, several types, nulls, a loop, parallel edges."""
    first = {
        "id": [1, 2, 3],
        "name": ["a", "ab", None],
        "num": [1, None, 2**63 - 1],
        "list": pa.array([[1, None], [], None], pa.list_(pa.int64())),
        "born": [date(2024, 2, 29), None, date(1969, 12, 31)],
        "age": [0.5, float("nan"), None],
        "x": [Decimal("0.57"), None, Decimal("10.50")],
    }
    second = {"id": ["1", "y"], "name": ["b", "B"], "num": [-1, 0], "x": ["text", None], "bool": [True, None]}
    loop = {"source": [1, 1, 1, 3], "target": [2, 2, 1, 2], "num": [1, 2, 3, None], "name": ["r", None, "s", "t"]}
    over = {"source": [1, 2], "target": ["1", "y"], "num": [1.5, 2.5], "since": [2010, 2020]}
    edges = {(("A", "Person"), type, ("A", "Person")): loop for type in ("R", "KNOWS", "T")}
    edges |= {(("A", "Person"), type, ("B",)): over for type in ("T", "REL", "LIKES")}
    return gquery.from_arrow(vertices={("A", "Person"): first, ("B",): second}, edges=edges)
