"""What one operation on a tape hands to the next: partial matches, the rows that they have, what they count as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Block(NamedTuple):
    """Partial matches: the address of columns int32[width, stride]; registers with the first and with the number of
    rows, `most` at most. Without columns they are all positions in turn. once: they have one level, at which no two are
    the same."""

    columns: int
    stride: int
    offset: int
    rows: int
    most: int
    once: bool = False

    @property
    def words(self) -> tuple[int, int, int, int]:
        return self[:4]


class Ways(NamedTuple):
    """What partial matches count as: sums as they were added up, and how these are finished (`Branch` in
    kernels/sum.cuh); the address of where for each partial match the number of its own is, none when it is its own."""

    sums: int
    sizes: int
    minus: int
    cap: int
    context: int

    def touched(self) -> dict[str, Sequence[int]]:
        """How an operation row by row reads them."""
        if self.context:
            return {"gathers": self[:2], "reads": [self.context]}
        return {"reads": self[:2]}


class Work(NamedTuple):
    """The shortest row of each partial match of a block: addresses of where it begins, which it is, and the running sum
    of lengths; the ranges of all rows, where there are several, in columns of `stride`; registers with the sum of the
    lengths and with 0; most: the sum at most."""

    begins: int
    which: int
    ends: int
    ranges: int
    stride: int
    total: int
    first: int
    most: int

    @property
    def words(self) -> tuple[int, int, int, int, int]:
        return self[:5]

    @property
    def arrays(self) -> tuple[int, int, int, int]:
        return self[:4]
