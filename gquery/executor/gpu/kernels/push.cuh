// Pushed sums: from each root on chains are matched, and each of their ends adds one to a counter of the root and the
// vertex that it is. When all have, the product over the chains is a part of the root's sum, and all counters become zero
// again. So that what no chain has reached costs nothing, the ends of chains are gone through once more for that, or, where
// it is dear to find them, what has been noted of which counters they came to first. Where very many have been reached, all
// are gone through.

const int HALF = 16;  // bits of a counter of two bytes
const unsigned LOWER = 0xffff;
// Numbers by row of the root and vertex, of so many bytes each: 2, 4 or 8, of which none becomes too large. Two neighbours of
// 2 bytes are added to as one of 4.
struct Counters {
    void *numbers;
    int64 width;

    INNER_MEMBER uint64 *wide() const { return static_cast<uint64 *>(numbers); }
    INNER_MEMBER unsigned *whole() const { return static_cast<unsigned *>(numbers); }
    INNER_MEMBER unsigned short *half() const { return static_cast<unsigned short *>(numbers); }

    // Adds one; what it was before.
    INNER_MEMBER uint64 add(int64 place) const {
        if (width == 8) return atomicAdd(wide() + place, 1ull);
        if (width == 4) return atomicAdd(whole() + place, 1u);
        int shift = place % 2 * HALF;
        return atomicAdd(whole() + place / 2, 1u << shift) >> shift & LOWER;
    }
    // Becomes zero; what it was before.
    INNER_MEMBER uint64 taken(int64 place) const {
        if (width == 8) return atomicExch(wide() + place, 0ull);
        if (width == 4) return atomicExch(whole() + place, 0u);
        int shift = place % 2 * HALF;
        return atomicAnd(whole() + place / 2, ~(LOWER << shift)) >> shift & LOWER;
    }
    INNER_MEMBER uint64 at(int64 place) const {
        return width == 8 ? wide()[place] : width == 4 ? whole()[place] : half()[place];
    }
    INNER_MEMBER void clear(int64 place) const {
        if (width == 8) wide()[place] = 0;
        else if (width == 4) whole()[place] = 0;
        else half()[place] = 0;
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

// Places that each block of threads has come to first, `room` of them at most, and how many these are, which is more where
// some have found no room. full: how many blocks have none left.
struct Noted {
    unsigned *places;
    int64 room;
    uint64 *counts, *full;

    INNER_MEMBER unsigned *of_block() const { return places + blockIdx.x * room; }
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

struct PushNoting {
    Ends ends;
    Counters counters;
    Noted noted;
    uint64 *found;
};

// Notes places that lanes of a warp have come to first; whether there was room. count: of the block.
INNER bool note(const Noted &noted, int64 place, bool first, unsigned &count) {
    unsigned found = __ballot_sync(ALL, first), at = 0;
    if (!found) return true;
    if (lane() == 0) at = atomicAdd(&count, unsigned(in_all(found)));
    at = __shfl_sync(ALL, at, 0);
    if (first && at + before(found) < noted.room) noted.of_block()[at + before(found)] = unsigned(place);
    return at + in_all(found) <= noted.room;
}

APART void perform(const PushNoting &push, int64 *registers) {
    __shared__ unsigned count;
    const Noted &noted = push.noted;
    if (threadIdx.x == 0) count = unsigned(noted.counts[blockIdx.x]);
    __syncthreads();
    const bool was_full = count > noted.room;
    bool notes = !was_full;
    int64 passing = 0;
    try_all(push.ends.asked, push.ends.work, push.ends.items, registers, [&](const Match &match, bool passed) {
        int64 place = passed ? push.ends.place(match) : 0;
        if (notes) notes = note(noted, place, passed && push.counters.add(place) == 0, count);
        else if (passed) push.counters.add(place);
        passing += passed;
    });
    __syncthreads();
    if (threadIdx.x == 0) {
        noted.counts[blockIdx.x] = count;
        if (count > noted.room && !was_full) atomicAdd(noted.full, uint64(1));
    }
    add_of_block(passing, push.found);
}

// Neighbouring counters, which are read and written at once.
const int NEAR = 8;

template <typename Number>
struct alignas(16) Near {
    Number numbers[NEAR];

    INNER_MEMBER bool any() const {
        bool any = false;
        UNROLLED
        for (int i = 0; i < NEAR; i++) any |= numbers[i] != 0;
        return any;
    }
};

// What a chain counts as: its counter, or the one that was taken, less what a pattern takes away always.
struct Chain {
    Counters counters;
    int64 first, minus;
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

// The same of what is noted, which is forgotten. universe: how many counters a root has.
struct HarvestNoted {
    int64 universe;
    Noted noted;
    Product product;
};

// Which of the stretches with the same row this lane is in.
INNER int stretch_of(int row) { return __popc(__ballot_sync(ALL, begins_row(row)) & ~(~1u << lane())); }

APART void perform(const HarvestNoted &harvest, int64 *, uint64 modulus) {
    const Product &product = harvest.product;
    const unsigned *places = harvest.noted.of_block(), universe = unsigned(harvest.universe);
    const int64 count = harvest.noted.counts[blockIdx.x];
    for (int64 i = threadIdx.x; i - lane() < count; i += BLOCK) {
        Sum sum{0, 0};
        int row = -1;
        if (i < count) {
            unsigned place = places[i];
            const Counters &counters = product.chains[0].counters;
            uint64 number = counters.at(place);
            counters.clear(place);
            row = int(place / universe);
            sum = product.at(place, int(place % universe), number, modulus);
        }
        int stretch = stretch_of(row);
        sum.value = sum_of_row(sum.value, stretch);
        sum.size = sum_of_row(sum.size, stretch);
        if (begins_row(stretch) && sum.size > 0) {
            atomicAdd(product.sums + row, sum.value);
            atomicAdd(product.sizes + row, sum.size);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) harvest.noted.counts[blockIdx.x] = 0;
}

// The same of all counters of so many roots (a register), a stretch of one root's at a time. universe: a multiple of `NEAR`.
// counts: so many of what has been noted, by chain and block.
struct HarvestAll {
    int64 rows, universe, count_count;
    uint64 *counts;
    Product product;
};

const int STRETCH = 4 * NEAR * BLOCK;

// What may be said of all counters at once. alike: there is one kind of chains, with nothing else to multiply, of which the
// second, if there is one, has so much less.
struct Alike {
    bool alike;
    uint64 minus, minus_second;
    bool second;
};

INNER Alike alike_of(const Product &product, uint64 modulus) {
    const Chain *chains = product.chains;
    bool alike = !modulus && product.chain_count <= 2 && !product.program->levels[product.far].factor_count;
    for (int64 i = 0; i < product.chain_count; i++) alike = alike && chains[i].first && chains[i].counters.width < 8;
    bool second = product.chain_count == 2;
    return Alike{alike, uint64(chains[0].minus), second ? uint64(chains[1].minus) : 0, second};
}

// `NEAR` counters of one kind of chains.
template <typename Number>
INNER Near<Number> &near_of(const Product &product, int64 chain, int64 place) {
    return *reinterpret_cast<Near<Number> *>(static_cast<Number *>(product.chains[chain].counters.numbers) + place);
}

// The sum over `NEAR` neighbouring counters.
template <typename Number>
INNER Sum sum_near(const Product &product, const Alike &all, int64 place, int position, uint64 modulus) {
    Sum sum{0, 0};
    if (all.alike) {
        const Near<Number> seen = near_of<Number>(product, 0, place);
        UNROLLED
        for (int k = 0; k < NEAR; k++) {
            uint64 number = seen.numbers[k];
            uint64 first = number > all.minus ? number - all.minus : 0;
            uint64 second = !all.second ? 1 : number > all.minus_second ? number - all.minus_second : 0;
            sum.value += first * second;
            sum.size += double(first) * double(second);
        }
        return sum;
    }
    ROLLED
    for (int k = 0; k < NEAR; k++)
        add(sum, product.at(place + k, position + k, product.chains[0].counters.at(place + k), modulus));
    return sum;
}

// A thread's part of the sum over a stretch of a root's counters, the first of which is at a place. They become zero.
template <typename Number>
APART Sum harvest_stretch(const Product &product, int64 first, int64 begin, int64 end, uint64 modulus) {
    const Alike all = alike_of(product, modulus);
    const int64 kinds = all.alike ? 1 : product.chain_count;
    Sum sum{0, 0};
    for (int64 position = begin + NEAR * threadIdx.x; position < end; position += NEAR * BLOCK) {
        bool any = false;
        for (int64 i = 0; i < kinds; i++) any = any || near_of<Number>(product, i, first + position).any();
        if (!any) continue;
        add(sum, sum_near<Number>(product, all, first + position, int(position), modulus));
        for (int64 i = 0; i < kinds; i++) near_of<Number>(product, i, first + position) = Near<Number>{};
    }
    return sum;
}

APART void perform(const HarvestAll &harvest, int64 *registers, uint64 modulus) {
    const Product &product = harvest.product;
    const int64 width = product.chains[0].counters.width, rows = registers[harvest.rows];
    for (int64 i = thread(); i < harvest.count_count; i += threads()) harvest.counts[i] = 0;
    int64 units = (harvest.universe + STRETCH - 1) / STRETCH * rows;
    for (int64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        int64 row = unit % rows, begin = unit / rows * STRETCH;  // the last stretches, which may be short, are everybody's
        int64 end = begin + STRETCH < harvest.universe ? begin + STRETCH : harvest.universe;
        int64 first = row * harvest.universe;
        Sum own = width == 2   ? harvest_stretch<unsigned short>(product, first, begin, end, modulus)
                  : width == 4 ? harvest_stretch<unsigned>(product, first, begin, end, modulus)
                               : harvest_stretch<uint64>(product, first, begin, end, modulus);
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

// What is noted becomes zero, and is forgotten.
struct ClearNoted {
    Counters counters;
    Noted noted;
};

APART void perform(const ClearNoted &clear, int64 *) {
    const unsigned *places = clear.noted.of_block();
    const int64 count = clear.noted.counts[blockIdx.x];
    for (int64 i = threadIdx.x; i < count; i += BLOCK) clear.counters.clear(places[i]);
    __syncthreads();
    if (threadIdx.x == 0) clear.noted.counts[blockIdx.x] = 0;
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
