// The edges between vertices beside a set, each counted by itself.
//
// Sets that differ in their last member only have nearly the same edges beside them: those of the set without it, but for
// the edges of its neighbours. So the former are counted once by their kind, as seen without the last member: the words of
// both ends and the state of the pair. For each set they are taken over, and corrected.

// Goes through some rows side by side, a lane an entry. `row` says for a number where a row is, and something of its
// vertex; `each` is told that, and an entry, -1 for none: by all lanes. How many looks that took.
template <typename Row, typename Each>
INNER int through_rows(int count, Row row, Each each) {
    int looks = 0;
    for (int from = 0; from < count; from += WARP) {
        int begin = 0, length = 0, told = 0;
        if (from + lane() < count) row(from + lane(), begin, length, told);
        int until = length;
        for (int step = 1; step < WARP; step *= 2) {
            const int other = __shfl_up_sync(ALL, until, step);
            if (lane() >= step) until += other;
        }
        const int total = __shfl_sync(ALL, until, WARP - 1), earlier = until - length;
        for (int entry = lane(); entry - lane() < total; entry += WARP) {
            int owner = 0;
            for (int step = WARP / 2; step > 0; step /= 2)
                if (__shfl_sync(ALL, earlier, owner + step) <= entry) owner += step;
            const int index = __shfl_sync(ALL, begin - earlier, owner) + entry;
            const int own = __shfl_sync(ALL, told, owner);
            each(own, entry < total ? index : -1);
        }
        looks += total + WARP;
    }
    return looks;
}

// Counts the edges of a set for itself: the lower halves of the rows of all vertices beside it.
INNER int count_edges(Beside &beside) {
    const Walker &walker = beside.walker;
    return through_rows(
        beside.vertices(),
        [&](int number, int &begin, int &length, int &form) {
            const int vertex = walker.beside()[number], mark = walker.marks()[vertex];
            if (mark >= MEMBER) return;
            begin = walker.offsets()[vertex];
            length = walker.middles()[vertex] - begin;
            form = beside.form_at(beside.word_of(vertex, mark));
        },
        [&](int form, int index) {
            int64 code = -1;
            if (index >= 0) {
                const int other = walker.neighbours()[index], mark = walker.marks()[other];
                if (mark > 0 && mark < MEMBER)
                    code = beside.code_of(form, beside.form_at(beside.word_of(other, mark)), walker.states()[index]);
            }
            beside.count_alike(code, 1);
        });
}

// A set without its last member, and what vertices are to it.
struct Parent {
    const Walker &walker;
    const int last, states;  // the member, and the bits of a mark that are of the others

    INNER_MEMBER Parent(const Walker &walker_)
        : walker(walker_), last(walker_.path.members[walker_.places() - 1]),
          states((1 << ((walker_.places() - 1) * int(walker_.layout.state_bits))) - 1) {}

    // The word of a vertex, -1 where it is a member or not beside.
    INNER_MEMBER int word_of(int vertex) const {
        const int mark = walker.marks()[vertex];
        if ((mark >= MEMBER && vertex != last) || !(mark & states)) return -1;
        return walker.census.colours[vertex] | (mark & states) << walker.layout.colour_bits;
    }
};

const int WORD = 24;  // bits; more than a word has

// Adds an edge to those of its kind: for all lanes, NO_CODE for none. How many kinds are new.
INNER int add_kind(const Walker &walker, uint64 kind) {
    bool first = false;
    if (kind != NO_CODE) {
        int at = int(hashed(kind) >> 20) & (TABLE - 1);
        while (true) {
            const uint64 seen = atomicCAS(walker.kinds() + at, NO_CODE, kind);
            first = seen == NO_CODE;
            if (first || seen == kind) break;
            at = (at + 1) & (TABLE - 1);
        }
        atomicAdd(walker.numbers() + at, 1);
    }
    return in_all(__ballot_sync(ALL, first));
}

