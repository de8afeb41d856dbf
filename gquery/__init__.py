"""gquery: Cypher-like graph patterns for Python, with Arrow in and out.

import gquery
g = gquery.load("folder_or_file")
g.query("MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name, b.name").to_arrow()
"""

from typing import TYPE_CHECKING, Any, Unpack

from gquery.imports import ending_quietly, nothing_is_garbage

with ending_quietly(), nothing_is_garbage():
    from gquery.errors import (
        BindError,
        ExecutionError,
        GQueryError,
        LoadError,
        MemoryLimitError,
        ParseError,
        PlanError,
        QueryCancelled,
        QueryTimeout,
        QueryWarning,
        StoreWarning,
        UnsupportedError,
    )
    from gquery.opening import from_arrow, from_duckdb, from_networkx, load, open
    from gquery.result import Result
    from gquery.session import Graph
    from gquery.values.elements import Node, Path, Relationship, Row

if TYPE_CHECKING:
    from gquery.motif.discovery import Edges
    from gquery.motif.found import Motifs
    from gquery.motif.question import Options
    from gquery.store import Store

__version__ = "0.1.0"

__all__ = [
    "BindError",
    "ExecutionError",
    "GQueryError",
    "Graph",
    "LoadError",
    "MemoryLimitError",
    "Node",
    "ParseError",
    "Path",
    "PlanError",
    "QueryCancelled",
    "QueryTimeout",
    "QueryWarning",
    "Relationship",
    "Result",
    "Row",
    "Store",
    "StoreWarning",
    "UnsupportedError",
    "attach",
    "connect",
    "from_arrow",
    "from_duckdb",
    "from_networkx",
    "load",
    "motifs",
    "open",
]


def __getattr__(name: str) -> Any:
    """`Store`, which most programs do without: it brings what follows the changes of a graph along."""
    if name != "Store":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with nothing_is_garbage():
        from gquery.store import Store
    globals()[name] = Store
    return Store


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def connect(database: str = ":memory:", **options: Any) -> Any:
    """A DuckDB connection on which `SELECT ... FROM gquery('name', 'MATCH ...')` works for attached graphs."""
    from gquery.integrations.duckdb import connect

    return connect(database, **options)


def attach(connection: Any, graph: Graph, name: str) -> None:
    """Makes a graph known to a DuckDB connection under a name; what works then is in docs/duckdb.md."""
    from gquery.integrations.duckdb import attach

    attach(connection, graph, name)


def motifs(graph: "Graph | Edges", k: int, **options: Unpack["Options"]) -> "Motifs":
    """Which connected patterns of `k` vertices a graph, or a table of edges, has more often than chance would have it:
    docs/motifs.md."""
    from gquery.motif.discovery import motifs

    return motifs(graph, k, **options)
