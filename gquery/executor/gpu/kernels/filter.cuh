// Candidate sets and candidate edges. `among` says which vertices at the other end count, null when all do; a set is
// told by a word for every vertex of its universe.

const int MIDDLE = 64;   // entries from which on a row is a warp's rather than a few lanes'
const int LONG = 4096;   // and from which on it is a block's
const int AT_ONCE = 4;   // entries that a thread looks at before it looks at what others have found

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
    uint64 *left;
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

// Calls `each(team, index, vertex, row)` for every row, by as many threads as its length asks for.
template <typename Each>
INNER void each_row(const RowsOf &asked, const byte *member, const int64 *registers, Each each) {
    int64 count = registers[asked.count];
    for (int64 i = thread() / GROUP; i < count; i += threads() / GROUP) {
        int vertex = asked.vertices[i];
        if (member && !seen_now(member + vertex)) continue;
        Range row = asked.row(vertex);
        if (row.end - row.begin < MIDDLE) each(Lanes<GROUP>(), i, vertex, row);
    }
    __syncwarp();
    __shared__ int64 found[BLOCK];
    __shared__ int number;
    for (int64 tile = 0; tile < count; tile += threads()) {
        __syncthreads();
        if (threadIdx.x == 0) number = 0;
        __syncthreads();
        // Neighbouring vertices go to different warps: the long rows are often side by side.
        int64 i = tile + lane() * (threads() / WARP) + thread() / WARP;
        bool own = i < count && (!member || seen_now(member + asked.vertices[i]));
        int vertex = own ? asked.vertices[i] : 0;
        Range row = own ? asked.row(vertex) : Range{0, 0};
        if (row.end - row.begin >= LONG) found[atomicAdd(&number, 1)] = i;
        unsigned middle = __ballot_sync(ALL, row.end - row.begin >= MIDDLE && row.end - row.begin < LONG);
        for (; middle; middle &= middle - 1) {
            int from = __ffs(middle) - 1;
            Range its{__shfl_sync(ALL, row.begin, from), __shfl_sync(ALL, row.end, from)};
            each(Lanes<WARP>(), __shfl_sync(ALL, i, from), __shfl_sync(ALL, vertex, from), its);
        }
        __syncthreads();
        for (int k = 0; k < number; k++) each(Block(), found[k], asked.vertices[found[k]], asked.row(asked.vertices[found[k]]));
    }
}

// How many entries of a row count, up to `enough` and a few more.
template <typename Team>
INNER int64 counted(const Team &team, const RowsOf &asked, Range row, int64 enough) {
    int64 found = 0;
    for (int64 begin = row.begin; begin < row.end && found < enough; begin += AT_ONCE * Team::SIZE) {
        int own = 0;
        for (int k = 0; k < AT_ONCE; k++) own += asked.counts(begin + k * Team::SIZE + team.member(), row.end);
        found += team.sum(own);
    }
    return found;
}

const int64 WHOLE_ROW = 1LL << 62;

// Takes out of `member` the vertices with fewer than `required` entries that count; `removed` is how many more.
struct Narrow {
    RowsOf rows;
    int64 required;
    byte *member;
    uint64 *removed;
};

APART void perform(const Narrow &asked, int64 *registers) {
    int64 removed = 0;
    each_row(asked.rows, asked.member, registers, [&](auto team, int64, int vertex, Range row) {
        int64 found = counted(team, asked.rows, row, asked.required);
        if (team.member() == 0 && found < asked.required) {
            asked.member[vertex] = 0;
            removed++;
        }
    });
    add_of_block(removed, asked.removed);
}

// Takes out of `member` the vertices with an edge to themselves, or those without.
struct KeepLoops {
    RowsOf rows;
    int64 present;
    byte *member;
    uint64 *removed;
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
    int64 *offsets;
    uint64 *total;
};

APART void perform(const CountEntries &asked, int64 *registers) {
    int64 sum = 0;
    each_row(asked.rows, asked.member, registers, [&](auto team, int64 i, int, Range row) {
        int64 found = counted(team, asked.rows, row, WHOLE_ROW);
        if (team.member() > 0) return;
        if (asked.offsets) asked.offsets[i + 1] = found;
        sum += found;
    });
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
    each_row(rows, nullptr, registers, [&](auto team, int64 i, int, Range row) {
        int64 place = asked.offsets[i];
        for (int64 begin = row.begin; begin < row.end; begin += team.SIZE) {
            int64 at = begin + team.member();
            bool inside = rows.counts(at, row.end);
            int total, before = team.before(inside, total);
            if (inside) {
                int neighbour = rows.neighbours[at];
                asked.entries[place + before] = asked.through ? int(asked.through[neighbour]) - 1 : neighbour;
            }
            place += total;
        }
    });
}
