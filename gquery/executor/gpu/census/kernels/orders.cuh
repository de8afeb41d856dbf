// Fewer codes for isomorphic sets: members are sorted by what two rounds of colour refinement make of them (Weisfeiler
// and Leman, 1968). The host brings codes to their classes; this only makes fewer of them.

const int MOST = 6;  // members of a set

// A set in another order: its code, and which member comes at each place.
struct Ordered {
    int64 code;
    int order[MOST];
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

INNER void refine(const Layout &layout, int64 code, int members, uint64 *marks) {
    uint64 next[MOST];
    for (int one = 0; one < members; one++) marks[one] = uint64(colour_of(layout, code, one)) * ODD;
    for (int round = 0; round < 2; round++) {
        for (int one = 0; one < members; one++) {
            uint64 beside = 0;
            for (int other = 0; other < members; other++) {
                int64 state = one == other ? 0 : state_between(layout, code, one, other);
                if (state) beside += hashed(marks[other] + uint64(state));
            }
            next[one] = marks[one] * ODD + beside;
        }
        for (int one = 0; one < members; one++) marks[one] = next[one];
    }
}

APART Ordered in_order(const Layout &layout, int64 code, int members) {
    uint64 marks[MOST];
    refine(layout, code, members, marks);
    Ordered found;
    found.code = 0;
    for (int member = 0; member < members; member++) {
        int at = member;
        for (; at > 0 && marks[found.order[at - 1]] > marks[member]; at--) found.order[at] = found.order[at - 1];
        found.order[at] = member;
    }
    for (int late = 0; late < members; late++) {
        int64 word = colour_of(layout, code, found.order[late]);
        for (int early = 0; early < late; early++)
            word |= state_between(layout, code, found.order[early], found.order[late])
                    << (layout.colour_bits + early * layout.state_bits);
        found.code |= word << layout.positions[late];
    }
    return found;
}

// The word of a vertex beside a set, as it is for another order of the set.
INNER int64 form_of(const Layout &layout, int64 word, const Ordered &ordered, int members) {
    int64 full = (int64(1) << layout.state_bits) - 1, states = word >> layout.colour_bits;
    int64 form = word & ((int64(1) << layout.colour_bits) - 1);
    for (int place = 0; place < members; place++)
        form |= ((states >> (ordered.order[place] * layout.state_bits)) & full)
                << (layout.colour_bits + place * layout.state_bits);
    return form;
}
