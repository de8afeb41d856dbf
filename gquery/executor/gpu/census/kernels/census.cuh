// The graphs of a batch: what the host makes, and one thread or warp after the other looks at.

// A small coloured graph as one number, see `executor/census/layout.py`.
struct Layout {
    int64 size, types, directed, state_bits, colour_bits, positions[9];
};

// Kernels take it by value: what does not change is read from their constants. Pointers are to the device's memory. What is of one graph stands behind that of the graph before.
struct Census {
    Layout layout;
    // The graph itself. links: how many; places: of a table of links, a power of two; groups: see `links.py`.
    int64 vertices, links, groups, places, kinds;  // kinds: values of the colour and state of a neighbour
    const int *colours;                            // [vertices]
    const int *tails, *heads, *types, *group_of;   // [links]
    const int64 *begins;                           // [groups + 1]
    const signed char *symmetric, *turnable;       // [groups]
    int64 apart;
    const int *painted;                            // [vertices], sorted by colour
    const int64 *paint_begins;                     // [colours + 1]
    // What random graphs are. first: the number of the first graph, where -1 is the graph itself.
    int64 model, attempts, seed, first, graphs;
    // Of every graph: its links, a table of them, the state of its random numbers, how many attempts were made, -1 at
    // first, and how many changed it; how many links found a place.
    int *own_tails, *own_heads, *own_types, *own_groups;  // [graphs][links]
    int *table;                                           // [graphs][places]
    uint64 *chance;                                       // [graphs]
    int64 *made, *changed, *kept;                         // [graphs]
    // Its rows of pairs, seen from both ends. middles: in each row the first neighbour behind the row's vertex.
    int *offsets, *middles;             // [graphs][vertices + 1]
    int *neighbours, *states, *rows;    // [graphs][2 * links]
    int *degrees;                       // [graphs][vertices][kinds]
    int *order, *ends, *last;           // to work in: [graphs][2 * links], [graphs][vertices + 1], [graphs][vertices]
    // Its tally: codes, -1 for none, and counts, side by side, since both are asked for at once all over the memory; how
    // many more codes it has room for; what counts add up to at most.
    int64 slots;             // a power of two
    int64 *tallies;          // [graphs][slots][2]
    int64 *room;             // [graphs]
    double *bound;           // [graphs]
    // Of every warp: where its enumeration is, and memory. words: that one set can have beside it.
    int64 *paths;            // [warps][PATH]
    byte *scratch;           // [warps][scratch_size]
    int64 scratch_size, words;
    // So many blocks may work at a graph, each of which takes one of its turns, and then the graph's tasks one after the
    // other as they come: those that take long are the first, and nobody waits for another's. Of a block the number of
    // its turn, -1 for none; of a graph how many tasks have begun.
    int64 tasks, turns;
    int64 parts;             // of a pair of neighbours, each a task; a power of two
    int64 *orders, order_bits;  // [2^order_bits]: of sets, see `orders.cuh`; none where there would be too many
    int64 *at_work;          // [blocks]
    uint64 *begun;           // [graphs]
};

// What changes while kernels run. next: turn; unmade: graphs that are not ready; undone: blocks that have not ended;
// full: warps that found no room in a tally, and what was wanted there at most.
struct Counters {
    uint64 next, unmade, undone, full;
    int64 wanted;
};

enum Model { SWITCHED, STUBS, SCATTERED };

INNER int64 warp() { return thread() / WARP; }
INNER int64 warps() { return threads() / WARP; }

// The state of a pair as seen from its other end.
INNER int64 turned(const Layout &layout, int64 state) {
    if (!layout.directed) return state;
    return (state >> layout.types) | ((state & ((1 << layout.types) - 1)) << layout.types);
}

const uint64 ODD = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio

INNER uint64 hashed(uint64 value) {
    value *= ODD;
    return value ^ (value >> 32);
}
