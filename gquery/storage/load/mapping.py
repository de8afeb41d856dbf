"""An explicit mapping: a TOML file, or a dict of the same shape, that says which file and which columns are what.

delimiter = "|"
[vertices.Comment]
file = "Comment.csv"
id = "id"
[[edges]]
type = "HAS_CREATOR"
source = "Comment"
target = "Person"
file = "Comment.csv"
source_column = "id"
target_column = "hascreator_person"     # a foreign key: where it is empty there is no edge
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.assembly.rows import EdgeRows, RawTable, Reference, VertexRows, edge_rows, vertex_rows
from gquery.storage.load.formats.files import layout_of, read_table
from gquery.storage.load.formats.names import find_ends, find_id
from gquery.storage.load.loading import Loading, no_such_file
from gquery.storage.load.options import check_character, check_encoding
from gquery.storage.load.text.decoded import open_file
from gquery.storage.load.text.dialect import Format
from gquery.storage.load.text.header import Role

_MAX_MAPPING = 1 << 24  # bytes
_FORMAT_KEYS = {"delimiter": str, "quote": str, "header": bool, "null": list, "encoding": str}
_TABLE_KEYS = {"file": (str, list), "properties": list, "columns": list, **_FORMAT_KEYS}
_VERTEX_KEYS = {"id": str, "labels": list, **_TABLE_KEYS}
_EDGE_KEYS = {"type": str, "source": str, "target": str, "source_column": str, "target_column": str, **_TABLE_KEYS}
_TOP_KEYS = {"vertices": dict, "edges": list, "super_labels": dict, **_FORMAT_KEYS}


def read_toml(path: Path) -> dict[str, Any]:
    """A mapping file. Raises LoadError when it is missing or no TOML."""
    try:
        with open_file(path) as raw:
            return tomllib.loads(raw.read(_MAX_MAPPING).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LoadError(f"the mapping is not TOML: {error}", file=str(path)) from None


def read_mapping(
    loading: Loading, mapping: Mapping[str, Any], folder: Path, name: str
) -> tuple[list[VertexRows], list[EdgeRows]]:
    """The vertices and edges that a mapping describes. `folder`: where its files are; `name`: of the mapping.

    Raises LoadError for a key, table, column or file that does not exist.
    """
    return _Mapping(loading, mapping, folder, name).read()


@dataclass(frozen=True, slots=True)
class _Entry:
    """One table of the mapping: where it stands in it (for messages), its settings, its files and how to read them."""

    place: str
    settings: Mapping[str, Any]
    paths: tuple[Path, ...]
    format: Format

    @property
    def key(self) -> tuple[tuple[Path, ...], Format]:
        return self.paths, self.format


class _Mapping:
    def __init__(self, loading: Loading, mapping: Mapping[str, Any], folder: Path, name: str) -> None:
        self.loading, self.mapping, self.folder, self.name = loading, mapping, folder, name
        self._check("the mapping", mapping, _TOP_KEYS)
        self.vertices = {
            label: self._entry(f"vertices.{label}", settings, _VERTEX_KEYS)
            for label, settings in mapping.get("vertices", {}).items()
        }
        self.edges = [
            self._entry(f"edges[{index}]", settings, _EDGE_KEYS)
            for index, settings in enumerate(mapping.get("edges", []))
        ]
        if not self.vertices and not self.edges:
            raise self._error("the mapping has neither vertices nor edges")
        self.tables: dict[tuple[tuple[Path, ...], Format], RawTable] = {}

    def read(self) -> tuple[list[VertexRows], list[EdgeRows]]:
        entries = {entry.key: entry for entry in (*self.vertices.values(), *self.edges)}
        self.loading.expect(path for paths, _ in entries for path in paths)
        vertices = [piece for label, entry in self.vertices.items() for piece in self._read_vertices(label, entry)]
        edges = [piece for entry in self.edges for piece in self._read_edges(entry)]
        return vertices, edges

    def _read_vertices(self, name: str, entry: _Entry) -> list[VertexRows]:
        raw = self._table(entry)
        if "id" in entry.settings:
            index = self._column(entry, raw, entry.settings["id"])
        else:
            index = (raw.having("id") or [find_id([column.name for column in raw.columns])])[0]
        ends = [end for edge in self.edges if edge.key == entry.key for end in self._ends(edge, raw)]
        chosen = self._chosen(entry, raw, [i for i in range(len(raw.columns)) if i not in ends])
        labels = tuple(entry.settings.get("labels", [name]))
        return vertex_rows(self.loading, _with_roles(raw, {index: "id"}, chosen, "label"), labels, name)

    def _read_edges(self, entry: _Entry) -> list[EdgeRows]:
        raw = self._table(entry)
        foreign = any(table.key == entry.key for table in self.vertices.values())
        source, target = self._ends(entry, raw)
        chosen = self._chosen(entry, raw, [] if foreign else list(range(len(raw.columns))))
        if "type" not in entry.settings and not raw.having("type"):
            raise self._error(f"{entry.place}: `type` is missing")
        start = Reference(raw.columns[source].name, self._vertex_name(entry, "source"))
        end = Reference(raw.columns[target].name, self._vertex_name(entry, "target"))
        type = entry.settings.get("type", "")
        table = _with_roles(raw, {source: "start", target: "end"}, chosen, None if type else "type")
        return edge_rows(self.loading, table, type, start, end, absent_is_none=foreign)

    def _ends(self, entry: _Entry, raw: RawTable) -> tuple[int, int]:
        """Positions of the source and the target column: as named, as the header says, or the first two."""
        guessed = find_ends([column.name for column in raw.columns]) or (0, 1)
        found = []
        for role, key, guess in (("start", "source_column", guessed[0]), ("end", "target_column", guessed[1])):
            if key in entry.settings:
                found.append(self._column(entry, raw, entry.settings[key]))
            else:
                found.append((raw.having(cast(Role, role)) or [guess])[0])
        if found[0] == found[1] or max(found) >= len(raw.columns):
            hint = "name two columns by `source_column` and `target_column`"
            raise self._error(f"{entry.place}: source and target need a column each", hint)
        return found[0], found[1]

    def _table(self, entry: _Entry) -> RawTable:
        """The rows of an entry's files, each read once however many entries use it."""
        if entry.key not in self.tables:
            layout = layout_of(entry.paths[0], entry.format)
            for path in entry.paths[1:]:
                if layout_of(path, entry.format) != layout:
                    raise LoadError(f"the header differs from that of {entry.paths[0].name}", file=str(path), line=1)
            self.tables[entry.key] = read_table(self.loading, entry.paths, layout)
        return self.tables[entry.key]

    def _chosen(self, entry: _Entry, raw: RawTable, default: list[int]) -> set[int]:
        """Positions of the property columns."""
        names = entry.settings.get("properties")
        chosen = default if names is None else [self._column(entry, raw, name) for name in names]
        return {index for index in chosen if raw.columns[index].role != "ignore"}

    def _column(self, entry: _Entry, raw: RawTable, name: str) -> int:
        names = [column.name for column in raw.columns]
        if name not in names:
            file = str(entry.paths[0])
            hint = did_you_mean(name, names)
            raise LoadError(f"{entry.place}: the file has no column `{name}`", file=file, hint=hint)
        return names.index(name)

    def _vertex_name(self, entry: _Entry, side: str) -> str | None:
        """The vertex table or label at one end; None when the mapping has edges only."""
        if not self.vertices:
            return None
        name = entry.settings.get(side)
        if name is None:
            raise self._error(f"{entry.place}: `{side}` is missing", f"name the vertices at the {side} of these edges")
        labels = [label for table in self.vertices.values() for label in table.settings.get("labels", [])]
        known = dict.fromkeys((*self.vertices, *labels, *self.loading.options.super_labels))
        if name not in known:
            hint = did_you_mean(name, known) or f"known are {', '.join(known)}"
            raise self._error(f"{entry.place}: there are no vertices `{name}`", hint)
        return str(name)

    def _entry(self, place: str, settings: Any, keys: Mapping[str, Any]) -> _Entry:
        self._check(place, settings, keys)
        if "file" not in settings:
            raise self._error(f"{place}: `file` is missing")
        files = [settings["file"]] if isinstance(settings["file"], str) else settings["file"]
        paths = tuple(path for file in files for path in self._paths(place, file))
        if not paths:
            raise self._error(f"{place}: `file` is empty")
        options, names = self.loading.options, settings.get("columns")

        def setting(key: str, default: Any) -> Any:
            return settings.get(key, self.mapping.get(key, default))

        header = setting("header", options.header if names is None else False)
        format = Format(
            setting("delimiter", options.delimiter),
            setting("quote", options.quote),
            header,
            None if names is None else tuple(names),
            tuple(setting("null", options.null)),
            setting("encoding", options.encoding),
        )
        check_character("delimiter", format.delimiter)
        check_character("quote", format.quote or None)
        check_encoding(format.encoding)
        return _Entry(place, settings, paths, format)

    def _paths(self, place: str, file: str) -> list[Path]:
        if not file:
            raise self._error(f"{place}: `file` is empty")
        try:
            if "*" in file and not Path(file).is_absolute():
                paths = sorted(self.folder.glob(file))
            else:
                paths = [path for path in (self.folder / file,) if path.exists()]
        except (OSError, ValueError) as error:
            raise self._error(f"{place}: {file!r:.80} names no files: {error!s:.80}") from None
        if not paths:
            raise no_such_file(self.folder / file, f"{place}: there is no such file")
        return paths

    def _check(self, place: str, settings: Any, keys: Mapping[str, Any]) -> None:
        """Raises LoadError for a setting that does not exist or is of another kind."""
        if not isinstance(settings, Mapping):
            raise self._error(f"{place} is not a table of settings")
        for key, value in settings.items():
            if key not in keys:
                hint = did_you_mean(str(key), keys) or f"known are {', '.join(keys)}"
                raise self._error(f"{place}: unknown setting `{key}`", hint)
            right = isinstance(value, keys[key])
            if isinstance(value, list) and key != "edges":
                right &= all(isinstance(item, str) for item in value)
            if not right:
                raise self._error(f"{place}: `{key}` cannot be {value!r}")

    def _error(self, message: str, hint: str | None = None) -> LoadError:
        return LoadError(message, file=self.name or None, hint=hint)


def _with_roles(raw: RawTable, special: Mapping[int, Role], chosen: set[int], kept: Role | None) -> RawTable:
    """The table with these roles; columns of the role `kept` stay, chosen ones are properties, others are ignored."""
    columns = []
    for index, column in enumerate(raw.columns):
        if index in special:
            columns.append(column.as_role(special[index]))
        elif column.role == kept:
            columns.append(column)
        else:
            columns.append(column.as_role("property" if index in chosen else "ignore"))
    return replace(raw, columns=tuple(columns))
