// Level by level: every partial match of a block is extended by every vertex of its shortest row that passes the tests.
// A lane tries one vertex of one partial match, so that short rows waste no lanes: what gMatch packs inside a warp
// (section 4.2), for a whole block of partial matches. `ends` is the running sum of the rows' lengths; where an item is
// in it says which partial match the item belongs to.

const int TILE = 4 * BLOCK;         // items that a block takes at a time, at most
const int TURNS = TILE / BLOCK;
const int ROWS_AT_HAND = 4 * BLOCK;  // of a tile, whose ends are kept near

// What a warp has found and not written yet: the number that all of them add to is asked for some at a time.
const int QUEUED = 4 * WARP;

struct Queued {
    int rows[QUEUED], positions[QUEUED];
};

struct ItemsAtHand {
    int ends[ROWS_AT_HAND];
    Queued of_warp[WARPS];
};

// A block of partial matches: columns as in `Frontier`; offset, count: registers.
struct Given {
    const int *columns;
    int64 stride, offset, count;

    INNER_MEMBER Frontier now(const int64 *registers) const {
        return Frontier{columns, stride, registers[offset], registers[count]};
    }
};

// A level, and the partial matches that it is asked of.
struct Asked {
    const Program *program;
    int64 index;
    Given given;

    INNER_MEMBER const Level &level() const { return program->levels[index]; }
};

// The shortest row of each: where it begins, and which one it is. ranges: all rows of each, row by row, where there are
// several.
struct Work {
    int64 *begins;
    byte *which;
    int64 *ends;
    Range *ranges;
    int64 stride;

    INNER_MEMBER Range *at(int64 row) const { return ranges ? ranges + row : nullptr; }
};

// Finds the rows; ends[i] is the length of row i, and partials[b] what the lengths in a block's share add up to. Where
// there are sums, those of the partial matches become zero.
struct MeasureRows {
    Asked asked;
    Work work;
    int64 *partials;
    uint64 *sums;
    double *sizes;
};

APART void perform(const MeasureRows &measure, int64 *registers) {
    const Level &level = measure.asked.level();
    Frontier frontier = measure.asked.given.now(registers);
    Share share = share_of(frontier.count);
    int64 sum = 0;
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Match match{*measure.asked.program, frontier, level.given, row, level.index, 0};
        Walk walk = shortest_of(level, match, measure.work.at(row), measure.work.stride);
        measure.work.begins[row] = walk.begin;
        measure.work.which[row] = byte(walk.index);
        measure.work.ends[row] = walk.end - walk.begin;
        sum += walk.end - walk.begin;
        if (measure.sums) measure.sums[row] = 0;
        if (measure.sizes) measure.sizes[row] = 0;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) measure.partials[blockIdx.x] = sum;
}

// Which of the items are tried: registers.
struct Items {
    int64 first, last;
};

struct Item {
    int row;
    int walked;
    int position;
};

INNER Item item_of(const Level &level, const Work &work, int64 item, int64 row) {
    int walked = work.which[row];
    int64 at = work.begins[row] + item - (row ? work.ends[row - 1] : 0);
    return Item{int(row), walked, Walk{0, 0, walked}.position(level, at)};
}

// So many that all blocks have some, where there are few.
INNER int64 tile_of(int64 items) {
    int64 own = (items + gridDim.x - 1) / gridDim.x, even = (own + BLOCK - 1) / BLOCK * BLOCK;
    return even < TILE ? even : TILE;
}

// Where the items of a tile are: in the rows from `low` to `high`, `at_hand` of which have their ends near.
struct Tile {
    const int64 *ends;
    const int *near;
    int64 begin, end, low, high;
    int at_hand;

    INNER_MEMBER int64 row_of(int64 item) const {
        if (at_hand) return low + first_above(near, 0, at_hand, int(item - begin));
        return first_above(ends, low, high, item);
    }

    // The item that a thread has in one of its turns; the last ones may be behind the end, where they are none.
    INNER_MEMBER int64 item(int turn) const { return begin + turn * BLOCK + threadIdx.x; }
    INNER_MEMBER int64 valid_item(int turn) const { return item(turn) < end ? item(turn) : end - 1; }
};

// The rows and positions of a thread's items of a tile, at a level where all pass. What is read for one turn waits for
// nothing that is read for another.
struct TileItems {
    int rows[TURNS], positions[TURNS];

    INNER_MEMBER void find(const Level &level, const Work &work, const Tile &tile) {
        const int *entries = level.backward_count ? level.backward->neighbours : level.candidates;
        int64 begins[TURNS];
        int within[TURNS];
        UNROLLED
        for (int k = 0; k < TURNS; k++) rows[k] = int(tile.row_of(tile.valid_item(k)));
        UNROLLED
        for (int k = 0; k < TURNS; k++) begins[k] = work.ends[rows[k] ? rows[k] - 1 : 0];
        UNROLLED
        for (int k = 0; k < TURNS; k++) within[k] = int(tile.valid_item(k) - (rows[k] ? begins[k] : 0));
        UNROLLED
        for (int k = 0; k < TURNS; k++) begins[k] = work.begins[rows[k]];
        UNROLLED
        for (int k = 0; k < TURNS; k++) begins[k] += within[k];
        UNROLLED
        for (int k = 0; k < TURNS; k++) positions[k] = entries ? entries[begins[k]] : int(begins[k]);
    }
};

