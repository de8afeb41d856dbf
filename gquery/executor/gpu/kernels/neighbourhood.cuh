// The neighbourhood of each root: its neighbours, its members, are numbered in their order, and the edges among them are
// written as bitsets, so that what several rows have in common is the AND of a few words.

const int DEPTH = 7;                // levels at most
const int A_SEARCH = 8;             // looks that finding an entry in a row takes, about
const int WORDS_AT_HAND = 128;      // of a row, while it is written or looked into often

// The row of the member that a level is matched to.
struct InsideRow {
    int64 kind, level;
};

// Counts before pointers. different, smaller: levels but that of the root, which the masks know of. children: those that
// are gone through; leaves: those of which only the number counts. tallied: how, where they are one, and others like it, which
// is counted for all candidates of the level at once.
struct InsideLevel {
    int64 minus, like, tallied, row_count, different_count, smaller_count, child_count, leaf_count;
    const InsideRow *rows;
    const int64 *different, *smaller, *children, *leaves;
};

// members: a root's row; above: whether only what is larger than the root is one. kinds: what the bitsets are of. For each
// root of a block: where its members begin, how many they are; and running sums of rows to write, and of the words of a
// kind: a row for each member and, of the first kind, a mask for each level. bits: `room` words a kind.
struct Inside {
    const Program *program;
    const InsideLevel *levels;
    int64 level_count;
    Rows members;
    int64 above, kind_count;
    const Rows *kinds;
    int64 *begins;
    int *sizes;
    int64 *row_ends, *ends;
    unsigned *bits;
    int64 room;

    INNER_MEMBER int64 row_count(int64 size) const { return size ? kind_count * size + level_count : 0; }
    INNER_MEMBER const int *of(int64 root) const { return members.neighbours + begins[root]; }
    INNER_MEMBER int64 before(int64 root) const { return root ? ends[root - 1] : 0; }
    INNER_MEMBER int64 rows_before(int64 root) const { return root ? row_ends[root - 1] : 0; }
};

INNER int words_of(int64 members) { return int((members + BITS - 1) / BITS); }

// Roots of a block, from one register to another.
struct RootsInside {
    const Inside *inside;
    Given given;
    int64 first, last;
};

// Sums of the roots become zero.
struct MeasureInside {
    const Inside *inside;
    Given given;
    int64 *row_partials, *partials;
    uint64 *sums;
    double *sizes;
};

APART void perform(const MeasureInside &measure, int64 *registers) {
    const Inside &inside = *measure.inside;
    Frontier frontier = measure.given.now(registers);
    Share share = share_of(frontier.count);
    int64 rows = 0, words = 0;
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        int root = frontier.at(0, row);
        Range range = row_of(inside.members, root);
        if (inside.above) range.begin = first_above(inside.members.neighbours, range.begin, range.end, root);
        inside.begins[row] = range.begin;
        inside.sizes[row] = int(range.end - range.begin);
        int64 size = inside.sizes[row], own = words_of(size) * (size + inside.level_count);
        inside.row_ends[row] = inside.row_count(size);
        inside.ends[row] = own;
        rows += inside.row_count(size);
        words += own;
        measure.sums[row] = 0;
        measure.sizes[row] = 0;
    }
    rows = sum_of_block(rows);
    words = sum_of_block(words);
    if (threadIdx.x == 0) {
        measure.row_partials[blockIdx.x] = rows;
        measure.partials[blockIdx.x] = words;
    }
}

// Writes the bitsets of roots.
struct WriteInside {
    RootsInside roots;
};

// Sets the bits of a stretch of members that a row has; by a warp.
INNER void mark_common(const int *members, int size, const int *row, int length, unsigned *words) {
    bool over_members = size <= length;
    const int *walked = over_members ? members : row, *searched = over_members ? row : members;
    int count = over_members ? size : length, among = over_members ? length : size;
    for (int i = lane(); i < count; i += WARP) {
        int at = int(first_above(searched, 0, among, walked[i] - 1));
        if (at == among || searched[at] != walked[i]) continue;
        int member = over_members ? i : at;
        atomicOr(words + member / BITS, 1u << member % BITS);
    }
}

// The same of a row whose bits are there.
INNER void mark_joined(const int *members, int size, const unsigned *bits, unsigned *words) {
    for (int i = lane(); i < size; i += WARP)
        if (has_bit(bits, members[i])) atomicOr(words + i / BITS, 1u << i % BITS);
}

// Which members a level can have. above: they are larger than the root as far as they must.
struct Allowed {
    const byte *member;
    bool larger, other;

    INNER_MEMBER bool holds(int root, int vertex) const {
        return (!member || member[vertex]) && (!larger || vertex > root) && (!other || vertex != root);
    }
};

INNER Allowed allowed_of(const Level &level, bool above) {
    Allowed found{level.member, false, false};
    for (int64 i = 0; i < level.smaller_count && !above; i++) found.larger |= level.smaller[i] == 0;
    for (int64 i = 0; i < level.different_count; i++) found.other |= level.different[i] == 0;
    return found;
}

// Sets the bits of a stretch of members that a level can have; by a warp.
INNER void mark_possible(const Allowed &allowed, int root, const int *members, int size, unsigned *words) {
    for (int i = lane(); i < size; i += WARP)
        if (allowed.holds(root, members[i])) atomicOr(words + i / BITS, 1u << i % BITS);
}

// A row of the bitsets of a root: where its words go, and what it is made of. reach: how many of the members may be in it;
// bits: those of the entries, where there are any; level: for a mask, else negative.
struct RowInside {
    unsigned *out;
    const int *members, *entries;
    const unsigned *bits;
    int root, size, reach, length, level;
};

