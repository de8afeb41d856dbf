// Candidate sets and candidate edges. `among` says which vertices at the other end count, null when all do; a set is
// told by a word for every vertex of its universe.

const int MIDDLE = 64;   // entries from which on a row is a warp's rather than a few lanes'
const int LONG = 4096;   // and from which on it is a block's

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

// The rows of an adjacency, and which of their entries count.
struct RowsAmong {
    int64 first, rows;
    const int64 *offsets;
    const int *neighbours;
    const byte *among;

    INNER_MEMBER Range row(int vertex) const { return row_of(Rows{0, first, rows, offsets, neighbours}, vertex); }
    INNER_MEMBER bool counts(int64 at, int64 end) const { return at < end && (!among || among[neighbours[at]]); }
};

// How many entries of a row count, up to `enough` and a few more.
template <typename Team>
INNER int64 counted(const Team &team, const RowsAmong &rows, Range row, int64 enough) {
    if (!rows.among) return row.end - row.begin;
    int64 found = 0;
    for (int64 begin = row.begin; begin < row.end && found < enough; begin += Team::AT_ONCE * Team::SIZE) {
        int own = 0;
        for (int k = 0; k < Team::AT_ONCE; k++) own += rows.counts(begin + k * Team::SIZE + team.member(), row.end);
        found += team.sum(own);
    }
    return found;
}

const int64 WHOLE_ROW = 1LL << 62;

// Several lists of vertices in a row: ends[i] is how many there are up to the end of list i.
struct Lists {
    const int64 *ends;
    int64 count;

    INNER_MEMBER int64 length() const { return count ? ends[count - 1] : 0; }
    INNER_MEMBER int64 of(int64 item) const { return first_above(ends, 0, count, item); }
    INNER_MEMBER int64 begin(int64 list) const { return list ? ends[list - 1] : 0; }
};

// Calls `each(item)` for neighbouring items in different warps, by all lanes with `valid` false past the last: what is
// long is often side by side.
template <typename Each>
INNER void each_apart(int64 count, Each each) {
    for (int64 tile = 0; tile < count; tile += threads()) {
        int64 item = tile + lane() * (threads() / WARP) + thread() / WARP;
        each(item, item < count);
    }
}

// Numbers that all threads add to: the first of them a block adds up by itself.
const int AT_HAND = 64;

struct Totals {
    uint64 *numbers;
    int64 count;
    uint64 *at_hand;

    INNER_MEMBER void begin() const {
        for (int i = threadIdx.x; i < AT_HAND; i += BLOCK) at_hand[i] = 0;
        __syncthreads();
    }
    INNER_MEMBER void add(int64 which, uint64 number) const {
        atomicAdd((which < AT_HAND ? at_hand : numbers) + which, number);
    }
    INNER_MEMBER void end() const {
        __syncthreads();
        for (int i = threadIdx.x; i < AT_HAND && i < count; i += BLOCK)
            if (at_hand[i]) atomicAdd(numbers + i, at_hand[i]);
    }
};

// A vertex stays if so many of its entries count. failed: which number says how many did not, of those that the
// conditions before have left.
struct Condition {
    RowsAmong rows;
    int64 required, failed;
};

// Those of a list become members that are members of `from` and for which all conditions hold.
struct Narrowed {
    const int *vertices;
    const byte *from;
    byte *to;
    int64 condition_count;
    const Condition *conditions;
};

// looks: whether any condition asks which entries there are, and not only how many.
struct Narrow {
    Lists lists;
    const Narrowed *narrowed;
    uint64 *failed;
    int64 failed_count, looks;
};

// The first condition that fails, their number if none does.
template <typename Team>
INNER int64 failing(const Team &team, const Narrowed &own, int vertex) {
    int64 i = 0;
    for (; i < own.condition_count; i++) {
        const Condition &condition = own.conditions[i];
        if (counted(team, condition.rows, condition.rows.row(vertex), condition.required) < condition.required) break;
    }
    return i;
}

INNER bool has_middle_row(const Narrowed &own, int vertex) {
    bool found = false;
    for (int64 i = 0; i < own.condition_count; i++) {
        Range row = own.conditions[i].rows.row(vertex);
        found |= row.end - row.begin >= MIDDLE;
    }
    return found;
}

template <typename Team>
INNER void narrow(const Team &team, const Narrowed &own, int vertex, const Totals &totals) {
    int64 failed = failing(team, own, vertex);
    if (team.member() > 0) return;
    own.to[vertex] = failed == own.condition_count;
    if (failed < own.condition_count) totals.add(own.conditions[failed].failed, 1);
}

// All but those with a row that is a warp's.
template <typename Team>
INNER void narrow_all(const Team &team, const Narrow &asked, const Totals &totals) {
    int64 count = asked.lists.length();
    for (int64 item = thread() / Team::SIZE; item < count; item += threads() / Team::SIZE) {
        int64 list = asked.lists.of(item);
        const Narrowed &own = asked.narrowed[list];
        int vertex = own.vertices[item - asked.lists.begin(list)];
        if (!own.from[vertex]) own.to[vertex] = 0;
        else if (!asked.looks || !has_middle_row(own, vertex)) narrow(team, own, vertex, totals);
    }
}