// Moves what is in the table to its beginning. How many kinds there are.
INNER int close_up_kinds(const Walker &walker) {
    int written = 0;
    for (int from = 0; from < TABLE; from += WARP) {
        const int at = from + lane();
        const uint64 kind = walker.kinds()[at];
        const int number = walker.numbers()[at];
        const unsigned found = __ballot_sync(ALL, kind != NO_CODE);
        __syncwarp();
        walker.kinds()[at] = NO_CODE;
        walker.numbers()[at] = 0;
        __syncwarp();
        if (kind != NO_CODE) {
            walker.kinds()[written + before(found)] = kind;
            walker.numbers()[written + before(found)] = number;
        }
        written += in_all(found);
        __syncwarp();
    }
    return written;
}

// Counts the edges beside the set without its last member by their kind. How many looks that took.
INNER int keep_edges(Walker &walker) {
    for (int at = lane(); at < TABLE; at += WARP) walker.kinds()[at] = NO_CODE, walker.numbers()[at] = 0;
    __syncwarp();
    const Parent parent(walker);
    int met = 0;
    const int looks = through_rows(
        walker.path.ends[walker.places() - 1],
        [&](int number, int &begin, int &length, int &word) {
            const int vertex = walker.beside()[number];
            word = parent.word_of(vertex);
            if (word < 0) return;
            begin = walker.offsets()[vertex];
            length = walker.middles()[vertex] - begin;
        },
        [&](int word, int index) {
            uint64 kind = NO_CODE;
            if (index >= 0 && met <= TABLE - 2 * WARP) {
                const int other = parent.word_of(walker.neighbours()[index]);
                if (other >= 0) kind = uint64(word) | uint64(other) << WORD | uint64(walker.states()[index]) << (2 * WORD);
            }
            met += add_kind(walker, kind);
        });
    __syncwarp();
    walker.kept = close_up_kinds(walker);
    if (met > TABLE - 2 * WARP) walker.kept = Walker::TOO_MANY;
    return looks + TABLE;
}

// Counts the edges of a set from those that are kept: those of neighbours of the last member are others, and it is not
// beside the set itself. How many looks that took.
INNER int count_kept_edges(Beside &beside) {
    const Walker &walker = beside.walker;
    const Parent parent(walker);
    const int vertex = parent.last, begin_of = walker.offsets()[vertex], degree = walker.offsets()[vertex + 1] - begin_of;
    const auto form = [&](int word) { return form_of(walker.layout, word, walker.path.ordered, walker.places()); };
    for (int at = lane(); at < walker.kept; at += WARP) {
        const uint64 kind = walker.kinds()[at], all = (uint64(1) << WORD) - 1;
        const int one = form(int(kind & all)), other = form(int(kind >> WORD & all)), state = int(kind >> (2 * WORD));
        beside.count(beside.code_of(one, other, state), walker.numbers()[at]);
    }
    const int own = form(parent.word_of(vertex));
    for (int from = 0; from < degree; from += WARP) {
        int64 code = -1;
        if (from + lane() < degree) {
            const int index = begin_of + from + lane(), word = parent.word_of(walker.neighbours()[index]);
            if (word >= 0) code = beside.code_of(own, form(word), walker.states()[index]);
        }
        beside.count_alike(code, -1);
    }
    return walker.kept + degree + through_rows(
        degree,
        [&](int number, int &begin, int &length, int &neighbour) {
            neighbour = walker.neighbours()[begin_of + number];
            if (walker.marks()[neighbour] >= MEMBER) return;
            begin = walker.offsets()[neighbour];
            length = walker.offsets()[neighbour + 1] - begin;
        },
        [&](int one, int index) {
            int64 is = -1, was = -1;
            if (index >= 0) {
                const int other = walker.neighbours()[index], mark = walker.marks()[other];
                const bool both = (mark & ~(MEMBER | parent.states)) != 0;  // then the pair is met from either end
                if (mark > 0 && mark < MEMBER && !(both && other > one)) {
                    const int state = walker.states()[index], from = beside.word_of(one, walker.marks()[one]);
                    is = beside.code_of(beside.form_at(from), beside.form_at(beside.word_of(other, mark)), state);
                    const int first = parent.word_of(one), second = parent.word_of(other);
                    if (first >= 0 && second >= 0) was = beside.code_of(form(first), form(second), state);
                }
            }
            beside.count_alike(is, 1);
            beside.count_alike(was, -1);
        });
}
