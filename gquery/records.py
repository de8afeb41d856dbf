"""Data classes that nobody changes, and that are made often.

A frozen data class sets its fields in a roundabout way, past the method that refuses everybody else: one of six fields
takes ten times as long to make as one that is not frozen, and a short query makes some hundreds. That nobody changes
one is seen by mypy, for which `record` is `dataclass`. When the program runs, a record is compared, hashed and shown
like a frozen data class, but by functions that all share: a data class compiles its own, which for a hundred classes
was a fifth of the time that `import gquery` takes. What makes one is compiled when the first of its class is made: a
query needs a third of them.

`replace` is that of `dataclasses`, for records alone: it need not ask how each field wants to be treated.

A record with a field `_hash` keeps its hash there: trees are looked up node by node, and each would hash all below it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

__all__ = ["record", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
else:
    from dataclasses import MISSING, dataclass, fields

    def record(*, frozen, **options):
        """The decorator `dataclass(frozen=True, ...)`, but for what happens when a field is set later."""
        assert frozen

        def decorate(kind):
            kind.__doc__ = kind.__doc__ or kind.__name__  # else a data class would look for the signature of its own
            made = dataclass(init=False, eq=False, repr=False, **options)(kind)
            made._given = tuple([field.name for field in fields(made) if field.init])
            for method in _methods(made):
                if kind.__dict__.get(method.__name__) is None:  # which `__hash__` is where there is an `__eq__`
                    setattr(made, method.__name__, method)
            return made

        return decorate

    def replace(made, /, **changes):
        """The record with other values in some fields."""
        for name in made._given:
            if name not in changes:
                changes[name] = getattr(made, name)
        return made.__class__(**changes)

    def _methods(made):
        every = fields(made)
        compared = _values([field.name for field in every if field.compare])
        keeps = "_hash" in [field.name for field in every]
        shown = [field.name for field in every if field.repr]

        def __init__(self, *values, **named):  # noqa: N807
            made.__init__ = _initialiser(made)
            made.__init__(self, *values, **named)

        def __eq__(self, other):  # noqa: N807
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):  # noqa: N807
            return hash(compared(self))

        def __repr__(self):  # noqa: N807
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
            return f"{self.__class__.__qualname__}({values})"

        def __hash_once__(self):  # noqa: N807
            if self._hash is None:
                self._hash = hash(compared(self))
            return self._hash

        __hash_once__.__name__ = "__hash__"
        return __init__, __eq__, __hash_once__ if keeps else __hash__, __repr__

    def _values(names):
        """A function that gives the fields of a record as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple([getattr(self, name) for name in names])

    def _initialiser(made):
        """The `__init__` that a data class would have."""
        known, taken, named, steps = {"_MISSING": MISSING}, [], [], []
        for field in fields(made):
            name = value = field.name
            default = "" if field.default is MISSING else f"_default_{name}"
            known[f"_default_{name}"], known[f"_make_{name}"] = field.default, field.default_factory
            if field.default_factory is not MISSING:
                default = "_MISSING"
                value = f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
            elif default and not field.init:
                value = default
            if field.init:
                (named if field.kw_only else taken).append(f"{name}={default}" if default else name)
            if field.init or value != name:
                steps.append(f"self.{name} = {value}")
        if hasattr(made, "__post_init__"):
            steps.append("self.__post_init__()")
        parameters = ", ".join(["self", *taken, *(["*", *named] if named else [])])
        exec("\n ".join([f"def __init__({parameters}):", *steps, "pass"]), known)
        initialiser = known["__init__"]
        initialiser.__qualname__ = f"{made.__qualname__}.__init__"
        return initialiser
