"""Completion at the prompt: what fits the place, taken from the language, the graph and the text itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from gquery.grammar.literals import is_plain_name, quote_name
from gquery.terminal.pattern_context import Context, Place, context_of
from gquery.terminal.syntax import keywords

if TYPE_CHECKING:
    from gquery.storage.schema import Schema


@dataclass(frozen=True, slots=True)
class Words:
    """What can be completed now: the graph's schema (None when there is no graph) and the names of the parameters."""

    schema: Schema | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Text to insert in place of what is typed of it; `shown` in the menu with `kind` beside it."""

    text: str
    kind: str
    shown: str = ""


class QueryCompleter(Completer):
    """Completes queries; a line that begins with `:` goes to the completers of the colon-commands."""

    def __init__(self, words: Callable[[], Words], commands: Mapping[str, Completer | None]) -> None:
        self._words = words
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.lstrip().startswith(":"):
            yield from self._command_completions(before.lstrip(), complete_event)
            return
        context = context_of(before, document.text)
        if context.place is Place.NOWHERE:
            return
        if context.place is Place.EXPRESSION and not (context.typed or complete_event.completion_requested):
            return  # a menu of everything after every blank is in the way
        for suggestion in suggestions(context, self._words()):
            yield Completion(
                suggestion.text, -len(context.typed), display=suggestion.shown or suggestion.text,
                display_meta=suggestion.kind,
            )  # fmt: skip

    def _command_completions(self, text: str, event: CompleteEvent) -> Iterator[Completion]:
        name, space, argument = text.partition(" ")
        if not space:
            yield from (Completion(known, -len(name)) for known in self._commands if known.startswith(name))
        elif completer := self._commands.get(name):
            yield from completer.get_completions(Document(argument.lstrip()), event)


def suggestions(context: Context, words: Words) -> list[Suggestion]:
    """What may stand at a place, cut to what begins as the typed text does, in any case."""
    typed = context.typed.lstrip("`$").lower()
    found = (suggestion for suggestion in _offers(context, words) if _bare(suggestion.text).startswith(typed))
    return list(dict.fromkeys(found))


def _bare(text: str) -> str:
    return text.lstrip("`$").lower()


def _offers(context: Context, words: Words) -> Iterator[Suggestion]:
    schema = words.schema
    match context.place:
        case Place.LABEL:
            yield from _names(schema.labels if schema else (), "label")
        case Place.TYPE:
            yield from _names(schema.types if schema else (), "type")
        case Place.LABEL_OR_TYPE:
            yield from _names(schema.labels if schema else (), "label")
            yield from _names(schema.types if schema else (), "type")
        case Place.PROPERTY:
            for name, kind in _properties(schema, context).items():
                yield from _names((name,), kind)
        case Place.PARAMETER:
            yield from (Suggestion(f"${name}", "parameter") for name in words.parameters)
        case Place.EXPRESSION:
            yield from _names(context.variables, "variable")
            yield from (Suggestion(word, "keyword") for word in sorted(keywords()))
            yield from (Suggestion(f"{name}(", "function", f"{name}()") for name in _functions())


def _names(names: Iterable[str], kind: str) -> Iterator[Suggestion]:
    for name in names:
        yield Suggestion(name if is_plain_name(name) else quote_name(name), kind, name)


def _functions() -> tuple[str, ...]:
    from gquery.planner.functions import function_names

    return function_names()


def _properties(schema: Schema | None, context: Context) -> dict[str, str]:
    """Property name -> its type, of the labels or types of the element in question; of all when none is known."""
    if schema is None:
        return {}
    found: dict[str, str] = {}
    if context.element != "relationship":
        tables = [
            index
            for index, table in enumerate(schema.vertex_tables)
            if not context.labels or set(context.labels) & set(table.labels)
        ]
        found |= {name: str(types[0]) for name, types in schema.vertex_properties(tables).items()}
    if context.element != "node":
        types_of = schema.edge_properties(context.labels or None)
        found |= {name: str(types[0]) for name, types in types_of.items() if name not in found}
    return found
