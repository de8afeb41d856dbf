// How often each code was met: a table for each graph, which all warps add to.

const uint64 NO_CODE = ~uint64(0);
const int CACHED = 64 * WARP, PROBES = 4;  // codes; places where one may be

struct Tally {
    int64 *slots;  // [mask + 1][2]
    int64 mask;

    INNER_MEMBER int64 *code(int64 at) const { return slots + 2 * at; }
    INNER_MEMBER uint64 *count(int64 at) const { return reinterpret_cast<uint64 *>(slots + 2 * at + 1); }
};

INNER Tally tally_of(const Census &census, int64 graph) {
    return Tally{census.tallies + 2 * graph * census.slots, census.slots - 1};
}

// Adds to the count of a code, for which there must be room. Whether it is the first time.
INNER bool add(const Tally &tally, int64 code, uint64 number) {
    bool first = false;
    int64 at = int64(hashed(uint64(code))) & tally.mask;
    while (true) {
        int64 seen = *tally.code(at);
        if (seen < 0) {
            seen = int64(atomicCAS(reinterpret_cast<uint64 *>(tally.code(at)), NO_CODE, uint64(code)));
            first = seen < 0;
        }
        if (first || seen == code) break;
        at = (at + 1) & tally.mask;
    }
    atomicAdd(tally.count(at), number);
    return first;
}

// Codes that a block has met since it began with a graph, as far as there is room: most counts are added to few codes,
// and to do that in the graph's own table takes a way through the whole memory. A code here takes room there.
struct Cache {
    uint64 codes[CACHED];
    unsigned counts[CACHED];
};

// Adds to the count of a code, for which there must be room. How much of it was taken.
INNER int add(Cache &cache, const Tally &tally, int64 code, uint64 number) {
    const uint64 begin = hashed(uint64(code)) >> 20, most = 1u << 31;
    for (int probe = 0; probe < PROBES && number < most; probe++) {
        int at = int((begin + probe) % CACHED);
        uint64 seen = seen_now(cache.codes + at);
        bool first = seen == NO_CODE;
        if (first) {
            seen = atomicCAS(cache.codes + at, NO_CODE, uint64(code));
            first = seen == NO_CODE;
        }
        if (!first && seen != uint64(code)) continue;
        unsigned before = atomicAdd(cache.counts + at, unsigned(number));
        bool carried = before + unsigned(number) < before;
        return first + (carried && add(tally, code, uint64(1) << 32));
    }
    return add(tally, code, number);
}

INNER void clear(Cache &cache) {
    for (int at = threadIdx.x; at < CACHED; at += BLOCK) {
        cache.codes[at] = NO_CODE;
        cache.counts[at] = 0;
    }
    __syncthreads();
}

// Adds what a block has to the tally of its graph, and gives back the room of codes that are there already.
INNER void flush(Cache &cache, const Tally &tally, int64 *room) {
    __syncthreads();
    int64 there = 0;
    for (int at = threadIdx.x; at < CACHED; at += BLOCK)
        if (cache.codes[at] != NO_CODE) there += !add(tally, int64(cache.codes[at]), cache.counts[at]);
    add_of_block(there, reinterpret_cast<uint64 *>(room));
    clear(cache);
}

// Reserves room for so many codes; false where there is none. One lane asks for its warp. Nothing is taken and given
// back: while many warps did so at once none found room, launch after launch.
INNER bool reserve(const Census &census, int64 graph, int64 codes) {
    uint64 *room = reinterpret_cast<uint64 *>(census.room + graph);
    uint64 left = seen_now(room);
    while (int64(left) >= codes) {
        const uint64 before = atomicCAS(room, left, left - uint64(codes));
        if (before == left) return true;
        left = before;
    }
    return false;
}
