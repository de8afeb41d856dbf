"""Records are data classes, but for when their methods are made."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gquery.records import record, replace

Decorate = Callable[..., Any]


def _kinds(decorate: Decorate) -> tuple[type[Any], ...]:
    @decorate(frozen=True, slots=True)
    class Plain:
        one: int
        two: tuple[int, ...] = ()
        made: list[int] = field(default_factory=list, compare=False)
        known: int | None = field(default=None, init=False, repr=False)

    @decorate(frozen=True, slots=True, kw_only=True)
    class Named:
        place: int = field(compare=False)

    @decorate(frozen=True, slots=True)
    class Both(Named):
        one: int

        def __post_init__(self) -> None:
            assert self.one != 13

    @decorate(frozen=True)
    class Loose:
        one: int = 1

    return Plain, Named, Both, Loose


CALLS: list[tuple[int, tuple[Any, ...], dict[str, Any]]] = [
    (0, (1,), {}),
    (0, (1, (2,)), {"made": [3]}),
    (0, (), {"two": (), "one": 5}),
    (0, (), {}),
    (0, (1, 2, [3], 4), {}),
    (0, (1,), {"known": 2}),
    (1, (), {"place": 3}),
    (1, (3,), {}),
    (2, (7,), {"place": 3}),
    (2, (13,), {"place": 3}),
    (2, (7,), {}),
    (3, (), {}),
    (3, (2,), {}),
]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("number", "values", "named"), CALLS)
def test_a_record_is_made_like_a_data_class(
    number: int, values: tuple[Any, ...], named: dict[str, Any], again: bool
) -> None:
    """The second of a class too, which is made by what was written for the first."""
    told = []
    for decorate in (dataclass, record):
        kind = _kinds(decorate)[number]
        if again:
            kind(*[1] * (number in (0, 2)), **{"place": 1} if number in (1, 2) else {})
        try:
            told.append(repr(kind(*values, **named)))
        except (TypeError, AssertionError) as error:
            told.append(f"{type(error)} {error}")
    assert told[0] == told[1]


def test_each_record_has_a_default_of_its_own() -> None:
    kind = _kinds(record)[0]
    assert kind(1).made is not kind(1).made
    assert kind(1) == kind(1, made=[2]) != kind(2)
    assert hash(kind(1)) == hash(kind(1, made=[2]))
    assert replace(kind(1, (2,)), one=3) == kind(3, (2,))


@record(frozen=True, slots=True)
class Pickled:
    one: int
    two: str = "two"


def test_a_record_is_pickled_before_any_other_is_made() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1, "two")
