"""Labels and types from file names, and the words by which plain headers name the ends of an edge."""

from __future__ import annotations

import re
from collections.abc import Sequence

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

# Pairs of words that begin or end the names of two columns which agree in the rest: `from_account`, `to_account`.
_SIDES = (("from", "to"), ("source", "target"), ("source", "destination"), ("src", "dst"), ("src", "dest"),
          ("src", "target"), ("origin", "destination"), ("orig", "dest"), ("start", "end"))  # fmt: skip
# What a thing has two of that is no edge: an event has a start_date and an end_date.
_SPANS = frozenset(
    (
        "date", "time", "datetime", "day", "week", "month", "year", "hour", "minute", "second", "ts", "timestamp", "at",
        "on", "position", "pos", "line", "column", "col", "page", "offset", "index", "price", "value", "amount",
        "balance", "age", "lat", "lon", "lng", "latitude", "longitude", "size", "length", "version", "valid",
        "effective",
    )
)  # fmt: skip
_COUNTED = ("column", "col", "field", "value", "var", "feature", "dim", "line", "address")  # no things that edges join
_PLACES = _SPANS | {"x", "y", "z"}  # a line has a start_x and an end_x
# Pairs of columns, side by side, each of which can hardly be a property alone.
_ROLES = (
    ("payer", "payee"), ("sender", "receiver"), ("sender", "recipient"), ("caller", "callee"), ("follower", "followee"),
    ("follower", "followed"), ("citing", "cited"), ("parent", "child"), ("head", "tail"), ("subject", "object"),
    ("buyer", "seller"), ("employer", "employee"), ("mentor", "mentee"), ("donor", "recipient"), ("lender", "borrower"),
    ("referrer", "referee"), ("predator", "prey"),
)  # fmt: skip

_CHUNK = re.compile(r"(_\d+_\d+|[-_.]part[-_]?\d+)$", re.IGNORECASE)
_NUMBER = re.compile(r"[-_]\d+$")
_HEADER = re.compile(r"[-_.]header$", re.IGNORECASE)
_SPARK_PART = re.compile(r"(part[-_]|chunk|\d+$)", re.IGNORECASE)
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDING = re.compile(r"(\.(csv|tsv|txt|graph|sif|parquet|arrow|feather|ipc|gz))+$", re.IGNORECASE)


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


def find_ends(columns: Sequence[str]) -> tuple[int, int] | None:
    """Positions of the two columns that a plain header names as the ends of an edge: `source` and `target`, `from_x`
    and `to_x`, or, where they are the first two, `payer` and `payee` or `gene1` and `gene2`."""
    lower = [column.strip().lower() for column in columns]
    for source, target in END_NAMES:
        if lower.count(source) == 1 and lower.count(target) == 1:
            return lower.index(source), lower.index(target)
    pairs = _sided_pairs([tuple(_words(column)) for column in columns])
    if len(pairs) > 1:
        ids = [pair for pair in pairs if all(lower[index].endswith("id") for index in pair)]
        pairs = ids if len(ids) == 1 else [pair for pair in pairs if pair == (0, 1)]
    if pairs:
        return pairs[0]
    return (0, 1) if _are_roles([_words(column) for column in columns]) else None


def role_columns(columns: Sequence[str]) -> tuple[int, int] | None:
    """Positions of two neighbouring columns anywhere that are named like the ends of an edge."""
    names = [_words(column) for column in columns]
    return next(((i, i + 1) for i in range(len(names) - 1) if _are_roles(names[i : i + 2])), None)


def _words(name: str) -> list[str]:
    """`FromNodeId` and `from_node_id` are the same three words, `gene1` and `gene_1` the same two."""
    broken = re.sub(r"(?<=[^\W\d])(?=\d)", "_", _WORD_BREAK.sub("_", name.strip()))
    return [word for word in re.split(r"[\W_]+", broken.lower()) if word]


def _sided_pairs(names: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    found = []
    for source, target in _SIDES:
        spans = _PLACES if source == "start" else _SPANS
        for first, words in enumerate(names):
            partners = []
            if len(words) > 1 and words[0] == source and words[-1] not in spans:
                partners.append((target, *words[1:]))
            if len(words) > 1 and words[-1] == source and words[0] not in spans:
                partners.append((*words[:-1], target))
            found += [(first, names.index(partner)) for partner in partners if names.count(partner) == 1]
    return found


def _are_roles(names: Sequence[list[str]]) -> bool:
    """Whether the first two names say who does what to whom (`payer_id`, `payee_id`), or are the only two of their kind
    (`gene1`, `gene2`; `protein_a`, `protein_b`)."""
    if len(names) < 2 or not all(names[:2]):
        return False
    first, second = names[:2]
    if (first[-1], second[-1]) in (("1", "2"), ("a", "b")) and first[:-1] == second[:-1]:
        alone = sum(name[:-1] == first[:-1] for name in names) == 2
        return alone and len(first[0]) > 1 and first[0] not in _COUNTED
    return first[1:] == second[1:] and (first[0], second[0]) in _ROLES


def find_id(columns: list[str]) -> int:
    """Position of the id column of a plain header: `id` or `_id`, else the first."""
    lower = [column.strip().lower() for column in columns]
    return next((lower.index(name) for name in ID_NAMES if name in lower), 0)
