"""Of which elements an expression is asked that fails for some of them: of those that matter to the query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.planner.ir.expr import Expression, is_volatile
from gquery.records import record
from gquery.storage.numbering import Ids

Answer = TypeVar("Answer")

FEW = 8
"""Elements for which an expression fails, up to which each is looked at by itself."""


@record(frozen=True, slots=True)
class Elements:
    """Some elements, or all others."""

    ids: Ids
    others: bool = False

    def among(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of some ids are theirs."""
        found = np.zeros(max(ids.max(initial=-1), self.ids.max(initial=-1)) + 1, np.bool_)
        found[self.ids] = True
        among: NDArray[np.bool_] = found[ids] != self.others
        return among


Failing = Callable[[], Ids | None]
"""The elements that an expression fails for; None where they are more than a few."""


def few_failing(ids: Ids, places: NDArray[np.int64], fails_at: Callable[[NDArray[np.int64]], bool]) -> Ids | None:
    """The ids at those of some places, for one of which at least something fails, for which it does, if these are
    few."""
    parts = [places]
    while 0 < len(parts) <= FEW:
        if all(len(part) == 1 for part in parts):
            return ids[np.concatenate(parts)]
        halves = [half for part in parts for half in np.array_split(part, 2)]
        parts = [half for half in halves if len(half) and fails_at(half)]
    return None


def fails(ask: Callable[[], object], *expressions: Expression) -> bool:
    """Whether what asks for expressions raises an error of theirs."""
    try:
        ask()
    except ExecutionError as error:
        expect_its_own(error, *expressions)
        return True
    return False


def expect_its_own(error: ExecutionError, *expressions: Expression) -> None:
    """Raises an error which is not one that the expressions are for some values."""
    if type(error) is not ExecutionError or any(map(is_volatile, expressions)):
        raise error


def answered(relevant: Iterator[Elements], ask: Callable[[Elements], Answer]) -> Answer:
    """What asking gives, some elements after the others. Where it fails for others than a few it does so for some
    beside each other, none of which it fails for alone: `x IN [1 / 0]` where x is null."""
    for elements in relevant:
        try:
            found = ask(elements)
        except ExecutionError as error:
            if not elements.others or type(error) is not ExecutionError:
                raise
        else:
            if elements.others:
                break
    return found


Relevant = Callable[[Expression, ExecutionError, Failing], Iterator[Elements]]
"""Of which elements an expression is asked, once it has failed for some: first some of them, then all; before these all
others than a few for which it fails. Raises the error where that is not known."""