APART void perform(const Narrow &asked, int64 *) {
    __shared__ uint64 at_hand[AT_HAND];
    Totals totals{asked.failed, asked.failed_count, at_hand};
    totals.begin();
    int64 count = asked.lists.length();
    if (asked.looks) narrow_all(Lanes<GROUP>(), asked, totals);
    else narrow_all(Lanes<1>(), asked, totals);
    if (!asked.looks) count = 0;
    __syncwarp();
    each_apart(count, [&](int64 item, bool valid) {
        int64 list = valid ? asked.lists.of(item) : 0;
        int vertex = valid ? asked.narrowed[list].vertices[item - asked.lists.begin(list)] : 0;
        bool own = valid && asked.narrowed[list].from[vertex] && has_middle_row(asked.narrowed[list], vertex);
        for (unsigned left = __ballot_sync(ALL, own); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            const Narrowed &its = asked.narrowed[__shfl_sync(ALL, list, from)];
            narrow(Lanes<WARP>(), its, __shfl_sync(ALL, vertex, from), totals);
        }
    });
    totals.end();
}

// Takes out of `member` the vertices with an edge to themselves, or those without.
struct KeepLoops {
    const int *vertices;
    int64 count;
    RowsAmong rows;
    int64 present;
    byte *member;
    uint64 *removed;
};

APART void perform(const KeepLoops &asked, int64 *registers) {
    const RowsAmong &rows = asked.rows;
    Rows adjacency{0, rows.first, rows.rows, rows.offsets, rows.neighbours};
    int64 removed = 0;
    for (int64 i = thread(); i < registers[asked.count]; i += threads()) {
        int vertex = asked.vertices[i];
        if (asked.member[vertex] && contains(adjacency, vertex, vertex) != bool(asked.present)) {
            asked.member[vertex] = 0;
            removed++;
        }
    }
    add_of_block(removed, asked.removed);
}

// Entries of the rows of a list of vertices, of which those that are no members have none. through: one more than the
// position of each vertex at the other end, null where positions are vertices.
struct Listed {
    const int *vertices;
    RowsAmong rows;
    const byte *member;
    const int64 *through;

    INNER_MEMBER Range row(int vertex) const { return member && !member[vertex] ? Range{0, 0} : rows.row(vertex); }
};

struct Entries {
    Lists lists;
    const Listed *listed;
};

// Calls `asked.each(team, item, list, row, totals)` for every row, by as many threads as its length asks for.
template <typename Kind>
INNER void each_row(const Kind &asked, const Totals &totals) {
    const Entries &entries = asked.entries;
    int64 count = entries.lists.length();
    auto row_of_item = [&](int64 item, int64 list) {
        return entries.listed[list].row(entries.listed[list].vertices[item - entries.lists.begin(list)]);
    };
    for (int64 item = thread() / GROUP; item < count; item += threads() / GROUP) {
        int64 list = entries.lists.of(item);
        Range row = row_of_item(item, list);
        if (row.end - row.begin < MIDDLE) asked.each(Lanes<GROUP>(), item, list, row, totals);
    }
    __syncwarp();
    __shared__ int64 found[BLOCK];
    __shared__ int number;
    each_apart(count, [&](int64 item, bool valid) {
        __syncthreads();
        if (threadIdx.x == 0) number = 0;
        __syncthreads();
        int64 list = valid ? entries.lists.of(item) : 0;
        Range row = valid ? row_of_item(item, list) : Range{0, 0};
        if (row.end - row.begin >= LONG) found[atomicAdd(&number, 1)] = item;
        unsigned left = __ballot_sync(ALL, row.end - row.begin >= MIDDLE && row.end - row.begin < LONG);
        for (; left; left &= left - 1) {
            int from = __ffs(left) - 1;
            Range its{__shfl_sync(ALL, row.begin, from), __shfl_sync(ALL, row.end, from)};
            asked.each(Lanes<WARP>(), __shfl_sync(ALL, item, from), __shfl_sync(ALL, list, from), its, totals);
        }
        __syncthreads();
        for (int k = 0; k < number; k++) {
            int64 own = entries.lists.of(found[k]);
            asked.each(Block(), found[k], own, row_of_item(found[k], own), totals);
        }
    });
}

// counts[i]: the entries of item i that count, where there are counts; totals[l]: those of list l, where there are totals.
struct CountEntries {
    Entries entries;
    int64 *counts;
    uint64 *totals;

    template <typename Team>
    INNER_MEMBER void each(const Team &team, int64 item, int64 list, Range row, const Totals &all) const {
        int64 found = counted(team, entries.listed[list].rows, row, WHOLE_ROW);
        if (team.member() > 0) return;
        if (counts) counts[item] = found;
        if (totals && found) all.add(list, found);
    }
};

APART void perform(const CountEntries &asked, int64 *) {
    __shared__ uint64 at_hand[AT_HAND];
    Totals totals{asked.totals, asked.totals ? asked.entries.lists.count : 0, at_hand};
    totals.begin();
    each_row(asked, totals);
    totals.end();
}

// Writes the same entries as positions, in their order, up to ends[i] those of item i.
struct WriteEntries {
    Entries entries;
    const int64 *ends;
    int *written;

    template <typename Team>
    INNER_MEMBER void each(const Team &team, int64 item, int64 list, Range row, const Totals &) const {
        const Listed &own = entries.listed[list];
        int64 place = item ? ends[item - 1] : 0;
        for (int64 begin = row.begin; begin < row.end; begin += Team::SIZE) {
            int64 at = begin + team.member();
            bool inside = own.rows.counts(at, row.end);
            int total, before = team.before(inside, total);
            if (inside) {
                int neighbour = own.rows.neighbours[at];
                written[place + before] = own.through ? int(own.through[neighbour]) - 1 : neighbour;
            }
            place += total;
        }
    }
};

APART void perform(const WriteEntries &asked, int64 *) { each_row(asked, Totals{nullptr, 0, nullptr}); }
