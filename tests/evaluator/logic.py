"""What may give something else than null for a null: logic of three values, comparisons, lists, CASE."""

from __future__ import annotations

from collections.abc import Callable

from tests.evaluator.values import Value, all_of, any_of, compare, equal, member


def ordered(holds: Callable[[float], bool]) -> Callable[[Value, Value], bool | None]:
    def test(left: Value, right: Value) -> bool | None:
        order = compare(left, right)
        return None if order is None else holds(order)

    return test


def negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def exclusive(left: bool | None, right: bool | None) -> bool | None:
    return None if left is None or right is None else left is not right


def case(*parts: Value) -> Value:
    """Conditions and values in turn, and the default."""
    return next((value for test, value in zip(parts[:-1:2], parts[1::2], strict=True) if test is True), parts[-1])


def piece(items: Value, start: Value, end: Value) -> Value:
    return None if items is None or start is None or end is None else items[start:end]


WITH_NULL: dict[str, Callable[..., Value]] = {
    "and": lambda *truths: all_of(truths), "or": lambda *truths: any_of(truths), "not": negated, "xor": exclusive,
    "=": equal, "<>": lambda left, right: negated(equal(left, right)), "in": member,
    "<": ordered(lambda order: order < 0), "<=": ordered(lambda order: order <= 0),
    ">": ordered(lambda order: order > 0), ">=": ordered(lambda order: order >= 0),
    "is null": lambda value: value is None, "is not null": lambda value: value is not None,
    "list": lambda *items: list(items), "case": case, "slice": piece,
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
}  # fmt: skip
