"""Columns of an answer: numbers of matched vertices, as they are stored, written one behind the other."""

from __future__ import annotations

from gquery.executor.cpu.kernels.workspace import MADE
from gquery.executor.cpu.machine.compile import inner
from gquery.executor.cpu.machine.native import (
    load_int8,
    load_int16,
    load_int32,
    load_int64,
    store_int8,
    store_int16,
    store_int32,
    store_int64,
)

# Of each column: the level whose vertices are asked; the address of the vertices of its positions, 0 where these are
# vertices already; that of the numbers, as if the first were vertex 0's; their bytes, 0 where a number is the vertex
# plus SHIFT; the address that is written to.
LEVEL, VERTICES, NUMBERS, BYTES, SHIFT, OUT, GATHER_COLUMNS = 0, 1, 2, 3, 4, 5, 6


@inner
def gather_rows(columns, rows, count, state):  # type: ignore[no-untyped-def]
    """Writes what the columns have for the first `count` rows, int32[width, capacity], behind the MADE that are there.
    Positions of a level become vertices in place, for the first column that asks for them."""
    made = state[MADE]
    for number in range(len(columns)):
        level, vertices, numbers = columns[number, LEVEL], columns[number, VERTICES], columns[number, NUMBERS]
        size, shift, out = columns[number, BYTES], columns[number, SHIFT], columns[number, OUT]
        if vertices != 0:
            for index in range(count):
                rows[level, index] = load_int32(vertices, rows[level, index])
        if size == 0:
            for index in range(count):
                store_int64(out, made + index, rows[level, index] + shift)
        elif size == 8:
            for index in range(count):
                store_int64(out, made + index, load_int64(numbers, rows[level, index]))
        elif size == 4:
            for index in range(count):
                store_int32(out, made + index, load_int32(numbers, rows[level, index]))
        elif size == 2:
            for index in range(count):
                store_int16(out, made + index, load_int16(numbers, rows[level, index]))
        else:
            for index in range(count):
                store_int8(out, made + index, load_int8(numbers, rows[level, index]))
    state[MADE] = made + count
