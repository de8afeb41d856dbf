"""Values as the TCK writes them: in result tables, in parameters and in the CREATE statements of its set-ups."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from gquery.planner.ir.types.common_type import TIME
from gquery.values.durations import duration_of, parse_duration
from gquery.values.moments import Family, moment_of, offset_text, parse_moment


class UnreadableError(Exception):
    """The text says more than this reader knows."""


@dataclass(frozen=True)
class Node:
    """`name` is the variable of a CREATE pattern; `properties` None means that no map is written."""

    name: str | None
    labels: tuple[str, ...]
    properties: dict[str, object] | None


@dataclass(frozen=True)
class Relationship:
    name: str | None
    types: tuple[str, ...]
    properties: dict[str, object] | None


@dataclass(frozen=True)
class Path:
    """`forward[i]`: whether relationship i is written left to right. `start <(a)-[r]->(b)>` has one more node."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    forward: tuple[bool, ...]


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+|0x[0-9a-fA-F]+|\d+)"
    r"|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<name>\w+|`[^`]*`)|(?P<mark>\S))"
)
_WORDS: dict[str, object] = {"null": None, "true": True, "false": False, "NaN": float("nan"), "Inf": float("inf")}
_TIMES = {"date", "localtime", "time", "localdatetime", "datetime", "duration"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Reader:
    """A recursive descent over the tokens of one text."""

    def __init__(self, text: str, variables: dict[str, object] | None = None) -> None:
        """`variables`: names that stand for nodes or values, such as those of UNWIND."""
        self.variables = {} if variables is None else variables
        self.tokens: list[tuple[str, str]] = []
        text = re.sub(r"('(?:[^'\\]|\\.)*')|//.*", r"\1", text)  # comments, but not inside a string
        end = len(text.rstrip())
        position = 0
        while position < end:
            match = _TOKEN.match(text, position)
            assert match is not None
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind]))
            position = match.end()
        self.position = 0

    def done(self) -> bool:
        return self.position == len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        place = self.position + ahead
        return self.tokens[place][1] if place < len(self.tokens) else ""

    def take(self, mark: str) -> bool:
        """Goes past the token if it is `mark` (words in any case)."""
        found = self.peek().lower() == mark.lower() and not self.done()
        self.position += found
        return found

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise UnreadableError(f"`{mark}` expected at `{self.peek()}`")

    def value(self) -> object:
        """One that is written, perhaps texts joined by `+`."""
        value = self._single()
        while isinstance(value, str) and self.take("+"):
            value += str(self._single())
        return value

    def _single(self) -> object:
        kind, text = self.tokens[self.position] if not self.done() else ("", "")
        if text == "(":
            raise UnreadableError("a bracketed expression")
        if text == "[":
            return self.relationship() if self.peek(1) == ":" else self._list()
        if text == "{":
            return self.map()
        self.position += 1
        if text in "+-" and text:
            return self._negated() if text == "-" else self._single()
        if kind == "string":
            return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1], flags=re.DOTALL)
        if kind == "number":
            return int(text, 0) if re.fullmatch(r"0x\w+|\d+", text) else float(text)
        if text in _WORDS:
            return _WORDS[text]
        if text in _TIMES and self.peek() == "(":
            return self._time(text)
        if text in self.variables:
            held = self.variables[text]
            return (held.properties or {}).get(self._name()) if isinstance(held, Node) and self.take(".") else held
        raise UnreadableError(f"a value expected at `{text}`")

    def _time(self, family: str) -> object:
        """`date({...})` and the like, as Arrow takes them."""
        self.expect("(")
        given = self.value()
        self.expect(")")
        if family == "duration":
            made = duration_of(given) if isinstance(given, dict) else parse_duration(str(given))
            return pa.scalar(pa.MonthDayNano([made.months, made.days, made.nanoseconds]))
        kind: Family = family  # type: ignore[assignment]
        moment = moment_of(given, kind) if isinstance(given, dict) else parse_moment(str(given), kind)
        zone = None if moment.offset is None else moment.zone or offset_text(moment.offset).replace("Z", "UTC")
        match kind:
            case "date":
                return pa.scalar(moment.date, pa.int32()).cast(pa.date32())
            case "localtime":
                return pa.scalar(moment.time, pa.int64()).cast(pa.time64("ns"))
            case "time":
                parts = {"time": pa.scalar(moment.time, pa.time64("ns")), "offset_seconds": moment.offset}
                return pa.scalar(parts, TIME.arrow)
        if not -(2**63) <= moment.instant < 2**63:
            raise UnreadableError("a stored point in time beyond the years of nanoseconds")
        return pa.scalar(moment.instant, pa.timestamp("ns", zone))

    def cell(self) -> object:
        """A value, a node, a relationship or a path, to the end of the text."""
        result = self.node() if self.peek() == "(" else self._path_cell() if self.peek() == "<" else self.value()
        if not self.done():
            raise UnreadableError(f"`{self.peek()}` after a value")
        return result

    def node(self) -> Node:
        self.expect("(")
        name = self._optional_name()
        labels = []
        while self.take(":"):
            labels.append(self._name())
        properties = self.map() if self.peek() == "{" else None
        self.expect(")")
        return Node(name, tuple(labels), properties)

    def relationship(self) -> Relationship:
        self.expect("[")
        name = self._optional_name()
        types = [self._name()] if self.take(":") else []
        properties = self.map() if self.peek() == "{" else None
        self.expect("]")
        return Relationship(name, tuple(types), properties)

    def pattern(self) -> Path:
        """`(a)-[:T]->(b)<-[:U]-(c)`."""
        nodes, relationships, forward = [self.node()], [], []
        while self.peek() in ("-", "<"):
            backward = self.take("<")
            self.expect("-")
            relationships.append(self.relationship())
            self.expect("-")
            forward.append(self.take(">"))
            if forward[-1] == backward:
                raise UnreadableError("a relationship without one direction")
            nodes.append(self.node())
        return Path(tuple(nodes), tuple(relationships), tuple(forward))

    def map(self) -> dict[str, object]:
        self.expect("{")
        entries: dict[str, object] = {}
        while not self.take("}"):
            key = self._name()
            self.expect(":")
            entries[key] = self._item()
            if not self.take(",") and self.peek() != "}":
                raise UnreadableError(f"`,` expected at `{self.peek()}`")
        return entries

    def _list(self) -> list[object]:
        self.expect("[")
        items = []
        while not self.take("]"):
            items.append(self._item())
            if not self.take(",") and self.peek() != "]":
                raise UnreadableError(f"`,` expected at `{self.peek()}`")
        return items

    def _item(self) -> object:
        return self.node() if self.peek() == "(" else self._path_cell() if self.peek() == "<" else self.value()

    def _path_cell(self) -> Path:
        self.expect("<")
        path = self.pattern()
        self.expect(">")
        return path

    def _negated(self) -> object:
        value = self._single()
        if not isinstance(value, int | float):
            raise UnreadableError("a negated value that is no number")
        return -value

    def _optional_name(self) -> str | None:
        return None if self.peek() in (":", "{", ")", "]") else self._name()

    def _name(self) -> str:
        kind, text = self.tokens[self.position] if not self.done() else ("", "")
        if kind not in ("name", "number") or (kind == "number" and not text.isdigit()):
            raise UnreadableError(f"a name expected at `{text}`")
        self.position += 1
        return text.strip("`")
