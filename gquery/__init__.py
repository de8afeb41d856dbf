"""gquery: Cypher-like graph patterns for Python, with Arrow in and out.

import gquery
g = gquery.load("folder_or_file")
g.query("MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name, b.name").to_arrow()
"""

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
    UnsupportedError,
)
from gquery.session import Graph

__version__ = "0.1.0"
