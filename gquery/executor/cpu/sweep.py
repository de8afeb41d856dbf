"""Sums a chain of levels breadth first, a block of partial matches at a time.

A depth-first search waits for memory at every vertex: where its row begins, what the row holds, where the next row
begins. A block of partial matches asks for all of its rows first and reads them after, so that the waiting overlaps,
and every loop does one thing (the blocks of EGSM's hybrid search, section 5.2, with the batches of columnar engines).
When the block below is full it is searched before the rest of the block above, so the blocks of all levels together
are all the room that a search needs.

A partial match carries its number of matches so far: the product of what is folded into its vertices. The last level
is not written down; its set sizes are multiplied in.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.compile import inlined, kernel
from gquery.executor.cpu.extend import load_row
from gquery.executor.cpu.intersect import accepts, common_size, floor_of, leaf_size, next_common, open_level
from gquery.executor.cpu.lookup import contains, count_both, has_bit, lower_bound, rank, row
from gquery.executor.cpu.marks import bits_of
from gquery.executor.cpu.native import load_int32, prefetch
from gquery.executor.cpu.total import factor_at, own_matches
from gquery.executor.cpu.workspace import (
    DEPTH,
    DONE,
    LEFT,
    MORE,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    TAKEN,
    column_of,
    cursors_of,
    levels_of,
    scratch_of,
    table_of,
)
from gquery.executor.packed import (
    ABSENT,
    ABSENT_BEGIN,
    ADJACENCY_COLUMNS,
    BACKWARD,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    CHOICE_COLUMNS,
    CHOICES,
    COLLIDES,
    COMPARE,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    FIRST,
    LEVEL,
    LIVE,
    MATRIX,
    MATRIX_BEGIN,
    MATRIX_END,
    NEIGHBOURS,
    OFFSETS,
    PAIRS,
    PARENT,
    RANKS,
    ROWS,
    SET_COUNT,
    SMALLER,
    SMALLER_BEGIN,
    SMALLER_END,
    SPANS,
    STEP_COLUMNS,
    STEPS,
    VERTICES,
    WORDS,
)

# Rows of `fill`, int64[3, width], by level: partial matches in the block; the next to be extended; where in its row.
COUNT, NEXT, CURSOR = 0, 1, 2
CLOSED = -1  # CURSOR of a partial match that has not been begun

_LONG = 16  # neighbours from which on a row is searched for the first candidate


@inlined
def vertex_at(steps, level, position):  # type: ignore[no-untyped-def]
    """The vertex of a position."""
    address = steps[level, VERTICES]
    return load_int32(address, np.int64(position)) if address != 0 else np.int32(position)


@inlined
def load_partial(steps, columns, level, index, positions, vertices):  # type: ignore[no-untyped-def]
    """What is still needed of a partial match in the block of `level`."""
    for column in range(level + 1):
        if (steps[level, LIVE] >> column) & 1:
            position = columns[level, column, index]
            positions[column] = position
            vertices[column] = vertex_at(steps, column, position)


@inlined
def look_up(adjacency, positions, begins, ends, count):  # type: ignore[no-untyped-def]
    """Where the rows of a column of positions begin and end; asks for their first entries."""
    offsets, first, rows, values = adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], adjacency[NEIGHBOURS]
    for index in range(count):
        begins[index], ends[index] = row(offsets, first, rows, positions[index])
    for index in range(count):
        prefetch(values + 4 * begins[index])  # type: ignore[call-arg]


@inlined
def open_block(steps, backward, absent, columns, spans, fill, level, count):  # type: ignore[no-untyped-def]
    """The block of `level` has been filled: looks up the rows that its partial matches are extended with."""
    fill[COUNT, level] = count
    fill[NEXT, level] = 0
    fill[CURSOR, level] = CLOSED
    child = steps[level, CHILD]
    if child >= 0 and steps[child, SPANS] > 0:
        first = steps[child, BACKWARD_BEGIN]
        look_up(backward[first], columns[level, backward[first, LEVEL]], spans[level, 0], spans[level, 1], count)
        if steps[child, SPANS] == 2:
            second = backward[first + 1]
            if steps[child, BACKWARD_END] - first == 1:
                second = absent[steps[child, ABSENT_BEGIN]]
            look_up(second, columns[level, second[LEVEL]], spans[level, 2], spans[level, 3], count)


@inlined
def inherit(steps, different, columns, products, product_sizes, level, made, modulus):  # type: ignore[no-untyped-def]
    """Completes the new partial matches of a block from those that they extend, and leaves out those without matches.

    columns[level, width + 1]: the partial match above that each extends. Returns how many are left.
    """
    above = steps[level, PARENT]
    width = len(steps)
    parents, own = columns[level, width + 1], columns[level, level]
    begin, end = steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]
    if steps[level, SPANS] > 0 and begin < end:
        kept = 0
        for index in range(made):
            vertex = vertex_at(steps, level, own[index])
            same = False
            for other in range(begin, end):
                column = different[other]
                same |= vertex_at(steps, column, columns[above, column, parents[index]]) == vertex
            own[kept], parents[kept] = own[index], parents[index]
            kept += not same
        made = kept
    if steps[level, FACTORS] != 0:
        kept = 0
        for index in range(made):
            factor, factor_size = factor_at(steps, level, own[index])
            products[level, kept] = products[above, parents[index]] * factor
            if modulus != 0:
                products[level, kept] %= modulus
            product_sizes[level, kept] = product_sizes[above, parents[index]] * factor_size
            own[kept], parents[kept] = own[index], parents[index]
            kept += factor_size != 0.0
        made = kept
    else:
        for index in range(made):
            products[level, index] = products[above, parents[index]]
            product_sizes[level, index] = product_sizes[above, parents[index]]
    for column in range(width + 1):
        if column == width or (column <= above and (steps[level, LIVE] >> column) & 1):
            source, target = columns[above, column], columns[level, column]
            for index in range(made):
                target[index] = source[parents[index]]
    return made


@inlined
def walk_rows(steps, backward, columns, spans, fill, level, left):  # type: ignore[no-untyped-def]
    """Extends partial matches along one row each, in which no neighbour is repeated and that needs no test but
    membership, until the block of `level` is full. Returns how many it made and the looks."""
    above = steps[level, PARENT]
    adjacency = backward[steps[level, BACKWARD_BEGIN]]
    values = adjacency[NEIGHBOURS]
    words = steps[level, WORDS] if steps[level, VERTICES] == 0 else np.int64(0)
    floor, ceiling = steps[level, CUT_BEGIN], steps[level, CUT_END]
    own, parents = columns[level, level], columns[level, len(steps) + 1]
    begins, ends = spans[above, 0], spans[above, 1]
    room = len(own)
    made, looks = 0, np.int64(0)
    index, cursor = fill[NEXT, above], fill[CURSOR, above]
    count = fill[COUNT, above]
    while index < count and looks < left:
        high = ends[index]
        if cursor == CLOSED:
            cursor = begins[index]
            if ceiling > 0 and high - cursor > _LONG:
                cursor = lower_bound(values, cursor, high, floor)
                high = lower_bound(values, cursor, high, ceiling)
                ends[index] = high
        looks += 1
        stop = min(high, cursor + room - made)
        looks += stop - cursor
        if words == 0 and ceiling == 0:
            for place in range(cursor, stop):
                own[made] = load_int32(values, place)
                parents[made] = index
                made += 1
        else:
            for place in range(cursor, stop):
                position = load_int32(values, place)
                own[made], parents[made] = position, index
                inside = ceiling == 0 or (position >= floor and position < ceiling)
                if inside and words != 0:
                    inside = has_bit(words, position)
                made += inside
        cursor = stop
        if cursor < high:
            break
        index += 1
        cursor = np.int64(CLOSED)
    fill[NEXT, above], fill[CURSOR, above] = index, cursor
    return made, looks


@inlined
def add(sums, sizes, origin, product, size, modulus):  # type: ignore[no-untyped-def]
    """Adds matches to the sum of a given row."""
    if modulus != 0:
        product = (product % modulus + sums[origin]) % modulus
        sums[origin] = 0
    sums[origin] += product
    sizes[origin] += size


@inlined
def count_pairs(  # type: ignore[no-untyped-def]
    steps,
    backward,
    smaller,
    different,
    absent,
    columns,
    products,
    product_sizes,
    spans,
    level,
    index,
    vertices,
    sums,
    sizes,
    marks,
    marked,
    modulus,
    state,
    count,
):
    """The leaf below `level` for its partial matches from `index` on: what two rows have in common, or one has without
    the other. Goes on while the budget state[LEFT] lasts; returns the first that is left."""
    child = steps[level, CHILD]
    begin = steps[child, BACKWARD_BEGIN]
    missing = steps[child, BACKWARD_END] - begin == 1
    first = backward[begin]
    second = absent[steps[child, ABSENT_BEGIN]] if missing else backward[begin + 1]
    # The row of the shallower vertex stays for many partial matches, perhaps as a bitset.
    moves = first[LEVEL] > second[LEVEL]
    moving, kept = (first, second) if moves else (second, first)
    moving_span, kept_span = (0, 2) if moves else (2, 0)
    moving_values, kept_values = moving[NEIGHBOURS], kept[NEIGHBOURS]
    owners, movers = columns[level, kept[LEVEL]], columns[level, moving[LEVEL]]
    dense = moving[MATRIX] != 0 and kept[MATRIX] != 0
    matrix_words = (moving[MATRIX_END] - moving[MATRIX_BEGIN]) >> 6
    words = steps[child, WORDS] if steps[child, VERTICES] == 0 else np.int64(0)
    cut, ceiling = steps[child, CUT_BEGIN], steps[child, CUT_END]
    ordered = steps[child, SMALLER_BEGIN] < steps[child, SMALLER_END]
    distinct = steps[child, DIFFERENT_BEGIN] < steps[child, DIFFERENT_END]
    origins = columns[level, len(steps)]
    left = state[LEFT]
    while index < count and left > 0:
        left -= 1
        low, high = spans[level, moving_span, index], spans[level, moving_span + 1, index]
        kept_low, kept_high = spans[level, kept_span, index], spans[level, kept_span + 1, index]
        bits = np.int64(0)
        if low < high:
            bits = bits_of(kept, np.int64(owners[index]), kept_high - kept_low, high - low, marks, marked)
        floor = cut
        if ordered:
            for place in range(steps[child, SMALLER_BEGIN], steps[child, SMALLER_END]):
                earlier = smaller[place]
                vertices[earlier] = vertex_at(steps, earlier, columns[level, earlier, index])
            floor = floor_of(steps, smaller, child, vertices)
        if floor > 0:
            low = lower_bound(moving_values, low, high, floor)
            if bits == 0 or missing:
                kept_low = lower_bound(kept_values, kept_low, kept_high, floor)
        if ceiling > 0:
            high = lower_bound(moving_values, low, high, ceiling)
            if bits == 0 or missing:
                kept_high = lower_bound(kept_values, kept_low, kept_high, ceiling)
        shorter = min(high - low, kept_high - kept_low)
        if dense and 2 * matrix_words < high - low:
            left -= matrix_words
            mover = np.int64(movers[index])
            found = count_both(
                bits_of(moving, mover, high - low, shorter, marks, marked),
                bits,
                words,
                max(floor, moving[MATRIX_BEGIN]),
                min(ceiling, moving[MATRIX_END]) if ceiling > 0 else moving[MATRIX_END],
            )
        elif bits == 0 and kept_high - kept_low < high - low:
            left -= kept_high - kept_low
            found = common_size(kept_values, kept_low, kept_high, np.int64(0), moving_values, low, high, words)
        else:
            left -= high - low
            found = common_size(moving_values, low, high, bits, kept_values, kept_low, kept_high, words)
        if missing and moves:
            found = high - low - found
        elif missing:
            found = kept_high - kept_low - found
        if distinct and found > 0:
            earlier = different[steps[child, DIFFERENT_BEGIN]]
            vertex = vertex_at(steps, earlier, columns[level, earlier, index])
            if steps[child, WORDS] == 0 or has_bit(steps[child, WORDS], vertex):
                other = np.int64(vertex)
                if steps[child, VERTICES] != 0:
                    other = rank(steps[child, WORDS], steps[child, RANKS], vertex)
                inside = contains(moving_values, low, high, other)
                if not missing and bits != 0:
                    outside = inside and has_bit(bits, other)
                else:
                    outside = contains(kept_values, kept_low, kept_high, other)
                if not missing:
                    found -= inside and outside
                elif moves:
                    found -= inside and not outside
                else:
                    found -= outside and not inside
        product = products[level, index] * np.uint64(found)
        add(sums, sizes, origins[index], product, product_sizes[level, index] * found, modulus)
        index += 1
    state[LEFT] = left
    return index


@kernel
def sweep(  # type: ignore[no-untyped-def]
    plan,
    work,
    matched,
    columns,
    products,
    product_sizes,
    spans,
    fill,
    given,
    sums,
    sizes,
    marks,
    marked,
    start,
    modulus,
    budget,
):
    """One slice, as `total` does it: fills `sums` uint64[] and `sizes` float64[] for the rows of `given` int32[start,
    rows].

    The blocks, by level: columns int32[width, width + 2, room], the positions of the levels above, the row of `given`
    and the partial match above; products uint64[width, room], product_sizes float64[width, room]; spans int64[width, 4,
    room]; fill int64[3, width]. marks: address of uint64[]; marked int64[*, 3]: see `marks.py`.
    """
    steps = table_of(plan, STEPS, STEP_COLUMNS)
    backward = table_of(plan, BACKWARD, ADJACENCY_COLUMNS)
    different = column_of(plan, DIFFERENT)
    smaller = column_of(plan, SMALLER)
    pairs = table_of(plan, PAIRS, 4)
    compare = table_of(plan, COMPARE, 5)
    absent = table_of(plan, ABSENT, ADJACENCY_COLUMNS)
    choices = table_of(plan, CHOICES, CHOICE_COLUMNS)
    collides = column_of(plan, COLLIDES)
    positions, vertices = matched[0], matched[1]
    width, rows = len(steps), len(backward)
    state = work[: STATE_SLOTS + width]
    pivots, last = levels_of(work, width, 0), levels_of(work, width, 1)
    begins, cursors = cursors_of(work, width, rows, 0), cursors_of(work, width, rows, 1)
    ends, bitsets = cursors_of(work, width, rows, 2), cursors_of(work, width, rows, 3)
    scratch = scratch_of(work, width, rows, len(choices))
    room = columns.shape[2]
    top = start - 1
    depth = state[DEPTH]
    status = MORE
    while budget > 0:
        if depth < top:
            state[ROW] = state[TAKEN]
            if state[TAKEN] >= state[ROW_END]:
                status = DONE
                break
            made = 0
            while made < room and state[TAKEN] < state[ROW_END]:
                load_row(steps, given, state[TAKEN], start, positions, vertices)
                product, size = own_matches(steps, choices, collides, start, modulus, positions, scratch)
                for column in range(start):
                    columns[top, column, made] = given[column, state[TAKEN]]
                columns[top, width, made] = state[TAKEN]
                products[top, made] = product
                product_sizes[top, made] = size
                made += size != 0.0
                state[TAKEN] += 1
            budget -= made + 1
            open_block(steps, backward, absent, columns, spans, fill, top, made)
            depth = np.int64(top)
        count = fill[COUNT, depth]
        if fill[NEXT, depth] == count:
            depth = steps[depth, PARENT] if depth > top else np.int64(-1)
            continue
        child = steps[depth, CHILD]
        if child >= 0 and steps[child, SET_COUNT] == 0:
            made = 0
            if steps[child, SPANS] == 1:
                made, looks = walk_rows(steps, backward, columns, spans, fill, child, budget)
                budget -= looks
            else:
                index = fill[NEXT, depth]
                own, parents = columns[child, child], columns[child, width + 1]
                while index < count and budget > 0 and made < room:
                    load_partial(steps, columns, depth, index, positions, vertices)
                    if fill[CURSOR, depth] == CLOSED:
                        open_level(
                            steps,
                            backward,
                            smaller,
                            child,
                            positions,
                            vertices,
                            begins,
                            cursors,
                            ends,
                            bitsets,
                            pivots,
                            last,
                            marks,
                            marked,
                        )
                        fill[CURSOR, depth] = 0
                    position = np.int64(0)
                    while made < room:
                        budget -= 1
                        position = next_common(steps, backward, child, cursors, ends, bitsets, pivots, last)
                        if position < 0:
                            break
                        if accepts(
                            steps,
                            different,
                            pairs,
                            compare,
                            absent,
                            child,
                            position,
                            vertex_at(steps, child, position),
                            positions,
                            vertices,
                            marks,
                            marked,
                        ):
                            own[made], parents[made] = position, index
                            made += 1
                    if position < 0:
                        index += 1
                        fill[CURSOR, depth] = CLOSED
                fill[NEXT, depth] = index
            state[STATE_SLOTS + child] += made
            made = inherit(steps, different, columns, products, product_sizes, child, made, modulus)
            if made > 0:
                open_block(steps, backward, absent, columns, spans, fill, child, made)
                depth = child
            continue
        origins = columns[depth, width]
        index = fill[NEXT, depth]
        if child < 0:
            while index < count:
                add(sums, sizes, origins[index], products[depth, index], product_sizes[depth, index], modulus)
                index += 1
            budget -= count
        elif steps[child, SPANS] == 1:
            while index < count:
                length = spans[depth, 1, index] - spans[depth, 0, index]
                product = products[depth, index] * np.uint64(length)
                size = product_sizes[depth, index] * length
                add(sums, sizes, origins[index], product, size, modulus)
                index += 1
            budget -= count
        elif steps[child, SPANS] == 2:
            state[LEFT] = budget
            index = count_pairs(
                steps,
                backward,
                smaller,
                different,
                absent,
                columns,
                products,
                product_sizes,
                spans,
                depth,
                index,
                vertices,
                sums,
                sizes,
                marks,
                marked,
                modulus,
                state,
                count,
            )
            budget = state[LEFT]
        else:
            while index < count and budget > 0:
                load_partial(steps, columns, depth, index, positions, vertices)
                found, looks = leaf_size(
                    steps,
                    backward,
                    smaller,
                    different,
                    absent,
                    child,
                    positions,
                    vertices,
                    begins,
                    cursors,
                    ends,
                    bitsets,
                    pivots,
                    last,
                    marks,
                    marked,
                )
                budget -= looks
                product = products[depth, index] * np.uint64(found)
                size = product_sizes[depth, index] * found
                add(sums, sizes, origins[index], product, size, modulus)
                index += 1
        fill[NEXT, depth] = index
    state[DEPTH] = depth
    state[STATUS] = status
