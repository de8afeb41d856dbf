"""The LALR(1) automaton that Lark has made of the grammar, run on tokens of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gquery.grammar.scanner import Token
from gquery.grammar.table import Table

END = "$END"

Make = Callable[[list[Any]], Any]


Effect = Literal["the same", "in a list", "out of its list"]


class Reduction(NamedTuple):
    """So many symbols become one by this name, whose value `make` gives. effect: what a value alone becomes, where it
    is no other; out of its list comes what is alone in it."""

    size: int
    name: str
    make: Make
    effect: Effect | None


Actions = Mapping[str, int | Reduction]
"""By the name of what comes: the state to go to, or what is to be done before."""


class Automaton(NamedTuple):
    """By state, what can come there. begin, end: the states before the first token and after the last. skipped: by two
    states, the later one of the last symbol, and what comes: where `skip` leads to, as far as that was asked."""

    actions: list[Actions]
    begin: int
    end: int
    skipped: dict[tuple[int, int, str], int]

    @classmethod
    def of(cls, table: Table, builder: object) -> Automaton:
        """builder: has the methods that the rules name."""
        reductions = [_reduction(builder, *rule) for rule in table["rules"]]
        symbols: list[str] = table["symbols"]
        states: list[Actions] = [
            {symbols[int(symbol)]: to if to >= 0 else reductions[-1 - to] for symbol, to in row.items()}
            for row in table["states"]
        ]
        return cls(states, table["begin"], table["end"], {})

    def skip(self, before: int, state: int, kind: str) -> int:
        """The state after all reductions of one symbol that leave its value as it is: an operand alone is a sum of one
        product, which is a product of one power, and so on for every operator that could have stood there."""
        key, found, depth = (before, state, kind), state, 0
        while True:
            action = self.actions[state].get(kind)
            if not isinstance(action, Reduction) or action.size > 1 or action.effect is None:
                break
            depth += _DEPTHS[action.effect]
            if depth < 0:
                break
            state = self.actions[before][action.name]  # type: ignore[assignment]
            if depth == 0:
                found = state
        self.skipped[key] = found
        return found

    def accepted_after(self, tokens: Iterable[Token]) -> set[str]:
        """The terminals that could follow these tokens, which are fed to it anew: a parser that has refused a token may
        already have given up some that it could take."""
        states = [self.begin]
        for token in tokens:
            self._go(states, token.type)
        return {name for name in self.actions[states[-1]] if name.isupper() and self._go(states.copy(), name)}

    def _go(self, states: list[int], terminal: str) -> bool:
        """Moves on by a terminal; whether it could."""
        while True:
            action = self.actions[states[-1]].get(terminal)
            if action is None:
                return False
            if isinstance(action, int):
                states.append(action)
                return True
            del states[len(states) - action.size :]
            states.append(self.actions[states[-1]][action.name])  # type: ignore[arg-type]
            if terminal == END and states[-1] == self.end:
                return True


_DEPTHS: dict[Effect, int] = {"the same": 0, "in a list": 1, "out of its list": -1}


def _reduction(
    builder: object,
    size: int,
    name: str,
    method: str | None,
    single: bool,
    children: list[int | None],
    spread: list[int],
) -> Reduction:
    make: Make = _children if method is None else getattr(builder, method)
    if single:
        make = _unless_single(make)
    if spread or children != list(range(size)):
        make = _arranged(make, children, frozenset(spread))
    return Reduction(size, name, make, _effect(method, single, spread) if size == 1 and children == [0] else None)


def _effect(method: str | None, single: bool, spread: list[int]) -> Effect | None:
    """Of a rule of one symbol."""
    if single:
        return "out of its list" if spread else "the same"
    return "in a list" if method is None and not spread else None


def _children(children: list[Any]) -> list[Any]:
    """Of a rule that is part of those that use it."""
    return children


def _unless_single(make: Make) -> Make:
    return lambda children: children[0] if len(children) == 1 else make(children)


def _picked(make: Make, order: list[int | None]) -> Make:
    if len(order) == 1:
        return lambda values: make([None if place is None else values[place] for place in order])
    pick = itemgetter(*(-1 if place is None else place for place in order))
    return lambda values: make([*pick((*values, None))])


def _arranged(make: Make, order: list[int | None], spread: frozenset[int]) -> Make:
    if not spread:
        return _picked(make, order)

    def arranged(values: list[Any]) -> Any:
        children: list[Any] = []
        for place in order:
            if place is None:
                children.append(None)
            elif place not in spread:
                children.append(values[place])
            elif children:
                children += values[place]
            else:
                children = values[place]  # nobody else has it: long lists grow at their end
        return make(children)

    return arranged


class Unexpected(Exception):
    """The grammar has no such token here."""


class Machine:
    """One parse. Values of reductions are made as they happen. fed: the tokens that it took."""

    def __init__(self, automaton: Automaton) -> None:
        self.fed: list[Token] = []
        self._actions = automaton.actions
        self._end = automaton.end
        self._skip = automaton.skip
        self._skipped = automaton.skipped
        self._states = [automaton.begin]
        self._values: list[Any] = []

    @property
    def choices(self) -> Actions:
        """What can come next, terminals and other names. A terminal may still be found not to fit when it is fed."""
        return self._actions[self._states[-1]]

    def feed(self, token: Token) -> Any:
        """Takes the next token; END gives the value of the whole. Raises Unexpected."""
        actions, states, values, kind = self._actions, self._states, self._values, token.type
        skipped = self._skipped
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                raise Unexpected
            if isinstance(action, int):
                states.append(action)
                values.append(token)
                self.fed.append(token)
                return None
            size, name, make, effect = action
            if size == 1:  # which is what most are
                before, state = states[-2:]
                to = state
                if effect is not None:
                    known = skipped.get((before, state, kind))
                    to = self._skip(before, state, kind) if known is None else known
                if to == state:
                    values[-1] = make([values[-1]])
                    to = actions[before][name]  # type: ignore[assignment]
                states[-1] = to
            else:
                first = len(values) - size
                values[first:] = (make(values[first:]),)
                states[first + 1 :] = (actions[states[first]][name],)  # type: ignore[assignment]
            if kind == END and states[-1] == self._end:
                return values[-1]
