// Candidate sets and candidate edges. `among` says which vertices at the other end count, null when all do; a set is
// told by a word for every vertex of its universe.

const int LONG = 512;    // entries from which on a row is a whole block's
const int AT_ONCE = 4;   // entries that a lane looks at before it looks at what it has found

// Copies bytes; null stands for zeros.
struct Copy {
    const byte *from;
    byte *to;
    int64 bytes;
};

APART void perform(const Copy &asked, int64 *) {
    int64 words = asked.bytes / 8;
    const uint64 *from = reinterpret_cast<const uint64 *>(asked.from);
    uint64 *to = reinterpret_cast<uint64 *>(asked.to);
    for (int64 i = thread(); i < words; i += threads()) to[i] = from ? from[i] : 0;
    for (int64 i = 8 * words + thread(); i < asked.bytes; i += threads()) asked.to[i] = asked.from ? asked.from[i] : 0;
}

// Members of `to` become those of some vertices that are members of `from`; `left` counts them.
struct Keep {
    const int *vertices;
    int64 count;
    const byte *from;
    byte *to;
    int64 *left;
};

APART void perform(const Keep &asked, int64 *registers) {
    int64 left = 0;
    for (int64 i = thread(); i < registers[asked.count]; i += threads()) {
        int vertex = asked.vertices[i];
        if (!asked.from || asked.from[vertex]) {
            asked.to[vertex] = 1;
            left++;
        }
    }
    add_of_block(left, asked.left);
}

// Some vertices with the rows of an adjacency.
struct RowsOf {
    const int *vertices;
    int64 count;
    int64 first, rows;
    const int64 *offsets;
    const int *neighbours;
    const byte *among;

    INNER_MEMBER Range row(int vertex) const { return row_of(Rows{0, first, rows, offsets, neighbours}, vertex); }
    INNER_MEMBER bool counts(int64 at, int64 end) const { return at < end && (!among || among[neighbours[at]]); }
};

// Calls `group(index, row)` for the short rows, by a group of lanes each, and `block(index, row)` for the long ones.
template <typename Group, typename Block>
INNER void each_row(const RowsOf &asked, const byte *member, const int64 *registers, Group group, Block block) {
    int64 count = registers[asked.count];
    for (int64 i = thread() / GROUP; i < count; i += threads() / GROUP) {
        int vertex = asked.vertices[i];
        if (member && !member[vertex]) continue;
        Range row = asked.row(vertex);
        if (row.end - row.begin < LONG) group(i, vertex, row);
    }
    __shared__ int64 found[BLOCK];
    __shared__ int number;
    for (int64 tile = 0; tile < count; tile += threads()) {
        __syncthreads();
        if (threadIdx.x == 0) number = 0;
        __syncthreads();
        // Neighbouring vertices go to different blocks: the long rows are often side by side.
        int64 i = tile + int64(threadIdx.x) * gridDim.x + blockIdx.x;
        if (i < count && (!member || seen_now(member + asked.vertices[i]))) {
            Range row = asked.row(asked.vertices[i]);
            if (row.end - row.begin >= LONG) found[atomicAdd(&number, 1)] = i;
        }
        __syncthreads();
        for (int k = 0; k < number; k++) {
            int vertex = asked.vertices[found[k]];
            block(found[k], vertex, asked.row(vertex));
        }
    }
}

// How many entries of a row count, up to `enough` and a few more.
INNER int64 counted_by_group(const RowsOf &asked, Range row, int64 enough) {
    int64 found = 0;
    for (int64 begin = row.begin; begin < row.end && found < enough; begin += AT_ONCE * GROUP) {
        bool counts[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++) counts[k] = asked.counts(begin + k * GROUP + group_lane(), row.end);
        for (int k = 0; k < AT_ONCE; k++) found += in_all(in_group(counts[k]));
    }
    return found;
}

INNER int64 counted_by_block(const RowsOf &asked, Range row, int64 enough) {
    int64 found = 0;
    for (int64 begin = row.begin; begin < row.end && found < enough; begin += AT_ONCE * BLOCK) {
        int own = 0;
        for (int k = 0; k < AT_ONCE; k++) own += asked.counts(begin + k * BLOCK + threadIdx.x, row.end);
        found += sum_of_block(own);
    }
    return found;
}

