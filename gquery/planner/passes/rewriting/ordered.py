"""What comparisons of several elements say together: where p < q and q < r, p is smaller than r."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.problem import Comparison, Pair
from gquery.planner.ir.rename import unnamed
from gquery.records import replace


class Orders:
    """Of some comparisons those that order elements by one value each."""

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        self._comparisons = comparisons
        self._alike: dict[Expression, list[Comparison]] = {}
        self._values: dict[tuple[int, Expression], Expression] = {}
        for each in comparisons:
            value = unnamed(each.left_value)
            if each.operator in ("<", "<=") and value == unnamed(each.right_value):
                self._alike.setdefault(value, []).append(each)
                self._values[each.left, value], self._values[each.right, value] = each.left_value, each.right_value

    def are_apart(self, pair: Pair) -> bool:
        """Whether one of the two is smaller than the other in some value, so that they are not the same."""
        ways = (pair, pair[::-1])
        return any((end, True) in self._above(begin, value) for value in self._alike for begin, end in ways)

    def implied(self) -> Iterator[Comparison]:
        """Further comparisons that these imply: where p < q < r and r < p + 9, q < p + 9. The elements that are
        matched first say of the next then whether it is one at all."""
        known = {(each.left, each.right, each.operator) for each in self._comparisons}
        for each in self._comparisons:
            one, other = unnamed(each.left_value), unnamed(each.right_value)
            if each.operator not in ("<", "<=") or one == other:
                continue
            below = ((replace(each, left=end, left_value=value)) for end, value in self._below_of(each.left, one))
            above = ((replace(each, right=end, right_value=value)) for end, value in self._above_of(each.right, other))
            for new in (*below, *above):
                key = new.left, new.right, new.operator
                if new.left != new.right and key not in known:
                    known.add(key)
                    yield new

    def _below_of(self, element: int, value: Expression) -> Iterator[tuple[int, Expression]]:
        for (end, own), expression in self._values.items():
            if own == value and end != element and any(found == element for found, _ in self._above(end, value)):
                yield end, expression

    def _above_of(self, element: int, value: Expression) -> Iterator[tuple[int, Expression]]:
        for end in {found for found, _ in self._above(element, value)} - {element}:
            yield end, self._values[end, value]

    def _above(self, element: int, value: Expression) -> set[tuple[int, bool]]:
        """Whose value is not smaller than that of an element, and whether it is larger."""
        found, pending = {(element, False)}, [(element, False)]
        while pending:
            reached, larger = pending.pop()
            next_ones = (each for each in self._alike.get(value, ()) if each.left == reached)
            new = {(each.right, larger or each.operator == "<") for each in next_ones} - found
            found |= new
            pending += new
        return found
