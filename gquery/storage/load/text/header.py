"""Header rows: plain names, or names with the roles and types of neo4j-admin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.formats.names import find_ends

Role = Literal["property", "id", "start", "end", "type", "label", "ignore"]

ROLES: dict[str, Role] = {
    "ID": "id",
    "START_ID": "start",
    "END_ID": "end",
    "TYPE": "type",
    "LABEL": "label",
    "IGNORE": "ignore",
}
TYPES: dict[str, pa.DataType] = {
    "int": pa.int64(), "long": pa.int64(), "short": pa.int64(), "byte": pa.int64(), "integer": pa.int64(),
    "float": pa.float64(), "double": pa.float64(), "boolean": pa.bool_(), "bool": pa.bool_(),
    "string": pa.string(), "char": pa.string(), "point": pa.string(), "duration": pa.string(),
    "date": pa.date32(), "datetime": pa.timestamp("us", "UTC"), "localdatetime": pa.timestamp("us"),
    "time": pa.time64("us"), "localtime": pa.time64("us"),
}  # fmt: skip

MAX_COLUMNS = 10_000
_FIELD = re.compile(r"(?P<name>.*?):(?P<kind>\w+)(?P<list>\[\])?(\((?P<space>[^()]*)\))?(\{[^{}]*\})?")
_MARK = re.compile(rf":({'|'.join((*ROLES, *TYPES))})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. `type` is what the header declares (None: to be inferred); of the items if `is_list`.

    `space` is the id space of an id or end column, None when the header names none.
    """

    name: str
    role: Role = "property"
    type: pa.DataType | None = None
    is_list: bool = False
    space: str | None = None

    def as_role(self, role: Role) -> Column:
        return replace(self, role=role)


def parse_header(fields: Iterable[str], file: str, line: int = 1) -> tuple[Column, ...]:
    """Columns from header fields. A field without a name (as a data frame's index has) is ignored.

    Raises LoadError for an unknown type or role, a mark that is cut off, a name given twice, or roles that do not go
    together.
    """
    texts = [field.strip() for field in fields]
    check_width(len(texts), file, line)
    matches = [_FIELD.fullmatch(text) for text in texts]
    marked = any(match and match["kind"].upper() in ROLES for match in matches)
    columns = []
    for text, match in zip(texts, matches, strict=True):
        _check_closed(text, file, line)
        if match is None or not (marked or match["kind"].lower() in TYPES):
            columns.append(Column(text, "property" if text else "ignore"))
        else:
            columns.append(_marked_column(match, file, line, text))
    _check(columns, file, line)
    return tuple(columns)


def _check_closed(text: str, file: str, line: int) -> None:
    """Raises LoadError for a mark of which a bracket is open: without the mark another kind of table would be read."""
    opened, closed = (max(map(text.rfind, brackets)) for brackets in ("([{", ")]}"))
    if opened > closed and _MARK.search(text, 0, opened):
        hint = "write for example `id:ID(Person)` or `tags:string[]`"
        raise LoadError(f"`{text[opened]}` is not closed in the header", file=file, line=line, value=text, hint=hint)


def _marked_column(match: re.Match[str], file: str, line: int, text: str) -> Column:
    name, kind, space = match["name"], match["kind"], match["space"] or None
    role = ROLES.get(kind.upper())
    if role is not None:
        return Column(name, role, space=space)
    if kind.lower() not in TYPES:
        known = [*(f":{role}" for role in ROLES), *TYPES]
        hint = did_you_mean(kind, TYPES) or did_you_mean(f":{kind}", ROLES) or f"known are {', '.join(known)}"
        reason = f"unknown column type `{kind}`"
        raise LoadError(reason, file=file, line=line, column=name or None, value=text, hint=hint)
    return Column(name, "property" if name else "ignore", TYPES[kind.lower()], match["list"] is not None)


def _check(columns: list[Column], file: str, line: int) -> None:
    roles = [column.role for column in columns]
    for name, role in ROLES.items():
        if role not in ("label", "ignore") and roles.count(role) > 1:
            raise LoadError(f"the header has :{name} more than once", file=file, line=line)
    if ("start" in roles) != ("end" in roles):
        raise LoadError("the header has only one of :START_ID and :END_ID", file=file, line=line)


def with_ends(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The two columns that plain names tell to be ends, else the first two, become ends."""
    source, target = find_ends([column.name for column in columns]) or (0, 1)
    roles: dict[int, Role] = {source: "start", target: "end"}
    return tuple(column.as_role(roles[i]) if i in roles else column for i, column in enumerate(columns))


def check_width(count: int, file: str, line: int | None = 1) -> None:
    """Raises LoadError for a table of more columns than can be worked on one by one."""
    if count > MAX_COLUMNS:
        reason = f"the table has {count:,} columns, {MAX_COLUMNS:,} are the most that gquery takes"
        raise LoadError(reason, file=file, line=line, hint="put what is numbered into rows, or into lists")


def check_names(names: Iterable[str], file: str, line: int | None = 1) -> None:
    """Raises LoadError when two properties of a table have one name, or one has a name that no text can have."""
    seen: set[str] = set()
    for name in names:
        check_text(name, "property", file)
        if name in seen:
            raise LoadError("two columns have the same name", file=file, line=line, column=name)
        seen.add(name)


def check_text(name: object, what: str, file: str | None = None) -> None:
    """Raises LoadError for a name that Python takes and neither Arrow nor a file does, or no query can have."""
    if not isinstance(name, str):
        raise LoadError(f"the name of a {what} is {name!r}, not a text", file=file)
    if "\0" in name:
        raise LoadError(f"the name of a {what} has a NUL byte", file=file, value=name)
    try:
        name.encode()
    except UnicodeEncodeError:
        reason = f"the name of a {what} is no valid text: it has half of a surrogate pair"
        raise LoadError(reason, file=file, value=name) from None
