// A graph as the census reads it: rows of pairs, seen from both ends, their neighbours ascending.

// The state that a link gives to its pair, seen from its tail.
INNER int state_of(const Census &census, const Links &links, int64 link) {
    const Layout &layout = census.layout;
    int bit = 1 << links.types[link];
    return layout.directed && links.symmetric[links.groups[link]] ? bit | bit << layout.types : bit;
}

// Sorts the two entries of each link, 2 * link as seen from its tail, by neighbour; fills in where each row begins.
INNER void sort_entries(const Census &census, int64 graph, const Links &links, int64 kept) {
    int *ends = census.ends + graph * (census.vertices + 1), *order = census.order + graph * 2 * census.links;
    int *offsets = census.offsets + graph * (census.vertices + 1);
    for (int64 vertex = 0; vertex <= census.vertices; vertex++) ends[vertex] = 0;
    for (int64 link = 0; link < kept; link++) {
        ends[links.tails[link] + 1]++;
        ends[links.heads[link] + 1]++;
    }
    for (int64 vertex = 0; vertex < census.vertices; vertex++) ends[vertex + 1] += ends[vertex];
    for (int64 vertex = 0; vertex <= census.vertices; vertex++) offsets[vertex] = ends[vertex];
    for (int entry = 0; entry < 2 * kept; entry++) {
        int neighbour = entry & 1 ? links.tails[entry >> 1] : links.heads[entry >> 1];
        order[ends[neighbour]++] = entry;
    }
    for (int64 vertex = 0; vertex <= census.vertices; vertex++) ends[vertex] = offsets[vertex];
}

// Writes sorted entries to their rows, those of one pair as one.
INNER void deal(const Census &census, int64 graph, const Links &links, int64 kept) {
    int64 begin = graph * 2 * census.links;
    int *ends = census.ends + graph * (census.vertices + 1), *last = census.last + graph * census.vertices;
    int *order = census.order + begin, *neighbours = census.neighbours + begin, *states = census.states + begin;
    for (int64 vertex = 0; vertex < census.vertices; vertex++) last[vertex] = -1;
    for (int64 index = 0; index < 2 * kept; index++) {
        int link = order[index] >> 1, back = order[index] & 1;
        int own = back ? links.heads[link] : links.tails[link], other = back ? links.tails[link] : links.heads[link];
        int state = state_of(census, links, link);
        if (back) state = int(turned(census.layout, state));
        if (last[own] == other) {
            states[ends[own] - 1] |= state;
        } else {
            neighbours[ends[own]] = other;
            states[ends[own]++] = state;
            last[own] = other;
        }
    }
}

// Moves the rows together, and counts the neighbours of each kind.
INNER void close_up(const Census &census, int64 graph) {
    int64 begin = graph * 2 * census.links, vertices = graph * (census.vertices + 1);
    int *ends = census.ends + vertices, *offsets = census.offsets + vertices, *middles = census.middles + vertices;
    int *neighbours = census.neighbours + begin, *states = census.states + begin, *rows = census.rows + begin;
    int *degrees = census.degrees + graph * census.vertices * census.kinds;
    for (int64 at = 0; at < census.vertices * census.kinds; at++) degrees[at] = 0;
    int written = 0, from = 0;
    for (int vertex = 0; vertex < census.vertices; vertex++) {
        int next = offsets[vertex + 1];
        offsets[vertex] = middles[vertex] = written;
        for (int index = from; index < ends[vertex]; index++, written++) {
            int neighbour = neighbours[index], state = states[index];
            neighbours[written] = neighbour;
            states[written] = state;
            rows[written] = vertex;
            degrees[vertex * census.kinds + (census.colours[neighbour] | state << census.layout.colour_bits)]++;
            if (neighbour < vertex) middles[vertex] = written + 1;
        }
        from = next;
    }
    offsets[census.vertices] = written;
}

// Makes graphs, one lane of a warp each: the chain of a graph is sequential, and no two go the same way.
KERNEL make_graphs(__grid_constant__ const Census census, Counters *counters, int64 budget) {
    if (lane()) return;
    for (int64 graph = warp(); graph < census.graphs; graph += warps()) {
        if (census.made[graph] > census.attempts) continue;  // it was made before
        if (!shuffle(census, graph, budget)) {
            atomicAdd(&counters->unmade, uint64(1));
            continue;
        }
        Links links = links_of(census, graph);
        sort_entries(census, graph, links, census.kept[graph]);
        deal(census, graph, links, census.kept[graph]);
        close_up(census, graph);
        census.made[graph] = census.attempts + 1;
    }
}
