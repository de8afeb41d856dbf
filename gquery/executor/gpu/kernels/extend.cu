// Level by level: every partial match of a block is extended by every vertex of its shortest row that passes the tests.
// A lane tries one vertex of one partial match, so that short rows waste no lanes: what gMatch packs inside a warp
// (section 4.2), for a whole block of partial matches. `ends` is the running sum of the rows' lengths; where an item is
// in it says which partial match the item belongs to.

const int NO_ROW = 255;
const int TILE = 8 * BLOCK;  // items that a block takes at a time

// For each partial match the shortest of its rows: which one, where it begins, and how long it is.
KERNEL measure_rows(
    const Program *program, int64 index, const int *columns, int64 stride, int64 count, int64 *begins, byte *which,
    int64 *lengths
) {
    const Level &level = program->levels[index];
    for (int64 row = thread(); row < count; row += threads()) {
        Match match{*program, Frontier{columns, stride}, level.given, row, index, 0};
        Range shortest{0, level.candidate_count};
        int walked = NO_ROW;
        for (int i = 0; i < level.backward_count; i++) {
            Range range = row_of(level.backward[i], match.at(level.backward[i].level));
            if (walked == NO_ROW || range.end - range.begin < shortest.end - shortest.begin) {
                shortest = range;
                walked = i;
            }
        }
        begins[row] = shortest.begin;
        which[row] = byte(walked);
        lengths[row] = shortest.end - shortest.begin;
    }
}

// What is to be extended: those of the items [first, last) of the rows that `measure_rows` found which there are.
struct Work {
    const int64 *begins;
    const byte *which;
    const int64 *ends;
    int64 count, first, last;
};

struct Item {
    int row;
    int walked;
    int position;
};

INNER Item item_of(const Level &level, const Work &work, int64 item, Range among) {
    int64 row = first_above(work.ends, among.begin, among.end, item);
    int64 at = work.begins[row] + item - (row ? work.ends[row - 1] : 0);
    int walked = work.which[row];
    if (walked != NO_ROW) return Item{int(row), walked, level.backward[walked].neighbours[at]};
    return Item{int(row), walked, level.candidates ? level.candidates[at] : int(at)};
}

// Calls `each(match, passed)` for all items, by all lanes of a warp at once; `passed` is false past the last.
template <typename Each>
INNER void try_all(const Program *program, int64 index, Frontier frontier, const Work &work, Each each) {
    const Level &level = program->levels[index];
    __shared__ int64 low, high;
    int64 total = work.ends[work.count - 1], last = work.last < total ? work.last : total;
    for (int64 tile = work.first + int64(blockIdx.x) * TILE; tile < last; tile += int64(gridDim.x) * TILE) {
        int64 end = tile + TILE < last ? tile + TILE : last;
        __syncthreads();
        if (threadIdx.x == 0) low = first_above(work.ends, int64(0), work.count, tile);
        if (threadIdx.x == BLOCK - 1) high = first_above(work.ends, int64(0), work.count, end - 1);
        __syncthreads();
        for (int64 begin = tile; begin < end; begin += BLOCK) {
            int64 item = begin + threadIdx.x;
            Item found{int(high), 0, 0};
            if (item < end) found = item_of(level, work, item, Range{low, high});
            Match match{*program, frontier, level.given, found.row, index, found.position};
            each(match, item < end && passes(level, match, found.walked));
        }
    }
}

// Writes what passes, in any order: the kept columns, the new position as the last of them, and the row that it is of.
KERNEL extend(
    const Program *program, int64 index, const int *columns, int64 stride, const int64 *begins, const byte *which,
    const int64 *ends, int64 count, int64 first, int64 last, int *out, int64 out_stride, int *parents, uint64 *written
) {
    const Level &level = program->levels[index];
    Frontier frontier{columns, stride};
    try_all(program, index, frontier, Work{begins, which, ends, count, first, last}, [&](const Match &match, bool passed) {
        unsigned found = __ballot_sync(ALL, passed);
        if (!found) return;
        uint64 place = 0;
        if (lane() == 0) place = atomicAdd(written, uint64(in_all(found)));
        place = __shfl_sync(ALL, place, 0) + before(found);
        if (!passed) return;
        for (int64 i = 0; i < level.kept_count; i++) out[i * out_stride + place] = columns[level.kept[i] * stride + match.row];
        out[level.kept_count * out_stride + place] = match.position;
        parents[place] = int(match.row);
    });
}

// Adds up what passes, for each partial match: its number, or the product of the level's factors and weights. scratch:
// for the weights, five words for each choice and thread.
KERNEL count(
    const Program *program, int64 index, const int *columns, int64 stride, const int64 *begins, const byte *which,
    const int64 *ends, int64 count, int64 first, int64 last, uint64 modulus, int64 *scratch, uint64 *sums, double *sizes,
    uint64 *found
) {
    const Level &level = program->levels[index];
    Frontier frontier{columns, stride};
    uint64 passing = 0;
    try_all(program, index, frontier, Work{begins, which, ends, count, first, last}, [&](const Match &match, bool passed) {
        unsigned mask = __ballot_sync(ALL, passed);
        passing += lane() == 0 ? in_all(mask) : 0;
        if (!mask) return;
        Sum sum{passed, double(passed)};
        if (passed) {
            multiply_factors(level, match.position, modulus, sum);
            if (level.weights < level.weights_end) multiply_weights(level, match, modulus, scratch, sum);
        }
        sum.value = sum_of_row(sum.value, int(match.row));
        sum.size = sum_of_row(sum.size, int(match.row));
        if (begins_row(int(match.row)) && sum.size > 0) {
            atomicAdd(sums + match.row, sum.value);
            atomicAdd(sizes + match.row, sum.size);
        }
    });
    if (passing) atomicAdd(found, passing);
}