// Writes what a thread has found for its items of a tile, each to its place behind the one before. first: the item that
// is written first of all.
template <typename Value>
INNER void write_items(const Tile &tile, int64 first, const Value *found, Value *out) {
    UNROLLED
    for (int k = 0; k < TURNS; k++)
        if (tile.item(k) < tile.end) out[tile.item(k) - first] = found[k];
}

// The row that an item is in, by all lanes of a warp together. low: one that is not behind it; near: whether it is most
// often among the first from there on.
INNER int64 row_behind(const int64 *ends, int64 low, int64 count, int64 item, bool near_by) {
    int64 near = near_by && low + ROWS_AT_HAND < count ? low + ROWS_AT_HAND : count;
    int64 found = first_above_together(ends, low, near, item);
    return found < near ? found : first_above_together(ends, near, count, item);
}

// Calls `each(tile)` for all items, by all threads of a block at once. IN_ORDER: a block's tiles lie side by side, where
// each begins in the row that the one before ends in; else in turns with other blocks', so that all have as much to do
// where some items take longer.
template <bool IN_ORDER, typename Each>
INNER void each_tile(const Work &work, int64 count, int64 first, int64 last, Each each) {
    __shared__ int64 low, high;
    if (first >= last) return;
    int *ends = at_desk<ItemsAtHand>().ends;  // after the first item of the tile
    int64 size = tile_of(last - first), begin = first + blockIdx.x * size, behind = last;
    if (IN_ORDER) {
        int64 own = ((last - first + size - 1) / size + gridDim.x - 1) / gridDim.x * size;
        begin = first + blockIdx.x * own;
        behind = begin + own < last ? begin + own : last;
        if (threadIdx.x == 0) high = 0;
    }
    for (; begin < behind; begin += IN_ORDER ? size : gridDim.x * size) {
        int64 end = begin + size < behind ? begin + size : behind;
        __syncthreads();
        int64 row = IN_ORDER ? high : 0;
        if (IN_ORDER) __syncthreads();
        if (threadIdx.x < WARP) low = row_behind(work.ends, row, count, begin, IN_ORDER && row);
        if (threadIdx.x >= BLOCK - WARP) high = row_behind(work.ends, row, count, end - 1, IN_ORDER && row);
        __syncthreads();
        int rows = high - low < ROWS_AT_HAND ? int(high - low) : 0;
        for (int i = threadIdx.x; i < rows; i += BLOCK) ends[i] = int(work.ends[low + i] - begin);
        __syncthreads();
        each(Tile{work.ends, ends, begin, end, low, high, rows});
    }
}

// Calls `each(match, passed)` for all items, by all lanes of a warp at once; `passed` is false past the last.
template <typename Each>
INNER void try_all(const Asked &asked, const Work &work, const Items &items, const int64 *registers, Each each) {
    const Level &level = asked.level();
    const bool all_pass = passes_all(level);
    Frontier frontier = asked.given.now(registers);
    each_tile<false>(work, frontier.count, registers[items.first], registers[items.last], [&](const Tile &tile) {
        for (int64 begin = tile.begin; begin < tile.end; begin += BLOCK) {
            int64 item = begin + threadIdx.x;
            Item found{int(tile.high), 0, 0};
            if (item < tile.end) found = item_of(level, work, item, tile.row_of(item));
            Match match{*asked.program, frontier, level.given, found.row, level.index, found.position};
            bool passed = item < tile.end;
            if (passed && !all_pass) passed = passes(level, match, found.walked, work.at(found.row), work.stride);
            each(match, passed);
        }
    });
}

// Writes what passes: the kept columns, the new position as the last of them, and the row that it is of; in the order of
// the items where nothing is asked of these, else in any. written: how many have been written, those of earlier pieces
// included, which are as many as the register `base` says.
struct Extend {
    Asked asked;
    Work work;
    Items items;
    int *out;
    int64 stride;
    int *parents;
    uint64 *written;
    int64 base;

    INNER_MEMBER void write(const Level &level, const Frontier &frontier, int row, int position, int64 place) const {
        for (int64 k = 0; k < level.kept_count; k++) out[k * stride + place] = frontier.at(level.kept[k], row);
        out[level.kept_count * stride + place] = position;
        parents[place] = row;
    }

