// What two vertices more can be beside a set is counted, as `executor/cpu/census/walk.py` does it; a warp takes a set.

// Of a set and its graph while its neighbourhood is looked at. met: words so far; fresh: room in the tally that this lane
// has taken.
struct Beside {
    const Walker &walker;
    const Census &census;
    const Layout &layout;
    Cache &cache;
    const Tally tally;
    int met, fresh;

    INNER_MEMBER Beside(const Walker &walker_, Cache &cache_)
        : walker(walker_), census(walker_.census), layout(walker_.layout), cache(cache_),
          tally(tally_of(walker_.census, walker_.graph)), met(0), fresh(0) {
        Ordered &ordered = walker.path.ordered;
        const int64 code = walker.path.bases[walker.places()];
        const bool known = ordered.from == code;
        __syncwarp();  // all have seen it
        if (known) return;
        if (lane() == 0) {
            ordered.from = code;
            look_up_order(census, ordered, walker.places());
        }
        __syncwarp();
    }

    INNER_MEMBER int vertices() const { return walker.path.ends[walker.places()]; }
    INNER_MEMBER int kinds() const { return int(census.kinds); }
    INNER_MEMBER int word_of(int vertex, int mark) const { return census.colours[vertex] | mark << layout.colour_bits; }
    INNER_MEMBER int form_at(int word) const { return walker.forms()[walker.slots()[word]]; }

    // Gives words a place where they have none; lanes that lead have different ones.
    INNER_MEMBER void place(int word, bool leads) {
        const bool first = leads && walker.slots()[word] < 0;
        const unsigned found = __ballot_sync(ALL, first);
        if (first) {
            const int at = met + before(found);
            walker.slots()[word] = at;
            walker.words()[at] = word;
            walker.forms()[at] = form_of(layout, word, walker.path.ordered, walker.places());
            walker.sizes()[at] = 0;
        }
        met += in_all(found);
        __syncwarp();
    }

    // Counts the vertices beside the set by word, and adds up their degrees.
    INNER_MEMBER void gather() {
        for (int from = 0; from < vertices(); from += WARP) {
            int word = -1 - lane(), vertex = 0;
            bool there = false;
            if (from + lane() < vertices()) {
                vertex = walker.beside()[from + lane()];
                const int mark = walker.marks()[vertex];
                there = mark < MEMBER;
                if (there) word = word_of(vertex, mark);
            }
            const unsigned alike = __match_any_sync(ALL, word);
            const bool leads = there && before(alike) == 0;
            place(word, leads);
            const int at = there ? walker.slots()[word] : 0;
            if (leads) walker.sizes()[at] += in_all(alike);
            for (int kind = 1 << layout.colour_bits; kind < kinds(); kind++) {  // without an edge there are none
                const unsigned degree = there ? walker.degrees()[vertex * kinds() + kind] : 0;
                const unsigned sum = __reduce_add_sync(alike, degree);
                if (leads) walker.sums()[at * kinds() + kind] += int(sum);
            }
            __syncwarp();
        }
    }

    INNER_MEMBER void count(int64 code, int64 number) { fresh += add(cache, tally, code, number); }

    // Two vertices beside the set, and their pair seen from the first.
    INNER_MEMBER int64 code_of(int low, int high, int state) const {
        if (low > high) {
            const int form = low;
            low = high;
            high = form;
            state = int(turned(layout, state));
        }
        const int places = walker.places();
        const int64 first = layout.positions[places], second = layout.positions[places + 1];
        return walker.path.ordered.code | int64(low) << first | int64(high) << second
               | int64(state) << (second + walker.word_bits());
    }

    // The same, by a lane for each, -1 for none: those alike are counted together.
    INNER_MEMBER void count_alike(int64 code, int sign) {
        if (!__ballot_sync(ALL, code >= 0)) return;
        if (code < 0) code = -1 - lane();
        const unsigned alike = __match_any_sync(ALL, code);
        if (code >= 0 && before(alike) == 0) count(code, sign * in_all(alike));
    }

    // Counts two vertices beside the set as if they had no edge.
    INNER_MEMBER void both() {
        for (unsigned at = lane(); at < unsigned(met) * met; at += WARP) {
            const unsigned one = at / met, other = at % met;
            if (other > one) continue;
            const int64 size = walker.sizes()[one];
            const int64 number = one == other ? size * (size - 1) / 2 : size * walker.sizes()[other];
            if (number) count(code_of(walker.forms()[one], walker.forms()[other], 0), number);
        }
    }

    // Counts the vertices that are beside those of each word, and not of the set.
    INNER_MEMBER void behind() {
        const int colours = int(layout.colour_bits), bits = int(layout.state_bits), places = walker.places();
        for (int at = lane(); at < met * kinds(); at += WARP) {
            const int one = at >> (colours + bits), kind = at & (kinds() - 1), word = walker.words()[one];
            int number = walker.sums()[at];
            for (int place = 0; place < places; place++) {
                const int state = (word >> (colours + place * bits)) & ((1 << bits) - 1);
                if (state && kind == (census.colours[walker.path.members[place]] | int(turned(layout, state)) << colours))
                    number -= walker.sizes()[one];
            }
            walker.sums()[at] = 0;
            const int64 first = layout.positions[places], second = layout.positions[places + 1];
            const int64 colour = kind & ((1 << colours) - 1), state = kind >> colours;
            if (number)
                count(walker.path.ordered.code | int64(walker.forms()[one]) << first | colour << second
                      | state << (second + walker.word_bits()), number);
        }
    }

    INNER_MEMBER void forget() {
        __syncwarp();
        for (int at = lane(); at < met; at += WARP) walker.slots()[walker.words()[at]] = -1;
        for (int at = lane(); at < met * kinds(); at += WARP) walker.sums()[at] = 0;
        __syncwarp();
    }

    // How many codes there can be, but for those of the kinds of edges that are kept.
    INNER_MEMBER int64 most() const {
        const int64 pairs = int64(met) * (met + 1) / 2, inside = pairs << layout.state_bits;
        return pairs + (census.links < inside ? census.links : inside) + met * kinds();
    }
};
