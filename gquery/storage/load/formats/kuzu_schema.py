"""The statements of an exported Kùzu or Ladybug database: `schema.cypher` says what the tables are, `copy.cypher` which
file is which. What is not understood is refused by name: a table read wrongly is worse than one not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gquery.errors import LoadError

_TOKEN = re.compile(
    r"(?P<space>\s+|--[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|`(?P<quoted>[^`]*)`|(?P<word>\w+)|(?P<mark>.)",
    re.DOTALL,
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}
# Statements that define no table and hold no row.
_WITHOUT_DATA = (
    "CREATE SEQUENCE", "DROP SEQUENCE", "CREATE MACRO", "CREATE TYPE", "RETURN", "COMMENT", "INSTALL", "LOAD", "CALL",
)  # fmt: skip
_MULTIPLICITIES = ("MANY_MANY", "MANY_ONE", "ONE_MANY", "ONE_ONE")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: string, quoted (a name in backticks), word or mark."""

    kind: str
    text: str
    line: int

    @property
    def is_name(self) -> bool:
        return self.kind in ("quoted", "word")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of vertices (`key` is its primary key) or of edges (`pairs` of vertex tables). `columns`: names and
    types, a type as it is written, in capitals and without blanks."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """One COPY statement. `columns` None: all of the table. `options` by their names in small letters."""

    table: str
    file: str
    columns: tuple[str, ...] | None
    options: dict[str, str] = field(hash=False)


def read_schema(text: str, path: Path) -> list[Table]:
    """The tables that a `schema.cypher` creates. Raises LoadError for what it does not understand."""
    tables = []
    for statement in _statements(text, path):
        if statement.begins("CREATE", "NODE", "TABLE"):
            tables.append(_node_table(statement))
        elif statement.begins("CREATE", "REL", "TABLE"):
            tables.append(_rel_table(statement))
        elif not any(statement.begins(*words.split()) for words in _WITHOUT_DATA):
            raise statement.error("the statement is not understood")
    return tables


def read_copies(text: str, path: Path) -> list[Copy]:
    """The COPY statements of a `copy.cypher`. Raises LoadError for what it does not understand."""
    copies = []
    for statement in _statements(text, path):
        if not statement.begins("COPY"):
            raise statement.error("the statement is not understood")
        table = statement.name()
        columns = tuple(statement.list()) if statement.take("(") else None
        statement.expect("FROM")
        file = statement.next("string", "a file in quotes").text
        options = dict(statement.options()) if statement.take("(") else {}
        statement.end()
        copies.append(Copy(table, file, columns, options))
    return copies


def _node_table(statement: _Statement) -> Table:
    name, columns, key = statement.table_name(), [], ""
    while True:
        if statement.take("PRIMARY"):
            statement.expect("KEY", "(")
            key = statement.name()
            statement.expect(")")
        else:
            column = statement.name()
            columns.append((column, statement.type()))
            if statement.take("PRIMARY"):
                statement.expect("KEY")
                key = column
        if not statement.take(","):
            break
    statement.expect(")")
    statement.end()
    if key not in dict(columns):
        raise statement.error(f"the table `{name}` has no primary key among its columns")
    return Table(name, tuple(columns), key)


def _rel_table(statement: _Statement) -> Table:
    statement.take("GROUP")
    name, columns, pairs = statement.table_name(), [], []
    while True:
        if statement.take("FROM"):
            source = statement.name()
            statement.expect("TO")
            pairs.append((source, statement.name()))
        elif not any(statement.take(word) for word in _MULTIPLICITIES):
            column = statement.name()
            columns.append((column, statement.type()))
        if not statement.take(","):
            break
    statement.expect(")")
    statement.end()
    if not pairs:
        raise statement.error(f"the table `{name}` does not say FROM which vertices TO which")
    return Table(name, tuple(columns), pairs=tuple(pairs))


def _statements(text: str, path: Path) -> Iterator[_Statement]:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        token = Token(kind, _plain(kind, match[kind]), 1 + text.count("\n", 0, match.start()))
        if (kind, token.text) == ("mark", ";"):
            if tokens:
                yield _Statement(tokens, path)
            tokens = []
        elif kind != "space":
            tokens.append(token)
    if tokens:
        yield _Statement(tokens, path)


def _plain(kind: str, text: str) -> str:
    if kind != "string":
        return text
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), text[1:-1], flags=re.DOTALL)


class _Statement:
    """One statement, read from its first token to its last."""

    def __init__(self, tokens: Sequence[Token], path: Path) -> None:
        self._tokens, self._path, self._at = tokens, path, 0

    def begins(self, *words: str) -> bool:
        """Whether these words come next; they are taken then."""
        following = self._tokens[self._at : self._at + len(words)]
        same = [token.text.upper() for token in following if token.kind == "word"] == list(words)
        self._at += len(words) if same else 0
        return same

    def take(self, text: str) -> bool:
        """Whether this word or mark comes next; it is taken then."""
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        same = token is not None and token.kind in ("word", "mark") and token.text.upper() == text
        self._at += same
        return same

    def expect(self, *texts: str) -> None:
        for text in texts:
            if not self.take(text):
                raise self.error(f"`{text}` should stand here")

    def next(self, kind: str, what: str) -> Token:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == kind:
            self._at += 1
            return self._tokens[self._at - 1]
        raise self.error(f"{what} should stand here")

    def name(self) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at].is_name:
            self._at += 1
            return self._tokens[self._at - 1].text
        raise self.error("a name should stand here")

    def table_name(self) -> str:
        if self.take("IF"):
            self.expect("NOT", "EXISTS")
        name = self.name()
        self.expect("(")
        return name

    def list(self) -> Iterator[str]:
        """Names up to the closing bracket."""
        while not self.take(")"):
            yield self.name()
            self.take(",")

    def type(self) -> str:
        """A type, as far as the next comma or bracket that is not its own; a default is passed over."""
        words, depth = [], 0
        default = False
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if depth == 0 and (token.text in (",", ")") or token.text.upper() == "PRIMARY"):
                break
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "mark" else 0
            default |= token.text.upper() == "DEFAULT"
            if not default:
                words.append(token.text.upper())
            self._at += 1
        if not words:
            raise self.error("a type should stand here")
        return "".join(words)

    def options(self) -> Iterator[tuple[str, str]]:
        """`name=value` up to the closing bracket. Kùzu 0.11 writes `delim=delim='|'`."""
        while not self.take(")"):
            name = self.name()
            self.expect("=")
            if self.take(name.upper()):
                self.expect("=")
            if self._at == len(self._tokens) or self._tokens[self._at].kind == "mark":
                raise self.error(f"the option `{name}` has no value that is understood")
            yield name.lower(), self._tokens[self._at].text
            self._at += 1
            self.take(",")

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise self.error("the statement should end here")

    def error(self, message: str) -> LoadError:
        token = self._tokens[min(self._at, len(self._tokens) - 1)]
        value = " ".join(token.text for token in self._tokens)
        return LoadError(message, file=str(self._path), line=token.line, value=value)