INNER RowInside row_to_write(const RootsInside &roots, const int64 *registers, int64 first, int64 item) {
    const Inside &inside = *roots.inside;
    int64 last = registers[roots.last], before = inside.rows_before(first);
    int64 row = first_above(inside.row_ends, first, last, before + item);
    int number = int(before + item - inside.rows_before(row)), size = inside.sizes[row];
    int kind = number / size, own = number - kind * size;
    RowInside found;
    found.root = roots.given.now(registers).at(0, row);
    found.members = inside.of(row);
    found.size = size;
    found.level = kind < inside.kind_count ? -1 : number - int(inside.kind_count) * size;
    found.out = inside.bits + inside.before(row) - inside.before(first);
    found.reach = size;
    found.length = 0;
    found.entries = nullptr;
    found.bits = nullptr;
    if (found.level >= 0) {
        found.out += int64(size + found.level) * words_of(size);
    } else {
        Range entries = row_of(inside.kinds[kind], found.members[own]);
        found.entries = inside.kinds[kind].neighbours + entries.begin;
        found.length = int(entries.end - entries.begin);
        if (inside.kinds[kind].oriented) found.reach = own;
        // Few entries are sooner found among the members than all members among the bits.
        if (found.reach <= A_SEARCH * found.length) found.bits = inside.kinds[kind].bits_of(found.members[own]);
        found.out += kind * inside.room + int64(own) * words_of(size);
    }
    return found;
}

// Writes a row; by a warp.
APART void write_row(const Inside &inside, const RowInside &row, unsigned *buffer) {
    int words = words_of(row.size);
    Allowed allowed{};
    if (row.level >= 0) allowed = allowed_of(inside.program->levels[row.level], inside.above);
    for (int begin = 0; begin < words; begin += WORDS_AT_HAND) {
        int count = words - begin < WORDS_AT_HAND ? words - begin : WORDS_AT_HAND, left = row.reach - begin * BITS;
        for (int i = lane(); i < count; i += WARP) buffer[i] = 0;
        __syncwarp();
        const int *stretch = row.members + begin * BITS;
        int size = left < count * BITS ? left : count * BITS;
        if (row.level >= 0) mark_possible(allowed, row.root, stretch, size, buffer);
        else if (row.bits) mark_joined(stretch, size, row.bits, buffer);
        else if (size > 0) mark_common(stretch, size, row.entries, row.length, buffer);
        __syncwarp();
        for (int i = lane(); i < count; i += WARP) row.out[begin + i] = buffer[i];
        __syncwarp();
    }
}

struct RowsAtHand {
    unsigned words[WARPS][WORDS_AT_HAND];
};

// Writes a row a lane, of `A_ROW` words at most; by a warp.
const int A_ROW = WORDS_AT_HAND / WARP;

APART void write_rows(const Inside &inside, const RowInside &row, unsigned *buffer) {
    __syncwarp();
    for (int i = lane(); i < WORDS_AT_HAND; i += WARP) buffer[i] = 0;
    __syncwarp();
    bool masks = row.level >= 0, over_members = masks || row.bits || row.reach <= row.length;
    Stretch members{row.members, row.reach}, entries{row.entries, row.length};
    Stretch walked = over_members ? members : entries;
    Searched searched = searched_of(row.bits, over_members ? entries : members);
    Allowed allowed{};
    if (masks) allowed = allowed_of(inside.program->levels[row.level], inside.above);
    count_in_rows(walked, [&](Entry entry) {
        bool its_masks = __shfl_sync(ALL, masks, entry.of), its_over = __shfl_sync(ALL, over_members, entry.of);
        Searched among = searched_by(searched, entry.of);
        int root = __shfl_sync(ALL, row.root, entry.of);
        Allowed its{
            pointer_of(allowed.member, entry.of), __shfl_sync(ALL, int(allowed.larger), entry.of) > 0,
            __shfl_sync(ALL, int(allowed.other), entry.of) > 0
        };
        int member = entry.at;
        bool passed = entry.valid && its_masks && its.holds(root, entry.position);
        if (entry.valid && !its_masks) {
            passed = its_over && among.holds(entry.position);
            if (!its_over) passed = among.finds(entry.position, member);
        }
        if (passed) atomicOr(buffer + entry.of * A_ROW + member / BITS, 1u << member % BITS);
        return passed;
    });
    __syncwarp();
    for (int i = 0; i < words_of(row.size); i++) row.out[i] = buffer[lane() * A_ROW + i];
    __syncwarp();
}

APART void perform(const WriteInside &write, int64 *registers) {
    const Inside &inside = *write.roots.inside;
    unsigned *buffer = at_desk<RowsAtHand>().words[threadIdx.x / WARP];
    int64 first = registers[write.roots.first], last = registers[write.roots.last];
    RowInside none{};
    none.level = -1;
    each_apart(inside.rows_before(last) - inside.rows_before(first), [&](int64 item, bool valid) {
        RowInside own = valid ? row_to_write(write.roots, registers, first, item) : none;
        bool is_long = words_of(own.size) > A_ROW;
        write_rows(inside, is_long ? none : own, buffer);
        for (unsigned left = __ballot_sync(ALL, is_long); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            RowInside row{
                pointer_of(own.out, from), pointer_of(own.members, from), pointer_of(own.entries, from),
                pointer_of(own.bits, from), __shfl_sync(ALL, own.root, from), __shfl_sync(ALL, own.size, from),
                __shfl_sync(ALL, own.reach, from), __shfl_sync(ALL, own.length, from),
                __shfl_sync(ALL, own.level, from)
            };
            write_row(inside, row, buffer);
        }
    });
}
