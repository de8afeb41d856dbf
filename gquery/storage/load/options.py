"""What a caller of a loading call can choose, checked once."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypedDict

from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.text.dialect import Format
from gquery.storage.load.text.header import TYPES

Progress = Callable[[str, float], None]


class LoadOptions(TypedDict, total=False):
    """Options of every loading call."""

    super_labels: Mapping[str, Iterable[str]] | None
    undirected: bool
    on_bad_row: Literal["error", "skip"]
    on_dangling: Literal["error", "skip", "create"]
    progress: Progress | None
    timeout: float | None


class FileOptions(LoadOptions, total=False):
    """Options of `load`."""

    mapping: str | os.PathLike[str] | Mapping[str, Any] | None
    delimiter: str | None
    quote: str
    array_delimiter: str
    header: bool | None
    null: str | Iterable[str]
    encoding: str | None
    types: Mapping[str, str] | None


class TableOptions(LoadOptions, total=False):
    """Options of `from_arrow` and `from_duckdb`."""

    id: Mapping[Any, str] | None
    ends: Mapping[Any, tuple[str, str]] | None


class NetworkxOptions(TypedDict, total=False):
    """Options of `from_networkx`."""

    super_labels: Mapping[str, Iterable[str]] | None
    undirected: bool
    progress: Progress | None
    timeout: float | None


@dataclass(frozen=True, slots=True)
class Options:
    """`delimiter` and `header` None: told by the file. `quote` is one character, or "" when quotes mean nothing.

    `null`: words that stand for a missing value. `types`: declared types by column, such as {"balance": "float"}.
    """

    super_labels: Mapping[str, Iterable[str]] = field(default_factory=dict)
    undirected: bool = False
    delimiter: str | None = None
    quote: str = '"'
    array_delimiter: str = ";"
    header: bool | None = None
    null: tuple[str, ...] = ()
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    on_bad_row: str = "error"
    on_dangling: str = "error"
    progress: Progress | None = None
    timeout: float | None = None

    def format(self, header: bool | None = None) -> Format:
        """What is known about text files."""
        chosen = self.header if header is None else header
        return Format(self.delimiter, self.quote, chosen, None, self.null, self.encoding)

    def __post_init__(self) -> None:
        for switch in ("undirected", "header"):
            _check_kind(switch, getattr(self, switch), bool, None if switch == "header" else False)
        _check_choice("on_bad_row", self.on_bad_row, ("error", "skip"))
        _check_choice("on_dangling", self.on_dangling, ("error", "skip", "create"))
        check_character("delimiter", self.delimiter)
        check_character("array_delimiter", self.array_delimiter)
        if not (isinstance(self.quote, str) and self.quote == ""):
            check_character("quote", self.quote)
        check_encoding(self.encoding)
        _check_words(self.null)
        _check_labels(self.super_labels)
        _check_types(self.types)
        if self.progress is not None and not callable(self.progress):
            raise LoadError(f"option `progress` is {self.progress!r}, which cannot be called")
        if self.timeout is not None and not (_is_number(self.timeout) and self.timeout > 0):
            raise LoadError(f"option `timeout` is {self.timeout!r}, not a number of seconds")


def read_options(given: Mapping[str, Any], allowed: type) -> Options:
    """The options of a call that takes those of the TypedDict `allowed`; None stands for the default.

    Raises LoadError for an option that does not exist and for a value that does not fit.
    """
    known = list(allowed.__annotations__)
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"known are {', '.join(known)}"
            raise LoadError(f"there is no option `{name}`", hint=hint)
    mine = {option.name for option in fields(Options)}
    chosen = {name: value for name, value in given.items() if name in mine and value is not None}
    if isinstance(chosen.get("super_labels"), Mapping):  # an iterator can be read once only
        chosen["super_labels"] = {label: _listed(members) for label, members in chosen["super_labels"].items()}
    if "null" in chosen:
        words = chosen["null"]
        chosen["null"] = (words,) if isinstance(words, str) or not isinstance(words, Iterable) else tuple(words)
    return Options(**chosen)


def _listed(members: Any) -> Any:
    return tuple(members) if isinstance(members, Iterable) and not isinstance(members, str) else members


def check_character(option: str, value: object) -> None:
    """Raises LoadError unless `value` is None or one ASCII character that can separate or quote fields."""
    if value is None:
        return
    if not (isinstance(value, str) and len(value) == 1 and value.isascii()) or value in "\n\r\0":
        raise LoadError(f"option `{option}` is {value!r}, not one ASCII character", hint="write for example ',' or '|'")


def check_encoding(encoding: object) -> None:
    """Raises LoadError unless `encoding` is None or the name of an encoding of text that Python knows."""
    if encoding is None:
        return
    try:
        "".encode(str(encoding))  # refuses codecs that are no text encodings
        codecs.getincrementaldecoder(str(encoding))
    except (LookupError, ValueError):
        known = ("utf-8", "utf-16", "latin-1", "cp1252", "ascii", "gb18030", "shift_jis")
        hint = did_you_mean(str(encoding), known) or f"such as {', '.join(known)}"
        raise LoadError(f"option `encoding` is {encoding!r}, which is no text encoding", hint=hint) from None


def _check_choice(option: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise LoadError(
            f"option `{option}` is {value!r}, which is none of {', '.join(choices)}",
            hint=did_you_mean(str(value), choices),
        )


def _check_kind(option: str, value: object, kind: type, default: object) -> None:
    if value is not default and not isinstance(value, kind):
        raise LoadError(f"option `{option}` is {value!r}, neither True nor False")


def _check_words(words: tuple[object, ...]) -> None:
    for word in words:
        if not (isinstance(word, str) and word and word.isprintable()):
            hint = 'write for example null=["NA", "n/a"]'
            raise LoadError(f"option `null` has {word!r}, which is no word", hint=hint)


def _check_labels(labels: object) -> None:
    hint = 'write for example super_labels={"Message": ["Post", "Comment"]}'
    if not isinstance(labels, Mapping):
        raise LoadError(f"option `super_labels` is {labels!r}, not a mapping", hint=hint)
    for label, members in labels.items():
        names = [members] if isinstance(members, str) else members
        if not (isinstance(label, str) and label and isinstance(names, Iterable)):
            raise LoadError(f"super label {label!r} cannot stand for {members!r}", hint=hint)
        if not all(isinstance(name, str) for name in names):
            raise LoadError(f"super label `{label}` stands for names that are no text", hint=hint)


def _check_types(types: object) -> None:
    hint = 'write for example types={"balance": "float"}'
    if not isinstance(types, Mapping):
        raise LoadError(f"option `types` is {types!r}, not a mapping of columns to types", hint=hint)
    for column, kind in types.items():
        if not isinstance(column, str) or not isinstance(kind, str):
            raise LoadError(f"option `types` has {column!r}: {kind!r}, which are not two texts", hint=hint)
        if kind.lower().removesuffix("[]") not in TYPES:
            hint = did_you_mean(kind, TYPES) or f"known are {', '.join(TYPES)}, and lists such as int[]"
            raise LoadError(f"option `types`: unknown type `{kind}`", column=column, hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
