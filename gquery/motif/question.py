"""What a caller can choose, checked once."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, TypedDict, get_args

from gquery.errors import BindError, did_you_mean
from gquery.executor.census.layout import LARGEST, SMALLEST
from gquery.executor.census.null import Model, Null

_MOST = 2**31  # random graphs, and switches


class Options(TypedDict, total=False):
    """directed: whether directions are part of a motif. random: how many random graphs. model: what these keep, see
    `Null`. switches: attempts for each edge. seed: of the random graphs. labels, types: of the vertices and edges to
    look at, all when None. by_label, by_type: whether they are part of a motif. timeout, memory_limit, threads,
    device: as the settings of a graph."""

    directed: bool
    random: int
    model: Model
    switches: int
    seed: int
    labels: str | Iterable[str] | None
    types: str | Iterable[str] | None
    by_label: bool
    by_type: bool
    timeout: float | None
    memory_limit: int | str | None
    threads: int
    device: str


@dataclass(frozen=True, slots=True)
class Question:
    """See `Options`; size: vertices of a motif."""

    size: int
    directed: bool = True
    random: int = 1000
    model: Model = "degrees"
    switches: int = 10
    seed: int = 0
    labels: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    by_label: bool = False
    by_type: bool = False

    @property
    def null(self) -> Null:
        return Null(self.model, self.switches, self.seed)


def read_question(size: object, given: dict[str, Any]) -> Question:
    """Raises BindError for an option that does not exist or a value without sense."""
    names = [field.name for field in fields(Question) if field.name != "size"]
    for name in given.keys() - set(names):
        hint = did_you_mean(name, names) or "there are " + ", ".join([*names, *SETTINGS])
        raise BindError(f"there is no option `{name}`", hint=hint)
    readers: dict[str, Callable[[str, object], object]] = {
        "directed": _switch, "by_label": _switch, "by_type": _switch, "random": _whole, "switches": _positive,
        "seed": _seed, "model": _model, "labels": _names, "types": _names,
    }  # fmt: skip
    return Question(_size(size), **{name: readers[name](name, value) for name, value in given.items()})  # type: ignore[arg-type]


SETTINGS = ("timeout", "memory_limit", "threads", "device")


def _size(value: object) -> int:
    size = _number("k", value)
    if not SMALLEST <= size <= LARGEST:
        raise BindError(f"motifs have {SMALLEST} to {LARGEST} vertices, not {size}")
    return size


def _number(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not -_MOST < int(value) < _MOST:
        raise BindError(f"`{name}` is a whole number below 2^31")
    return int(value)


def _whole(name: str, value: object) -> int:
    if (number := _number(name, value)) < 0:
        raise BindError(f"`{name}` is {number}, and cannot be below 0")
    return number


def _positive(name: str, value: object) -> int:
    if (number := _number(name, value)) < 1:
        raise BindError(f"`{name}` is {number}, and cannot be below 1")
    return number


def _seed(name: str, value: object) -> int:
    return _number(name, value)


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BindError(f"`{name}` is True or False")
    return value


def _model(name: str, value: object) -> object:
    if value not in get_args(Model):
        hint = did_you_mean(str(value), get_args(Model)) if isinstance(value, str) else None
        raise BindError(f"`{name}` is one of {', '.join(get_args(Model))}", hint=hint)
    return value


def _names(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple | set) else (None,)
    if not all(isinstance(each, str) for each in names):
        raise BindError(f"`{name}` is a name or a list of names")
    return tuple(dict.fromkeys(str(each) for each in names))
