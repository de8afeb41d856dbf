"""Files of formats that gquery does not read, told by their beginnings too: some would pass for an edge list."""

from __future__ import annotations

from pathlib import Path

from gquery.errors import LoadError
from gquery.storage.load.text.decoded import open_bytes

_NETWORKX = "networkx reads it: gquery.from_networkx(networkx.{}(path))"
_DUCKDB = "DuckDB reads it: gquery.from_duckdb(connection, ...) takes tables and queries"

_ENDINGS = {
    ".graphml": ("GraphML", _NETWORKX.format("read_graphml")),
    ".gml": ("GML", _NETWORKX.format("read_gml")),
    ".gexf": ("GEXF", _NETWORKX.format("read_gexf")),
    ".net": ("Pajek", _NETWORKX.format("read_pajek")),
    ".dot": ("DOT", _NETWORKX.format("nx_pydot.read_dot")),
    ".json": ("JSON", _DUCKDB),
    ".jsonl": ("JSON", _DUCKDB),
    ".ndjson": ("JSON", _DUCKDB),
    ".xlsx": ("Excel", "save it as CSV, or give data frames to gquery.from_arrow"),
    ".xls": ("Excel", "save it as CSV, or give data frames to gquery.from_arrow"),
    ".db": ("database", _DUCKDB),
    ".sqlite": ("database", _DUCKDB),
    ".duckdb": ("database", _DUCKDB),
    ".mtx": ("Matrix Market", "leave out its line of sizes to load it as an edge list"),
}
_BEGINNINGS = {
    b"%%MatrixMarket": _ENDINGS[".mtx"],
    b"<?xml": ("XML", _ENDINGS[".graphml"][1]),
    b"<graphml": _ENDINGS[".graphml"],
    b"{": _ENDINGS[".json"],
    b"[{": _ENDINGS[".json"],
    b"PK\3\4": ("zip or Excel", "unpack it, or save it as CSV"),
    b"BZh": ("bzip2", "unpack it, or pack it by gzip"),
    b"\xfd7zXZ": ("xz", "unpack it, or pack it by gzip"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it, or pack it by gzip"),
    b"%PDF": ("PDF", None),
    b"SQLite format": _ENDINGS[".sqlite"],
    b"*Vertices": _ENDINGS[".net"],
    b"*vertices": _ENDINGS[".net"],
}
_UNREAD = (*_ENDINGS, ".txt", ".graph", ".sif", ".edges", ".dat")


def refuse_other_formats(path: Path, ending: str) -> None:
    """Raises LoadError for a text file that is of another format."""
    with open_bytes(path) as (stream, _):
        start = stream.read(64).lstrip()
    found = _ENDINGS.get(ending) or next((known for mark, known in _BEGINNINGS.items() if start.startswith(mark)), None)
    if found is not None:
        raise LoadError(f"gquery does not read {found[0]} files", file=str(path), hint=found[1])


def looks_like_data(path: Path, ending: str) -> bool:
    """Whether a file that a folder load leaves out may hold what its user wants."""
    return ending in _UNREAD and not path.name.lower().startswith(("readme", "license", "changelog", "notes"))
