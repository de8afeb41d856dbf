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

    INNER_MEMBER void count(int64 code, uint64 number) { fresh += add(cache, tally, code, number); }

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

    // Counts the edges between vertices beside the set, each by itself: the lower halves of the rows of some vertices
    // side by side, a lane an entry. How many looks that took.
    INNER_MEMBER int edges() {
        int looks = 0;
        for (int from = 0; from < vertices(); from += WARP) {
            int begin = 0, length = 0, form = 0;
            if (from + lane() < vertices()) {
                const int vertex = walker.beside()[from + lane()], mark = walker.marks()[vertex];
                if (mark < MEMBER) {
                    begin = walker.offsets()[vertex];
                    length = walker.middles()[vertex] - begin;
                    form = form_at(word_of(vertex, mark));
                }
            }
            int until = length;
            for (int step = 1; step < WARP; step *= 2) {
                const int other = __shfl_up_sync(ALL, until, step);
                if (lane() >= step) until += other;
            }
            const int total = __shfl_sync(ALL, until, WARP - 1);
            for (int entry = 0; entry < total; entry += WARP)
                edges_of(entry + lane(), total, until - length, begin, form);
            looks += total + WARP;
        }
        return looks;
    }

    INNER_MEMBER void edges_of(int entry, int total, int earlier, int begin, int form) {
        int owner = 0;
        for (int step = WARP / 2; step > 0; step /= 2)
            if (__shfl_sync(ALL, earlier, owner + step) <= entry) owner += step;
        const int index = __shfl_sync(ALL, begin - earlier, owner) + entry;
        const int own = __shfl_sync(ALL, form, owner);
        bool there = false;
        int other = 0, mark = 0;
        if (entry < total) {
            other = walker.neighbours()[index];
            mark = walker.marks()[other];
            there = mark > 0 && mark < MEMBER;
        }
        if (!__ballot_sync(ALL, there)) return;
        int64 code = -1 - lane();
        if (there) code = code_of(own, form_at(word_of(other, mark)), walker.states()[index]);
        const unsigned alike = __match_any_sync(ALL, code);
        if (there && before(alike) == 0) count(code, in_all(alike));
    }

    // Counts two vertices beside the set as if they had no edge.
    INNER_MEMBER void both() {
        for (unsigned at = lane(); at < unsigned(met) * met; at += WARP) {
            const unsigned one = at / met, other = at % met;
            if (other > one) continue;
            const uint64 size = walker.sizes()[one];
            const uint64 number = one == other ? size * (size - 1) / 2 : size * walker.sizes()[other];
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
                      | state << (second + walker.word_bits()), uint64(number));
        }
    }

    INNER_MEMBER void forget() {
        __syncwarp();
        for (int at = lane(); at < met; at += WARP) walker.slots()[walker.words()[at]] = -1;
        for (int at = lane(); at < met * kinds(); at += WARP) walker.sums()[at] = 0;
        __syncwarp();
    }

    // How many codes there can be.
    INNER_MEMBER int64 most() const {
        const int64 pairs = int64(met) * (met + 1) / 2, inside = pairs << layout.state_bits;
        return pairs + (census.links < inside ? census.links : inside) + met * kinds();
    }
};

// Counts what the set of a walker is part of. Returns looks, or 0 where the tally lacks room: nothing was counted then.
INNER int64 count_beside(Walker &walker, Cache &cache, Counters *counters) {
    const Census &census = walker.census;
    Beside beside(walker, cache);
    beside.gather();
    const int64 most = beside.most();
    if (!walker.has_room(most)) {
        if (lane() == 0) atomicMax(&counters->wanted, most);
        beside.forget();
        return 0;
    }
    const int64 vertices = beside.vertices(), looks = beside.edges() + beside.met * beside.met + vertices + WARP;
    beside.both();
    beside.behind();
    beside.forget();
    for (int step = 1; step < WARP; step *= 2) beside.fresh += __shfl_xor_sync(ALL, beside.fresh, step);
    walker.room -= beside.fresh;
    walker.bound += double(vertices) * vertices + double(2 * census.links);
    return looks;
}

// What the warps of a block do together: a turn at a graph.
struct Work {
    int64 turn;
};

struct Paths {
    Path of[WARPS];
};

// Goes on with a graph for about so many looks at neighbours. Whether it found no room in the tally.
INNER bool go_on(Walker &walker, Cache &cache, Counters *counters, int64 &budget) {
    const Census &census = walker.census;
    while (budget > 0) {
        if (walker.depth == walker.places()) {
            int64 looks = count_beside(walker, cache, counters);
            if (!looks) return true;
            budget -= looks + walker.leave();
        } else if (walker.depth > 1) {
            budget -= walker.step();
        } else if (walker.depth == 1) {
            budget -= walker.leave();
        } else {
            uint64 begun = 0;
            if (lane() == 0) begun = atomicAdd(census.begun + walker.graph, uint64(1));
            const int64 task = int64(__shfl_sync(ALL, begun, 0));
            if (task >= census.tasks) return false;
            budget -= walker.begin(int(task));
        }
    }
    return false;
}

// Takes the next turn, which the whole block waits for.
INNER void take_turn(const Census &census, Work &work, Counters *counters) {
    if (threadIdx.x == 0) {
        int64 next = int64(atomicAdd(&counters->next, uint64(1)));
        work.turn = next < census.graphs * census.turns ? next : -1;
    }
    __syncthreads();
}

// Goes on with all graphs, each warp for about so many looks.
KERNEL count_sets(__grid_constant__ const Census census, Counters *counters, int64 budget) {
    Cache &cache = at_hand<Cache>();
    Work &work = at_hand<Work>();
    int64 *at_work = census.at_work + blockIdx.x, *kept = census.paths + warp() * PATH;
    if (threadIdx.x == 0) work.turn = *at_work;
    clear(cache);
    Walker walker{census, census.layout, at_hand<Paths>().of[threadIdx.x / WARP],
                  reinterpret_cast<int *>(census.scratch + warp() * census.scratch_size), 0, 0, 0, 0};
    walker.clear();
    bool idle = work.turn < 0;
    __syncthreads();  // all have seen it
    if (idle) take_turn(census, work, counters);
    if (work.turn >= 0) walker.graph = work.turn / census.turns;
    walker.resume(kept);
    bool full = false;
    while (work.turn >= 0) {
        full = go_on(walker, cache, counters, budget);
        walker.settle();
        flush(cache, tally_of(census, walker.graph), census.room + walker.graph);
        if (sum_of_block(full || budget <= 0 || walker.depth)) break;
        take_turn(census, work, counters);
        if (work.turn >= 0) walker.graph = work.turn / census.turns;
    }
    walker.save(kept);
    if (lane() == 0 && full) atomicAdd(&counters->full, uint64(1));
    if (threadIdx.x == 0) {
        *at_work = work.turn;
        if (work.turn >= 0) atomicAdd(&counters->undone, uint64(1));
    }
}
