"""The packed plan: the flat int64 tables that kernels of every backend read.

Addresses stand in the tables beside the numbers, so that one compiled kernel serves every query; `keep` holds the
arrays that they point into. A *level* is an index in the matching order. A *position* is an index in a candidate set;
when the plan walks the raw adjacency, positions are internal vertex ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gquery.records import record

if TYPE_CHECKING:
    from gquery.executor.cpu.search.adapting import Adapting

# Columns of `steps`, one row a level.
BACKWARD_BEGIN, BACKWARD_END = 0, 1  # its rows of `backward`
SIZE = 2  # number of positions, walked when there is no backward neighbour
VERTICES = 3  # address of int32[SIZE]: position -> vertex; 0 when positions are vertices
WORDS, RANKS = 4, 5  # bitset over vertices and set bits before each word; 0 when every vertex qualifies
DIFFERENT_BEGIN, DIFFERENT_END = 6, 7  # its rows of `different`
PAIRS_BEGIN, PAIRS_END = 8, 9
COMPARE_BEGIN, COMPARE_END = 10, 11
ABSENT_BEGIN, ABSENT_END = 12, 13
SMALLER_BEGIN, SMALLER_END = 14, 15  # its rows of `smaller`: levels whose vertices must have smaller ids
WEIGHTS_BEGIN, WEIGHTS_END = 16, 17  # its rows of `choices`: edges whose numbers of choices multiply here
SIMPLE = 18  # 1 when no backward list repeats a neighbour
SET_COUNT = 19  # 1 when, as a leaf of a sum, the size of a set is enough
PARENT, CHILD, SIBLING = 20, 21, 22  # the tree of a sum: levels, -1 for none
CONTEXT_BEGIN, CONTEXT_END = 23, 24  # its rows of `context`
SLOTS_BEGIN, SLOTS = 25, 26  # its entries of the memory; SLOTS is 0 when sums are not remembered, else a power of two
DIRECT = 27  # 1 when the key of a context is its slot
CAP = 28  # what a sum counts as
FACTORS, FACTOR_SIZES = 29, 30  # addresses of uint64[] and float64[]: the folded branches at each position, 0 for none
FACTOR_BASE = 31  # the position that they begin with
TESTED = 32  # tests besides membership: 0 none, 1 that the vertex is another than some, 2 rarer ones too
BOTTOM = 33  # 1 when all levels below are leaves with a set size
LENGTH = 34  # 1 when the size of a leaf is the length of its one row
CUT_BEGIN, CUT_END = 35, 36  # candidates lie between, and rows are cut to that; CUT_END 0: anywhere
SPANS = 37  # rows that are looked up for a whole block of partial matches; 0 when the level needs rarer tests
LIVE = 38  # bit i: the position at level i is needed below this level
MINUS = 39  # so many fewer than the size of a leaf's set
LIKE = 40  # another leaf that has the same set, a level; -1 for none
COUNTER = 41  # of a pushed sum the end of a chain: which counters it adds to
LEAF = 42  # inside a neighbourhood: how its leaf is counted
STEP_COLUMNS = 43

# Values of LEAF: anew for each candidate; for all at once; with what it can be whatever the candidate is.
ANEW, TALLIED, PREPARED = 0, 1, 2

# Values of CAP: the sum itself; at least one; one if there is any; one if there is none.
PLAIN, OPTIONAL, EXISTS, NONE = 0, 1, 2, 3

# Columns of `backward` and `absent`: the rows of one adjacency, looked up by the position (vertex) matched at LEVEL.
LEVEL, FIRST, ROWS, OFFSETS, NEIGHBOURS = 0, 1, 2, 3, 4
MARKS = 5  # the first word of the marks where a row can be kept as a bitset, -1 for nowhere
MARKED = 6  # its row of what is known about the marks
MATRIX, STRIDE = 7, 8  # address of all rows as bitsets, 0 without; bytes from one to the next
MATRIX_BEGIN, MATRIX_END = 9, 10  # the neighbours that the bitsets are of
AMONG = 11  # inside the neighbourhood of a root: which of the kinds of rows, or one of the following
FROM_ROOT, AGAIN = -1, -2  # rows of the root, those that one was before
PLANES = 32  # rows of bitsets inside a neighbourhood that hold the bits of numbers of members
SIGNATURES = 12  # address of the signatures of all rows, 0 without
ADJACENCY_COLUMNS = 13

# Columns of `pairs`: not both vertex[A] = vertex[B] and vertex[C] = vertex[D].
A, B, C, D = 0, 1, 2, 3
PAIRS_COLUMNS = 4

# Columns of `compare`: rank at LEFT against rank at RIGHT; ranks are int64 by position.
LEFT, RIGHT, OPERATOR, LEFT_RANKS, RIGHT_RANKS = 0, 1, 2, 3, 4
COMPARE_COLUMNS = 5
EQUAL, NOT_EQUAL, LESS, LESS_EQUAL = 0, 1, 2, 3

# Columns of `context`: the key of a context is the sum of position[KEY_LEVEL] * FACTOR.
KEY_LEVEL, FACTOR = 0, 1
CONTEXT_COLUMNS = 2

# Columns of `choices`: the data edges behind one query edge, from level FROM to level TO.
FROM, TO, CHOICE_FIRST, CHOICE_ROWS, CHOICE_OFFSETS, CHOICE_NEIGHBOURS, CHOICE_EDGES = 0, 1, 2, 3, 4, 5, 6
COLLIDES_BEGIN, COLLIDES_END = 7, 8  # its rows of `collides`: earlier choices that must be other edges
FREE = 9  # 1 when the edge collides with no other: its number of choices is a factor
CLIQUE = 10  # 1 when the edges that it collides with collide with each other, too
CHOICE_COLUMNS = 11

Table = NDArray[np.int64]


# The tables in one array, in order: its entry 2t is where table t begins, entry 2t + 1 the number of rows.
STEPS, BACKWARD, DIFFERENT, SMALLER, PAIRS, COMPARE, ABSENT, CONTEXT, CHOICES, COLLIDES = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
TABLES = 10


@record(frozen=True, slots=True)
class InsideRoom:
    """What a worker needs for one neighbourhood: numbers for all vertices, room for members, words of bitsets."""

    universe: int
    members: int
    words: int

    @property
    def nbytes(self) -> int:
        return 4 * (self.universe + self.members) + 8 * self.words


@record(frozen=True, slots=True)
class PackedPlan:
    """All tables in one array: passing many arrays to a kernel takes longer than many a small search.

    tables: int64[*], with steps[width, STEP_COLUMNS], backward and absent[*, ADJACENCY_COLUMNS], different, smaller and
    collides[*], pairs[*, 4], compare[*, 5], context[*, 2], choices[*, CHOICE_COLUMNS]. width: levels; rows: of
    backward; choices: edges whose numbers of data edges multiply. slots: entries of the memory of sums; marks: words of
    marks; marked: rows of adjacencies. folds: what is computed before the search. is_folded: nothing is left to search.
    room: partial matches in a block. is_chain: the sum goes breadth first. inside: room to sum inside of
    neighbourhoods, None when it goes in another way. counters: kinds of counters that sums are pushed into, 0 when they
    are not. adapting: what a sum is handed that orders vertices as it goes, None where it does not. lingers: a kernel
    may be busy with one match for ever. universe: vertices. keep: what the addresses point into.
    """

    tables: Table
    width: int
    rows: int
    choices: int
    slots: int
    marks: int
    marked: int
    folds: tuple[Any, ...]
    is_folded: bool
    room: int
    is_chain: bool
    inside: InsideRoom | None
    counters: int
    adapting: Adapting | None
    lingers: bool
    universe: int
    keep: tuple[object, ...]

    def table(self, index: int, columns: int) -> Table:
        """One of the tables."""
        begin, rows = self.tables[2 * index : 2 * index + 2].tolist()
        return self.tables[begin : begin + rows * columns].reshape(rows, columns)


def joined(tables: Sequence[Sequence[Sequence[int] | int]]) -> Table:
    """The tables one after the other, behind a header that says where each begins and how many rows it has."""
    found = [0] * (2 * len(tables))
    for number, table in enumerate(tables):
        found[2 * number : 2 * number + 2] = len(found), len(table)
        for row in table:
            if isinstance(row, int):
                found.append(row)
            else:
                found += row
    return np.array(found, np.int64)
