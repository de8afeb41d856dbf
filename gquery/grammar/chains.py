"""How operands joined by one associative operator (`and`, `or`, `xor`, `&`, `|`) become a tree.

A left-deep tree of 5,000 conjuncts would be 5,000 levels deep; a balanced one is 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def balanced(operands: Sequence[T], join: Callable[[T, T], T]) -> T:
    """The operands, at least one, in order, joined two by two into a tree of least depth."""
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    return join(balanced(operands[:middle], join), balanced(operands[middle:], join))
