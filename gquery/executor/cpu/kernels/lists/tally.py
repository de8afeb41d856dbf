"""Counts rows that are alike: the codes of a row make one number, and how often each comes is counted in an array."""

from __future__ import annotations

from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import fetch_add, load_int8, load_int16, load_int32, load_int64

# Of each column: the address of the codes, by id, and their bytes; that of the ids, of which one below zero is none,
# and their bytes; how many codes there are, of which the last is that of no value.
CODES, CODE_BYTES, IDS, ID_BYTES, VALUES, TALLY_COLUMNS = 0, 1, 2, 3, 4, 5
AT_ONCE = 1 << 10  # rows


@kernel
def tally(columns, weights, count, numbers, counts, shared):  # type: ignore[no-untyped-def]
    """Adds `count` rows to counts int64[]: one for each, or the int64 at the address `weights`, if it is not 0. numbers
    int64[AT_ONCE]: room for those of some rows. shared: whether other threads add to the same counts meanwhile."""
    for begin in range(0, count, AT_ONCE):
        rows = min(AT_ONCE, count - begin)
        for row in range(rows):
            numbers[row] = 0
        for column in range(len(columns)):
            codes, ids, values = columns[column, CODES], columns[column, IDS], columns[column, VALUES]
            wide, long = columns[column, CODE_BYTES] == 2, columns[column, ID_BYTES] == 8
            for row in range(rows):
                at = load_int64(ids, begin + row) if long else load_int32(ids, begin + row)
                code = values - 1
                if at >= 0:
                    code = load_int16(codes, at) & 0xFFFF if wide else load_int8(codes, at) & 0xFF
                numbers[row] = numbers[row] * values + code
        for row in range(rows):
            weight = load_int64(weights, begin + row) if weights != 0 else 1
            if shared:
                fetch_add(counts.ctypes.data, numbers[row], weight)  # type: ignore[call-arg]
            else:
                counts[numbers[row]] += weight
