// Fewer codes for isomorphic sets: members are sorted by what two rounds of colour refinement make of them (Weisfeiler
// and Leman, 1968). The host brings codes to their classes; this only makes fewer of them.

const int MOST = 6;  // members of a set

// A set in another order: its code, and which member comes at each place. One lane of a warp makes it, in memory that the
// others see; those of lanes would be as many, and crowd the caches.
struct Ordered {
    int64 from, code;  // as it is enumerated, and in order
    int order[MOST];
    uint64 marks[MOST], next[MOST];  // to work in
};

// The state of the pair of two members, seen from the first.
INNER int64 state_between(const Layout &layout, int64 code, int one, int other) {
    int early = one < other ? one : other, late = one < other ? other : one;
    int64 at = layout.positions[late] + layout.colour_bits + early * layout.state_bits;
    int64 state = (code >> at) & ((int64(1) << layout.state_bits) - 1);
    return one < other ? state : turned(layout, state);
}

INNER int64 colour_of(const Layout &layout, int64 code, int member) {
    return (code >> layout.positions[member]) & ((int64(1) << layout.colour_bits) - 1);
}

INNER void refine(const Layout &layout, Ordered &found, int members) {
    for (int one = 0; one < members; one++) found.marks[one] = uint64(colour_of(layout, found.from, one)) * ODD;
    for (int round = 0; round < 2; round++) {
        for (int one = 0; one < members; one++) {
            uint64 beside = 0;
            for (int other = 0; other < members; other++) {
                int64 state = one == other ? 0 : state_between(layout, found.from, one, other);
                if (state) beside += hashed(found.marks[other] + uint64(state));
            }
            found.next[one] = found.marks[one] * ODD + beside;
        }
        for (int one = 0; one < members; one++) found.marks[one] = found.next[one];
    }
}

APART void put_in_order(const Layout &layout, Ordered &found, int members) {
    refine(layout, found, members);
    for (int member = 0; member < members; member++) {
        int at = member;
        for (; at > 0 && found.marks[found.order[at - 1]] > found.marks[member]; at--)
            found.order[at] = found.order[at - 1];
        found.order[at] = member;
    }
    int64 code = 0;
    for (int late = 0; late < members; late++) {
        int64 word = colour_of(layout, found.from, found.order[late]);
        for (int early = 0; early < late; early++)
            word |= state_between(layout, found.from, found.order[early], found.order[late])
                    << (layout.colour_bits + early * layout.state_bits);
        code |= word << layout.positions[late];
    }
    found.code = code;
}

// What was found out of a set, as one number: its code in order, and above it three bits for each member. Whoever finds
// it out writes the same.
INNER int64 told(const Ordered &found, int bits, int members) {
    int64 all = found.code;
    for (int place = 0; place < members; place++) all |= int64(found.order[place]) << (bits + 3 * place);
    return all;
}

INNER void take(Ordered &found, int64 all, int bits, int members) {
    found.code = all & ((int64(1) << bits) - 1);
    for (int place = 0; place < members; place++) found.order[place] = int(all >> (bits + 3 * place)) & 7;
}

// As far as there is a table, sets are put in order once.
INNER void look_up_order(const Census &census, Ordered &found, int members) {
    const int bits = int(census.order_bits);
    const int64 known = bits ? seen_now(census.orders + found.from) : -1;
    if (known >= 0) {
        take(found, known, bits, members);
        return;
    }
    put_in_order(census.layout, found, members);
    if (bits) census.orders[found.from] = told(found, bits, members);
}

// The word of a vertex beside a set, as it is for another order of the set.
INNER int form_of(const Layout &layout, int word, const Ordered &ordered, int members) {
    const int bits = int(layout.state_bits), colours = int(layout.colour_bits), states = word >> colours;
    int form = word & ((1 << colours) - 1);
    for (int place = 0; place < members; place++)
        form |= ((states >> (ordered.order[place] * bits)) & ((1 << bits) - 1)) << (colours + place * bits);
    return form;
}
