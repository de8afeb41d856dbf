"""The LALR(1) automaton that Lark has made of the grammar, run on tokens of ours.

Lark's own way to feed it one token after the other is meant for looking at errors, and takes three times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gquery.grammar.scanner import Token

if TYPE_CHECKING:
    from lark import Lark

END = "$END"


class Reduction(NamedTuple):
    """So many symbols become one by this name, whose value `make` gives."""

    size: int
    name: str
    make: Callable[[list[Any]], Any]


Actions = Mapping[str, int | Reduction]
"""By the name of what comes: the state to go to, or what is to be done before."""


class Automaton(NamedTuple):
    """By state, what can come there. begin, end: the states before the first token and after the last."""

    actions: Mapping[int, Actions]
    begin: int
    end: int

    @classmethod
    def of(cls, lark: Lark) -> Automaton:
        table: Any = lark.parse_interactive().parser_state.parse_conf
        states = {
            state: {str(name): _action(found, table.callbacks) for name, (_, found) in row.items()}
            for state, row in table.states.items()
        }
        return cls(states, table.start_state, table.end_state)


def _action(found: Any, callbacks: Mapping[Any, Callable[[list[Any]], Any]]) -> int | Reduction:
    if isinstance(found, int):
        return found
    return Reduction(len(found.expansion), str(found.origin.name), callbacks[found])


class Unexpected(Exception):
    """The grammar has no such token here."""


class Machine:
    """One parse. Values of reductions are made as they happen."""

    def __init__(self, automaton: Automaton) -> None:
        self._actions = automaton.actions
        self._end = automaton.end
        self._states = [automaton.begin]
        self._values: list[Any] = []

    @property
    def choices(self) -> Actions:
        """What can come next, terminals and other names. A terminal may still be found not to fit when it is fed."""
        return self._actions[self._states[-1]]

    def feed(self, token: Token) -> Any:
        """Takes the next token; END gives the value of the whole. Raises Unexpected."""
        actions, states, values = self._actions, self._states, self._values
        while True:
            action = actions[states[-1]].get(token.type)
            if action is None:
                raise Unexpected
            if isinstance(action, int):
                states.append(action)
                values.append(token)
                return None
            size, name, make = action
            first = len(values) - size
            value = make(values[first:])
            del values[first:], states[first + 1 :]
            values.append(value)
            states.append(actions[states[-1]][name])  # type: ignore[arg-type]
            if token.type == END and states[-1] == self._end:
                return value
