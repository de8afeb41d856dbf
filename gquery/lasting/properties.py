"""Properties that are worked out when they are first asked for, and kept.

Like those of `functools`, but without its two faults. In Python 3.11 one lock guards a property of all objects of its
class: a thread that works one out holds up all others, and a process that is forked meanwhile waits for ever. Where
there is no lock, two threads may work out the same, and the second takes the place of the first, which somebody may
have taken an address from: here the first one stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - as in functools
        """Steps aside once the object has the value under the same name."""

        def __init__(self, make):
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            return self if instance is None else instance.__dict__.setdefault(self._name, self._make(instance))