    INNER_MEMBER void write_tile(const Level &level, const Frontier &frontier, const Tile &tile, int64 first) const {
        TileItems items;
        items.find(level, work, tile);
        write_items(tile, first, items.rows, parents);
        write_items(tile, first, items.positions, out + level.kept_count * stride);
        for (int64 i = 0; i < level.kept_count; i++) {
            int kept[TURNS];
            UNROLLED
            for (int k = 0; k < TURNS; k++) kept[k] = frontier.at(level.kept[i], items.rows[k]);
            write_items(tile, first, kept, out + i * stride);
        }
    }
};

// Hands what passes to `write(row, position, place)`, warp by warp: the places behind those that are taken already.
template <typename Write>
INNER void write_queued(const Queued &queued, int count, uint64 *written, int64 base, Write write) {
    uint64 place = 0;
    if (lane() == 0) place = atomicAdd(written, uint64(count));
    place = __shfl_sync(ALL, place, 0) - base;
    for (int i = lane(); i < count; i += WARP) write(queued.rows[i], queued.positions[i], place + i);
    __syncwarp();
}

template <typename Write>
INNER void write_passing(
    const Asked &asked, const Work &work, const Items &items, const int64 *registers, uint64 *written, int64 base,
    Write write
) {
    Queued &queued = at_desk<ItemsAtHand>().of_warp[threadIdx.x / WARP];
    int count = 0;
    try_all(asked, work, items, registers, [&](const Match &match, bool passed) {
        unsigned found = __ballot_sync(ALL, passed);
        if (!found) return;
        if (passed) {
            queued.rows[count + before(found)] = int(match.row);
            queued.positions[count + before(found)] = match.position;
        }
        count += in_all(found);
        __syncwarp();
        if (count <= QUEUED - WARP) return;
        write_queued(queued, count, written, base, write);
        count = 0;
    });
    if (count) write_queued(queued, count, written, base, write);
}

APART void perform(const Extend &extend, int64 *registers) {
    const Level &level = extend.asked.level();
    Frontier frontier = extend.asked.given.now(registers);
    if (!passes_all(level)) {
        write_passing(
            extend.asked, extend.work, extend.items, registers, extend.written, registers[extend.base],
            [&](int row, int position, int64 place) { extend.write(level, frontier, row, position, place); }
        );
        return;
    }
    int64 first = registers[extend.items.first], last = registers[extend.items.last];
    each_tile<true>(extend.work, frontier.count, first, last, [&](const Tile &tile) {
        extend.write_tile(level, frontier, tile, first);
    });
    if (thread() == 0) atomicAdd(extend.written, uint64(last - first));
}

// Counts what passes, for each partial match.
struct Count {
    Asked asked;
    Work work;
    Items items;
    uint64 *sums;
    uint64 *found;
};

APART void perform(const Count &count, int64 *registers) {
    int64 passing = 0;
    try_all(count.asked, count.work, count.items, registers, [&](const Match &match, bool passed) {
        unsigned found = __ballot_sync(ALL, passed);
        passing += passed;
        if (!found) return;
        int row = int(match.row), own = count_of_row(found, row);
        if (begins_row(row) && own) atomicAdd(count.sums + row, uint64(own));
    });
    add_of_block(passing, count.found);
}

// Adds up the product of the level's factors over what passes, for each partial match.
struct SumFactors {
    Asked asked;
    Work work;
    Items items;
    uint64 *sums;
    double *sizes;
    uint64 *found;
};

APART void perform(const SumFactors &count, int64 *registers, uint64 modulus) {
    const Level &level = count.asked.level();
    int64 passing = 0;
    try_all(count.asked, count.work, count.items, registers, [&](const Match &match, bool passed) {
        if (!__ballot_sync(ALL, passed)) return;
        passing += passed;
        int row = int(match.row);
        Sum sum{passed, double(passed)};
        if (passed) multiply_factors(level, match.position, modulus, sum);
        sum.value = sum_of_row(sum.value, row);
        sum.size = sum_of_row(sum.size, row);
        if (begins_row(row) && sum.size > 0) {
            atomicAdd(count.sums + row, sum.value);
            atomicAdd(count.sizes + row, sum.size);
        }
    });
    add_of_block(passing, count.found);
}

// Counts the same for a level with one row and no other tests than that it differs from others: as many as the row is
// long.
struct CountRows {
    Asked asked;
    uint64 *sums;
    uint64 *found;
};

APART void perform(const CountRows &count, int64 *registers) {
    const Level &level = count.asked.level();
    Frontier frontier = count.asked.given.now(registers);
    Share share = share_of(frontier.count);
    int64 passing = 0;
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Match match{*count.asked.program, frontier, level.given, row, level.index, 0};
        Walk walk = shortest_of(level, match);
        int64 length = walk.end - walk.begin;
        for (int64 i = 0; i < level.different_count; i++) {
            int other = match.vertex(level.different[i]);
            bool seen = false;
            for (int64 k = 0; k < i; k++) seen |= match.vertex(level.different[k]) == other;
            length -= !seen && walk.holds(level, match, other);
        }
        count.sums[row] = length;
        passing += length;
    }
    add_of_block(passing, count.found);
}
