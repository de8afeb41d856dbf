// The links of one graph and a table of them, as in `executor/cpu/random_graphs/links.py`.

struct Links {
    int *tails, *heads, *types, *groups, *table;
    const int64 *begins;
    const signed char *symmetric, *turnable;
    int64 count, mask, vertices, apart;
};

INNER Links links_of(const Census &census, int64 graph) {
    int64 begin = graph * census.links;
    return Links{
        census.own_tails + begin, census.own_heads + begin, census.own_types + begin, census.own_groups + begin,
        census.table + graph * census.places, census.begins, census.symmetric, census.turnable,
        census.links, census.places - 1, census.vertices, census.apart,
    };
}

// Where an arc belongs.
INNER int64 bucket(const Links &links, int64 type, int64 tail, int64 head) {
    return int64(hashed(uint64((type * links.vertices + tail) * links.vertices + head))) & links.mask;
}

// Where an arc that there is belongs: that of link i is 2i, and where it leads both ways the one back 2i + 1.
INNER int64 own_bucket(const Links &links, int arc) {
    int link = arc >> 1, tail = links.tails[link], head = links.heads[link];
    return arc & 1 ? bucket(links, links.types[link], head, tail) : bucket(links, links.types[link], tail, head);
}

// The link that leads there, -1 where there is none.
INNER int64 find(const Links &links, int type, int tail, int head) {
    for (int64 at = bucket(links, type, tail, head); links.table[at] >= 0; at = (at + 1) & links.mask) {
        int arc = links.table[at], link = arc >> 1;
        int begin = arc & 1 ? links.heads[link] : links.tails[link];
        int end = arc & 1 ? links.tails[link] : links.heads[link];
        if (begin == tail && end == head && links.types[link] == type) return link;
    }
    return -1;
}

INNER void put(const Links &links, int arc) {
    int64 at = own_bucket(links, arc);
    while (links.table[at] >= 0) at = (at + 1) & links.mask;
    links.table[at] = arc;
}

// Those behind it move up, so that nothing marks the gap.
INNER void drop(const Links &links, int arc) {
    int64 gap = own_bucket(links, arc);
    while (links.table[gap] != arc) gap = (gap + 1) & links.mask;
    for (int64 at = (gap + 1) & links.mask; links.table[at] >= 0; at = (at + 1) & links.mask) {
        int64 wanted = own_bucket(links, links.table[at]);
        if (((at - wanted) & links.mask) >= ((at - gap) & links.mask)) {
            links.table[gap] = links.table[at];
            gap = at;
        }
    }
    links.table[gap] = -1;
}

APART void put_link(const Links &links, int link) {
    put(links, 2 * link);
    if (links.symmetric[links.groups[link]]) put(links, 2 * link + 1);
}

APART void drop_link(const Links &links, int link) {
    drop(links, 2 * link);
    if (links.symmetric[links.groups[link]]) drop(links, 2 * link + 1);
}

// Whether a link may lead there: it is no loop, and beside no other that it has to be apart from.
APART bool is_free(const Links &links, int type, int tail, int head) {
    if (tail == head || find(links, type, tail, head) >= 0) return false;
    return !links.apart || find(links, type, head, tail) < 0;
}
