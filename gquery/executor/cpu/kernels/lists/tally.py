"""Counts rows that are alike: the codes of a row make one number, and how often each comes is counted in an array. So
values are added up, or the least and the largest found, of the rows of each number."""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.machine.compile import inner, kernel
from gquery.executor.cpu.machine.native import (
    bits_of,
    fetch_add,
    fetch_largest,
    fetch_least,
    float_of,
    load_float,
    load_int8,
    load_int16,
    load_int32,
    load_int64,
    store_int64,
)

# Of each column: the address of the codes, by id, and their bytes; that of the ids, of which one below zero is none,
# and their bytes; how many codes there are, of which the last is that of no value; the first id. Without codes, where
# the address is 0, an id less the first is its own.
CODES, CODE_BYTES, IDS, ID_BYTES, VALUES, FIRST, TALLY_COLUMNS = 0, 1, 2, 3, 4, 5, 6
AT_ONCE = 1 << 10  # rows

# Of each measure: what it is; the address of the values, by id less the first, whether they are floats, and the bytes
# of one; that of the ids and their bytes, the first, and how many there are; the addresses of int64[], by number: what
# is made of the values (the bits of floats), and the rows without any.
FUNCTION, MEASURED, IS_FLOAT, VALUE_BYTES, OF_IDS, OF_ID_BYTES, FIRST_ID, SIZE, MADE, NONE, MEASURE_COLUMNS = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
)  # fmt: skip
SUM, LEAST, LARGEST, HOW_MANY = 0, 1, 2, 3


@inner
def number_rows(columns, begin, rows, numbers):  # type: ignore[no-untyped-def]
    """The numbers of some rows."""
    for row in range(rows):
        numbers[row] = 0
    for column in range(len(columns)):
        codes, ids, values = columns[column, CODES], columns[column, IDS], columns[column, VALUES]
        wide, long, first = columns[column, CODE_BYTES] == 2, columns[column, ID_BYTES] == 8, columns[column, FIRST]
        for row in range(rows):
            at = np.int64(load_int64(ids, begin + row)) if long else np.int64(load_int32(ids, begin + row))
            code = np.int64(values - 1)
            if codes == 0:
                if at >= first and at - first < code:
                    code = at - first
            elif at >= 0:
                code = load_int16(codes, at) & 0xFFFF if wide else load_int8(codes, at) & 0xFF
            numbers[row] = numbers[row] * values + code


@kernel
def tally(columns, weights, count, numbers, counts, shared):  # type: ignore[no-untyped-def]
    """Adds `count` rows to counts int64[]: one for each, or the int64 at the address `weights`, if it is not 0. numbers
    int64[AT_ONCE]: room for those of some rows. shared: whether other threads add to the same counts meanwhile."""
    for begin in range(0, count, AT_ONCE):
        rows = min(AT_ONCE, count - begin)
        number_rows(columns, begin, rows, numbers)
        for row in range(rows):
            weight = load_int64(weights, begin + row) if weights != 0 else 1
            if shared:
                fetch_add(counts.ctypes.data, numbers[row], weight)
            else:
                counts[numbers[row]] += weight


@inner
def whole_at(values, size, index):  # type: ignore[no-untyped-def]
    """A whole number of so many bytes."""
    if size == 8:
        number = np.int64(load_int64(values, index))
    elif size == 4:
        number = np.int64(load_int32(values, index))
    elif size == 2:
        number = np.int64(load_int16(values, index))
    else:
        number = np.int64(load_int8(values, index))
    return number


@kernel
def measure(columns, measures, weights, count, numbers, counts, shared):  # type: ignore[no-untyped-def]
    """Counts rows as `tally` does, and adds what they measure, as often as they weigh. Where others add meanwhile
    measures are of whole numbers."""
    for begin in range(0, count, AT_ONCE):
        rows = min(AT_ONCE, count - begin)
        number_rows(columns, begin, rows, numbers)
        for row in range(rows):
            weight = np.int64(load_int64(weights, begin + row)) if weights != 0 else np.int64(1)
            if shared:
                fetch_add(counts.ctypes.data, numbers[row], weight)
            else:
                counts[numbers[row]] += weight
        for index in range(len(measures)):
            function, values, size = measures[index, FUNCTION], measures[index, MEASURED], measures[index, VALUE_BYTES]
            ids, long, first = measures[index, OF_IDS], measures[index, OF_ID_BYTES] == 8, measures[index, FIRST_ID]
            made, none, known = measures[index, MADE], measures[index, NONE], measures[index, SIZE]
            is_float = measures[index, IS_FLOAT] == 1
            for row in range(rows):
                at = np.int64(load_int64(ids, begin + row)) if long else np.int64(load_int32(ids, begin + row))
                number, weight = numbers[row], np.int64(1)
                if weights != 0:
                    weight = np.int64(load_int64(weights, begin + row))
                if at < first or at - first >= known:
                    if shared:
                        fetch_add(none, number, weight)
                        continue
                    store_int64(none, number, load_int64(none, number) + weight)
                elif function == HOW_MANY:
                    continue
                elif is_float:
                    value, before = load_float(values, at - first), float_of(load_int64(made, number))
                    if function == SUM:
                        store_int64(made, number, bits_of(before + value * weight))
                    elif (function == LEAST and value < before) or (function == LARGEST and value > before):
                        store_int64(made, number, bits_of(value))
                else:
                    whole, earlier = whole_at(values, size, at - first), load_int64(made, number)
                    if function == SUM:
                        if shared:
                            fetch_add(made, number, whole * weight)
                        else:
                            store_int64(made, number, earlier + whole * weight)
                    elif function == LEAST and whole < earlier:
                        fetch_least(made, number, whole)
                    elif function == LARGEST and whole > earlier:
                        fetch_largest(made, number, whole)
