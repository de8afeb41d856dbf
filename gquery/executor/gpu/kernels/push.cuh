// Pushed sums: from each root on chains are matched, and each of their ends adds one to a counter of the root and the
// vertex that it is. When all have, the product over the chains is a part of the root's sum, and all counters become zero
// again. Where many have been reached, all are gone through for that; else the ends of the first chain once more, so that
// what no chain has reached costs nothing: whoever comes to a counter first takes what it says.

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

// Neighbouring counters, which are read at once.
struct alignas(16) Four {
    unsigned numbers[4];

    INNER_MEMBER bool any() const { return numbers[0] | numbers[1] | numbers[2] | numbers[3]; }
};

// What is a part of the sums of roots: the chains' products, times what hangs on the far vertex. The first chain's counter
// is never that of a chain that is like another.
struct Product {
    const Program *program;
    int64 far;
    const Chain *chains;
    int64 chain_count;
    uint64 *sums;
    double *sizes;

    // Whether four places from one on have not been reached by any chain.
    INNER_MEMBER bool skips_four(int64 place) const {
        bool any = false;
        for (int64 i = 0; i < chain_count; i++) {
            const Counters &counters = chains[i].counters;
            any |= counters.wide || reinterpret_cast<const Four *>(counters.few() + place)->any();
        }
        return !any;
    }

    // Of a place where the first counter said `taken`.
    INNER_MEMBER Sum at(int64 place, int position, uint64 taken, uint64 modulus) const {
        Sum sum{taken > 0, double(taken > 0)};
        for (int64 i = 0; i < chain_count && sum.size > 0; i++) {
            const Chain &chain = chains[i];
            uint64 number = chain.first ? taken : chain.counters.at(place);
            number = number > uint64(chain.minus) ? number - chain.minus : 0;
            sum.value = product(sum.value, modulus ? number % modulus : number, modulus);
            sum.size *= double(number);
        }
        if (sum.size > 0) multiply_factors(program->levels[far], position, modulus, sum);
        return sum;
    }
};

struct Harvest {
    Ends ends;
    Product product;
};

APART void perform(const Harvest &harvest, int64 *registers, uint64 modulus) {
    const Ends &ends = harvest.ends;
    try_all(ends.asked, ends.work, ends.items, registers, [&](const Match &match, bool passed) {
        Sum sum{0, 0};
        if (passed) {
            int64 place = ends.place(match);
            sum = harvest.product.at(place, match.position, harvest.product.chains[0].counters.taken(place), modulus);
        }
        if (!__ballot_sync(ALL, sum.size > 0)) return;
        int row = int(match.row);
        sum.value = sum_of_row(sum.value, row);
        sum.size = sum_of_row(sum.size, row);
        if (begins_row(row) && sum.size > 0) {
            atomicAdd(harvest.product.sums + ends.roots[row], sum.value);
            atomicAdd(harvest.product.sizes + ends.roots[row], sum.size);
        }
    });
}

// The same for all counters of so many roots (a register), a stretch of one root's at a time. universe: a multiple of four.
struct HarvestAll {
    int64 rows, universe;
    Product product;
};

const int STRETCH = 16 * BLOCK;

APART void perform(const HarvestAll &harvest, int64 *registers, uint64 modulus) {
    const Product &product = harvest.product;
    int64 stretches = (harvest.universe + STRETCH - 1) / STRETCH;
    for (int64 unit = blockIdx.x; unit < stretches * registers[harvest.rows]; unit += gridDim.x) {
        int64 row = unit / stretches, begin = unit % stretches * STRETCH, first = row * harvest.universe;
        int64 end = begin + STRETCH < harvest.universe ? begin + STRETCH : harvest.universe;
        Sum own{0, 0};
        for (int64 position = begin + 4 * threadIdx.x; position < end; position += 4 * BLOCK) {
            int64 place = first + position;
            if (product.skips_four(place)) continue;
            for (int k = 0; k < 4; k++) {
                Sum sum = product.at(place + k, int(position + k), product.chains[0].counters.at(place + k), modulus);
                own = Sum{own.value + sum.value, own.size + sum.size};
                for (int64 i = 0; i < product.chain_count; i++) product.chains[i].counters.clear(place + k);
            }
        }
        own = sum_of_warp(own);
        if (lane() == 0 && own.size > 0) {
            atomicAdd(product.sums + row, own.value);
            atomicAdd(product.sizes + row, own.size);
        }
    }
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
