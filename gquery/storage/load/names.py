"""Labels and types from file names, and the words by which plain headers name the ends of an edge."""

from __future__ import annotations

import re

DEFAULT_TYPE = "EDGE"

END_NAMES = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("start", "end"),
    ("source_id", "target_id"),
    ("src_id", "dst_id"),
    ("from_id", "to_id"),
    ("start_id", "end_id"),
    ("id_1", "id_2"),
    ("id1", "id2"),
    ("node_1", "node_2"),
    ("node1", "node2"),
    ("u", "v"),
)
ID_NAMES = ("id", "_id")

_CHUNK = re.compile(r"(_\d+_\d+|[-_.]part[-_]?\d+)$", re.IGNORECASE)
_NUMBER = re.compile(r"[-_]\d+$")
_HEADER = re.compile(r"[-_.]header$", re.IGNORECASE)
_SPARK_PART = re.compile(r"(part[-_]|chunk|\d+$)", re.IGNORECASE)
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDING = re.compile(r"(\.(csv|tsv|txt|graph|parquet|arrow|feather|ipc|gz))+$", re.IGNORECASE)


def stem(file_name: str) -> str:
    """A file name without the endings that tell its format."""
    return _ENDING.sub("", file_name)


def is_header_file(file_stem: str) -> bool:
    return _HEADER.search(file_stem) is not None


def table_name(file_stem: str, folder: str, headers: set[str]) -> str:
    """The table that a file is a part of: `Person-header`, `Person-part2`, `Person_0_0` and `Person/part-00000` are
    all of `Person`. A single number at the end counts as one of a part only when `headers` knows the table."""
    if _HEADER.search(file_stem):
        return _HEADER.sub("", file_stem)
    if _SPARK_PART.match(file_stem) and folder:
        return folder
    numbered = _NUMBER.sub("", file_stem)
    return numbered if numbered in headers else _CHUNK.sub("", file_stem)


def label_name(name: str) -> str:
    """A label as Cypher writes it: `person` gives `Person`; the rest stays."""
    return name[:1].upper() + name[1:]


def type_name(name: str) -> str:
    """An edge type as Cypher writes it: `isLocatedIn` gives `IS_LOCATED_IN`."""
    return re.sub(r"[-\s]+", "_", _WORD_BREAK.sub("_", name)).upper()


def edge_parts(name: str) -> tuple[str, str, str] | None:
    """Source, type and target of a table named like `Person_isLocatedIn_City`; None for any other name."""
    parts = name.split("_")
    if len(parts) < 3 or not all(parts):
        return None
    return parts[0], "_".join(parts[1:-1]), parts[-1]


def find_ends(columns: list[str]) -> tuple[int, int] | None:
    """Positions of the two columns that a plain header names as the ends of an edge."""
    lower = [column.strip().lower() for column in columns]
    for source, target in END_NAMES:
        if lower.count(source) == 1 and lower.count(target) == 1:
            return lower.index(source), lower.index(target)
    return None


def find_id(columns: list[str]) -> int:
    """Position of the id column of a plain header: `id` or `_id`, else the first."""
    lower = [column.strip().lower() for column in columns]
    return next((lower.index(name) for name in ID_NAMES if name in lower), 0)
