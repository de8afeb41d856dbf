// How often each code was met: a table for each graph, which all warps add to.

struct Tally {
    int64 *codes;
    uint64 *counts;
    int64 mask;
};

INNER Tally tally_of(const Census &census, int64 graph) {
    return Tally{census.codes + graph * census.slots, census.counts + graph * census.slots, census.slots - 1};
}

// Adds to the count of a code, for which there must be room. Whether it is the first time.
INNER bool add(const Tally &tally, int64 code, uint64 number) {
    bool first = false;
    int64 at = int64(hashed(uint64(code))) & tally.mask;
    while (true) {
        int64 seen = tally.codes[at];
        if (seen < 0) {
            seen = int64(atomicCAS(reinterpret_cast<uint64 *>(tally.codes + at), ~uint64(0), uint64(code)));
            first = seen < 0;
        }
        if (first || seen == code) break;
        at = (at + 1) & tally.mask;
    }
    atomicAdd(tally.counts + at, number);
    return first;
}

// Reserves room for so many codes; false where there is none. One lane asks for its warp.
INNER bool reserve(const Census &census, int64 graph, int64 codes) {
    uint64 *room = reinterpret_cast<uint64 *>(census.room + graph);
    if (int64(atomicAdd(room, uint64(-codes))) >= codes) return true;
    atomicAdd(room, uint64(codes));
    return false;
}