const int64 WHOLE_ROW = 1LL << 62;

// Takes out of `member` the vertices with fewer than `required` entries that count; `removed` is how many more.
struct Narrow {
    RowsOf rows;
    int64 required;
    byte *member;
    int64 *removed;
};

APART void perform(const Narrow &asked, int64 *registers) {
    int64 removed = 0;
    auto narrowed = [&](int vertex, int64 found, bool first) {
        if (first && found < asked.required) {
            asked.member[vertex] = 0;
            removed++;
        }
    };
    each_row(
        asked.rows, asked.member, registers,
        [&](int64, int vertex, Range row) {
            narrowed(vertex, counted_by_group(asked.rows, row, asked.required), group_lane() == 0);
        },
        [&](int64, int vertex, Range row) {
            narrowed(vertex, counted_by_block(asked.rows, row, asked.required), threadIdx.x == 0);
        }
    );
    add_of_block(removed, asked.removed);
}

// Takes out of `member` the vertices with an edge to themselves, or those without.
struct KeepLoops {
    RowsOf rows;
    int64 present;
    byte *member;
    int64 *removed;
};

APART void perform(const KeepLoops &asked, int64 *registers) {
    const RowsOf &rows = asked.rows;
    Rows adjacency{0, rows.first, rows.rows, rows.offsets, rows.neighbours};
    int64 removed = 0;
    for (int64 i = thread(); i < registers[rows.count]; i += threads()) {
        int vertex = rows.vertices[i];
        if (asked.member[vertex] && contains(adjacency, vertex, vertex) != bool(asked.present)) {
            asked.member[vertex] = 0;
            removed++;
        }
    }
    add_of_block(removed, asked.removed);
}

// Counts the entries that count: offsets[i + 1] those of vertex i alone, with offsets[0] = 0, where there are offsets;
// `total` all of them, where there is a total. Only vertices that are members have any.
struct CountEntries {
    RowsOf rows;
    const byte *member;
    int64 *offsets, *total;
};

APART void perform(const CountEntries &asked, int64 *registers) {
    int64 sum = 0;
    auto counted = [&](int64 i, int64 found, bool first) {
        if (!first) return;
        if (asked.offsets) asked.offsets[i + 1] = found;
        sum += found;
    };
    each_row(
        asked.rows, asked.member, registers,
        [&](int64 i, int, Range row) { counted(i, counted_by_group(asked.rows, row, WHOLE_ROW), group_lane() == 0); },
        [&](int64 i, int, Range row) { counted(i, counted_by_block(asked.rows, row, WHOLE_ROW), threadIdx.x == 0); }
    );
    if (asked.offsets && thread() == 0) asked.offsets[0] = 0;
    if (asked.total) add_of_block(sum, asked.total);
}

// The same entries as positions, in their order, from offsets[i] on. through: one more than the position of each, null
// where positions are vertices.
struct WriteEntries {
    RowsOf rows;
    const int64 *through, *offsets;
    int *entries;
};

APART void perform(const WriteEntries &asked, int64 *registers) {
    const RowsOf &rows = asked.rows;
    auto write = [&](int64 place, int64 at) {
        int neighbour = rows.neighbours[at];
        asked.entries[place] = asked.through ? int(asked.through[neighbour]) - 1 : neighbour;
    };
    each_row(
        rows, nullptr, registers,
        [&](int64 i, int, Range row) {
            int64 place = asked.offsets[i];
            for (int64 begin = row.begin; begin < row.end; begin += GROUP) {
                int64 at = begin + group_lane();
                bool inside = rows.counts(at, row.end);
                unsigned found = in_group(inside);
                if (inside) write(place + before_in_group(found), at);
                place += in_all(found);
            }
        },
        [&](int64 i, int, Range row) {
            int64 place = asked.offsets[i], sum;
            for (int64 begin = row.begin; begin < row.end; begin += BLOCK) {
                int64 at = begin + threadIdx.x;
                bool inside = rows.counts(at, row.end);
                int64 before = place + sum_before(inside, sum);
                if (inside) write(before, at);
                place += sum;
            }
        }
    );
}
