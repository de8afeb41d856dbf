// Pushed sums: from each root on chains are matched, and each of their ends adds one to a counter of the root and the
// vertex that it is. When all have, the ends of the first chain are gone through again: whoever comes to a counter first
// takes what it says, and the product over the chains is a part of the root's sum. So all counters are zero in the end, and
// what no chain has reached costs nothing.

// numbers: uint64[] or, unless they are wide, unsigned[], by row of the root and vertex.
struct Counters {
    void *numbers;
    int64 wide;

    INNER_MEMBER uint64 *many() const { return static_cast<uint64 *>(numbers); }
    INNER_MEMBER unsigned *few() const { return static_cast<unsigned *>(numbers); }

    INNER_MEMBER void add(int64 place) const {
        if (wide) atomicAdd(many() + place, 1ull);
        else atomicAdd(few() + place, 1u);
    }
    INNER_MEMBER uint64 taken(int64 place) const {
        return wide ? atomicExch(many() + place, 0ull) : atomicExch(few() + place, 0u);
    }
    INNER_MEMBER uint64 at(int64 place) const { return wide ? many()[place] : few()[place]; }
    INNER_MEMBER void clear(int64 place) const {
        if (wide) many()[place] = 0;
        else few()[place] = 0;
    }
};

// The last level of a chain, asked of partial matches whose roots are in these rows.
struct Ends {
    Asked asked;
    Work work;
    Items items;
    const int *roots;
    int64 universe;

    INNER_MEMBER int64 place(const Match &match) const { return roots[match.row] * universe + match.position; }
};

struct Push {
    Ends ends;
    Counters counters;
    uint64 *found;
};

APART void perform(const Push &push, int64 *registers) {
    int64 passing = 0;
    try_all(push.ends.asked, push.ends.work, push.ends.items, registers, [&](const Match &match, bool passed) {
        if (passed) push.counters.add(push.ends.place(match));
        passing += passed;
    });
    add_of_block(passing, push.found);
}

// What a chain counts as: its counter, or the one that was taken, less what a pattern takes away always.
struct Chain {
    Counters counters;
    int64 first, minus;
};

struct Harvest {
    Ends ends;
    int64 far;
    const Chain *chains;
    int64 chain_count;
    uint64 *sums;
    double *sizes;
};

INNER Sum harvested(const Harvest &harvest, const Match &match, uint64 modulus) {
    int64 place = harvest.ends.place(match);
    uint64 taken = harvest.chains[0].counters.taken(place);
    Sum sum{taken > 0, double(taken > 0)};
    for (int64 i = 0; i < harvest.chain_count && sum.size > 0; i++) {
        const Chain &chain = harvest.chains[i];
        uint64 number = chain.first ? taken : chain.counters.at(place);
        number = number > uint64(chain.minus) ? number - chain.minus : 0;
        sum.value = product(sum.value, modulus ? number % modulus : number, modulus);
        sum.size *= double(number);
    }
    if (sum.size > 0) multiply_factors(harvest.ends.asked.program->levels[harvest.far], match.position, modulus, sum);
    return sum;
}

APART void perform(const Harvest &harvest, int64 *registers, uint64 modulus) {
    const Ends &ends = harvest.ends;
    try_all(ends.asked, ends.work, ends.items, registers, [&](const Match &match, bool passed) {
        Sum sum{0, 0};
        if (passed) sum = harvested(harvest, match, modulus);
        if (!__ballot_sync(ALL, sum.size > 0)) return;
        int row = int(match.row);
        sum.value = sum_of_row(sum.value, row);
        sum.size = sum_of_row(sum.size, row);
        if (begins_row(row) && sum.size > 0) {
            atomicAdd(harvest.sums + ends.roots[row], sum.value);
            atomicAdd(harvest.sizes + ends.roots[row], sum.size);
        }
    });
}

struct ClearCounters {
    Ends ends;
    Counters counters;
};

APART void perform(const ClearCounters &clear, int64 *registers) {
    try_all(clear.ends.asked, clear.ends.work, clear.ends.items, registers, [&](const Match &match, bool passed) {
        if (passed) clear.counters.clear(clear.ends.place(match));
    });
}

// The rows of roots, by partial match, from those of what the partial matches extend.
struct FollowRoots {
    const int *before, *parents;
    int64 count;
    int *roots;
};

APART void perform(const FollowRoots &follow, int64 *registers) {
    Share share = share_of(registers[follow.count]);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK)
        follow.roots[row] = follow.before[follow.parents[row]];
}
