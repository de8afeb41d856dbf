// Rows that the lanes of a warp have, gone through as one; and with that the last two levels of a triangle at once: each
// vertex of a level is tried, and what its row has in common with a row of the partial match is counted. No vertex is
// written down in between. A warp takes 32 vertices, a lane each.

const int AS_BITS = -1;

// A row.
struct Stretch {
    const int *first;
    int count;
};

INNER Stretch stretch_of(const Rows &rows, int position) {
    Range row = row_of(rows, position);
    return Stretch{rows.neighbours + row.begin, int(row.end - row.begin)};
}

// What is looked for entries in: a row, or the bits of one.
struct Searched {
    const void *words;
    int count;

    INNER_MEMBER bool holds(int position) const {
        if (count == AS_BITS) return has_bit(static_cast<const unsigned *>(words), position);
        return is_among(static_cast<const int *>(words), count, position);
    }

    // The same of a row, and the place there.
    INNER_MEMBER bool finds(int position, int &place) const {
        const int *row = static_cast<const int *>(words);
        place = int(first_above(row, 0, count, position - 1));
        return place < count && row[place] == position;
    }
};

INNER Searched searched_of(const unsigned *bits, Stretch row) {
    if (bits) return Searched{bits, AS_BITS};
    return Searched{row.first, row.count};
}

// What another lane has.
INNER Searched searched_by(const Searched &own, int from) {
    return Searched{pointer_of(own.words, from), __shfl_sync(ALL, own.count, from)};
}

INNER int running_sum(int value) {
    for (int step = 1; step < WARP; step *= 2) {
        int other = __shfl_up_sync(ALL, value, step);
        if (lane() >= step) value += other;
    }
    return value;
}

// The lane whose items a number is of: `ends` is the running sum of what lanes have.
INNER int lane_of(int ends, int item) {
    int found = 0;
    for (int step = WARP / 2; step; step /= 2)
        if (__shfl_sync(ALL, ends, found + step - 1) <= item) found += step;
    return found;
}

// An entry of the row of lane `of`, and its place there; the last ones that lanes get are not valid.
struct Entry {
    int of, at, position;
    bool valid;
};

// How many entries of each lane's row pass. `passes(entry)` is called by all lanes at once.
template <typename Passes>
INNER int count_in_rows(Stretch row, Passes passes) {
    int end = running_sum(row.count), begin = end - row.count, all = __shfl_sync(ALL, end, WARP - 1), found = 0;
    for (int first = 0; first < all; first += WARP) {
        int item = first + lane(), of = lane_of(end, item), at = item - __shfl_sync(ALL, begin, of);
        const int *its = pointer_of(row.first, of);
        unsigned passed = __ballot_sync(ALL, passes(Entry{of, at, item < all ? its[at] : 0, item < all}));
        int low = begin > first ? begin - first : 0, high = end - first < WARP ? end - first : WARP;
        if (low < high) found += __popc(passed & ALL >> (32 - (high - low)) << low);
    }
    return found;
}

// How many members each lane's two rows have in common. bits: those of the one, where it has any.
INNER int in_common(const byte *member, Stretch one, Stretch other, const unsigned *bits) {
    bool shorter = !bits && one.count < other.count;
    Stretch walked = shorter ? one : other;
    Searched searched = searched_of(bits, shorter ? other : one);
    return count_in_rows(walked, [&](Entry entry) {
        Searched its = searched_by(searched, entry.of);
        return entry.valid && its.holds(entry.position) && (!member || member[entry.position]);
    });
}

// How a leaf's number counts: see `finished`.
struct Finish {
    int64 minus, cap;
};

// leaf: the level below, with a row of the tried level and one of a level before. ways: those of this leaf and of others
// that are like it, whose product is added up. found, found_below: how many there
// are at both levels.
struct SumCommon {
    Asked asked;
    Work work;
    Items items;
    int64 leaf, way_count;
    const Finish *ways;
    uint64 *sums;
    double *sizes;
    uint64 *found, *found_below;
};

APART void perform(const SumCommon &common, int64 *registers, uint64 modulus) {
    const Level &level = common.asked.level(), &leaf = common.asked.program->levels[common.leaf];
    bool second = leaf.backward[1].level == level.index;
    const Rows &own = leaf.backward[second], &other = leaf.backward[!second];
    Frontier frontier = common.asked.given.now(registers);
    int64 first = registers[common.items.first], last = registers[common.items.last], below = 0;
    int passing = 0;
    // What a warp takes is far apart: long rows are often side by side.
    int64 apart = threads() / WARP;
    for (int64 begin = first; begin < last; begin += apart * WARP) {
        int64 item = begin + lane() * apart + thread() / WARP;
        bool valid = item < last;
        Item tried{0, 0, 0};
        if (valid) tried = item_of(level, common.work, item, first_above(common.work.ends, 0, frontier.count, item));
        Match match{*common.asked.program, frontier, level.given, tried.row, level.index, tried.position};
        bool passed = valid && passes(level, match, tried.walked, common.work.at(tried.row), common.work.stride);
        Stretch one{}, two{};
        const unsigned *bits = nullptr;
        if (passed) {
            one = stretch_of(own, tried.position);
            two = stretch_of(other, frontier.at(level.given[other.level], tried.row));
            bits = own.bits_of(tried.position);
            // The row of what is tried leads to smaller ones alone.
            if (own.oriented) two.count = int(first_above(two.first, 0, two.count, tried.position - 1));
        }
        int count = in_common(leaf.member, one, two, bits);
        passing += passed;
        below += count;
        Sum sum{passed, double(passed)};
        ROLLED
        for (int64 i = 0; i < common.way_count; i++) {
            Finish way = common.ways[i];
            multiply(sum, finished(Sum{uint64(count), double(count)}, way.minus, way.cap, modulus), modulus);
        }
        if (sum.size > 0) {
            atomicAdd(common.sums + tried.row, sum.value);
            atomicAdd(common.sizes + tried.row, sum.size);
        }
    }
    add_of_block(passing, common.found);
    add_of_block(below, common.found_below);
}
