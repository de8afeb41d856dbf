"""Completion at the prompt: what fits the place, taken from the language, the graph and the text itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter, WordCompleter
from prompt_toolkit.document import Document

from gquery.grammar.literals import is_plain_name, quote_name
from gquery.settings import MatchMode
from gquery.terminal.commands import COMMANDS
from gquery.terminal.entry.pattern_context import Context, Place, context_of
from gquery.terminal.entry.syntax import keywords
from gquery.terminal.output.tables import type_name
from gquery.terminal.shell import SETTINGS

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
    """Completes queries, and the colon-commands with their arguments."""

    def __init__(self, words: Callable[[], Words]) -> None:
        self._words = words

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.lstrip().startswith(":"):
            yield from self._command_completions(before.lstrip(), complete_event)
            return
        context = context_of(before, document.text)
        if context.place is Place.EXPRESSION and not (context.typed or complete_event.completion_requested):
            return  # a menu of everything after every blank is in the way
        for suggestion in suggestions(context, self._words()):
            yield Completion(
                suggestion.text, -len(context.typed), display=suggestion.shown or suggestion.text,
                display_meta=suggestion.kind,
            )  # fmt: skip

    def _command_completions(self, text: str, event: CompleteEvent) -> Iterable[Completion]:
        name, space, argument = text.partition(" ")
        if not space:
            return [
                Completion(known, -len(name), display_meta=command.help)
                for known, command in COMMANDS.items()
                if known.startswith(name)
            ]
        kind = COMMANDS[name].argument if name in COMMANDS else ""
        document = Document(argument.lstrip())
        if kind == "query":
            return self.get_completions(document, event)
        if kind == "path":
            return PathCompleter(expanduser=True).get_completions(document, event)
        names = self._argument_words(kind)
        return WordCompleter(names, sentence=True).get_completions(document, event) if names else ()

    def _argument_words(self, kind: str) -> list[str]:
        modes = list(get_args(MatchMode))
        settings = [name for name in SETTINGS if name not in ("mode", "strict")]
        settings += [f"mode {mode}" for mode in modes] + ["strict on", "strict off"]
        return {
            "mode": modes,
            "switch": ["on", "off"],
            "command": [name.removeprefix(":") for name in COMMANDS],
            "setting": settings + [f"${name}" for name in self._words().parameters],
        }.get(kind, [])


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
    from gquery.planner.ir.functions.calls import function_names

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
        found |= {name: type_name(types[0]) for name, types in schema.vertex_properties(tables).items()}
    if context.element != "node":
        types_of = schema.edge_properties(context.labels or None)
        found |= {name: type_name(types[0]) for name, types in types_of.items() if name not in found}
    return found
