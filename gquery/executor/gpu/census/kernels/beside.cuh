// What two vertices more can be beside a set is counted, as `executor/cpu/census/walk.py` does it; a warp takes a set.

// Of a set and its graph while its neighbourhood is looked at. met: words so far.
struct Beside {
    Walker &walker;
    Cache &cache;
    Tally tally;
    Ordered ordered;
    int64 met, fresh, base, first, second, top;

    INNER_MEMBER Beside(Walker &walker_, Cache &cache_)
        : walker(walker_), cache(cache_), tally(tally_of(walker_.census, walker_.path.graph)), met(0), fresh(0) {
        const Layout &layout = walker.layout;
        int places = int(layout.size - 2);
        ordered = in_order(layout, walker.path.bases[places], places);
        base = ordered.code;
        first = layout.positions[places];
        second = layout.positions[places + 1];
        top = second + layout.colour_bits + places * layout.state_bits;
    }

    INNER_MEMBER int64 vertices() const { return walker.path.ends[walker.layout.size - 2]; }
    INNER_MEMBER int mark_of(int vertex) const { return walker.room.marks[vertex]; }
    INNER_MEMBER int word_of(int vertex, int mark) const {
        return walker.census.colours[vertex] | mark << walker.layout.colour_bits;
    }

    // Gives each word of some lanes, which are its only ones, a place where it has none.
    INNER_MEMBER void place(int word, bool leads) {
        const Room &room = walker.room;
        bool fresh_word = leads && room.slots[word] < 0;
        unsigned found = __ballot_sync(ALL, fresh_word);
        if (fresh_word) {
            int64 at = met + before(found);
            room.slots[word] = int(at);
            room.words[at] = word;
            room.forms[at] = int(form_of(walker.layout, word, ordered, int(walker.layout.size - 2)));
            room.sizes[at] = 0;
        }
        met += in_all(found);
        __syncwarp();
    }

    // Counts the vertices beside the set by word, and adds up their degrees.
    INNER_MEMBER void gather() {
        const Room &room = walker.room;
        int64 kinds = walker.census.kinds;
        for (int64 from = 0; from < vertices(); from += WARP) {
            int word = -1 - lane(), vertex = 0;
            bool there = false;
            if (from + lane() < vertices()) {
                vertex = room.beside[from + lane()];
                there = mark_of(vertex) < MEMBER;
                if (there) word = word_of(vertex, mark_of(vertex));
            }
            unsigned alike = __match_any_sync(ALL, word);
            bool leads = there && before(alike) == 0;
            place(word, leads);
            int at = there ? room.slots[word] : 0;
            if (leads) room.sizes[at] += in_all(alike);
            for (int64 kind = 0; kind < kinds; kind++) {
                unsigned degree = there ? walker.degrees[vertex * kinds + kind] : 0;
                unsigned sum = __reduce_add_sync(alike, degree);
                if (leads) room.sums[at * kinds + kind] += int(sum);
            }
            __syncwarp();
        }
    }

    INNER_MEMBER void count(int64 code, uint64 number) { fresh += add(cache, tally, code, number); }

    // An edge between two vertices beside the set, seen from the first.
    INNER_MEMBER int64 code_of(int64 low, int64 high, int64 state) const {
        if (low > high) {
            int64 form = low;
            low = high;
            high = form;
            state = turned(walker.layout, state);
        }
        return base | low << first | high << second | state << top;
    }

    // Counts the edges between vertices beside the set, each by itself: the lower halves of the rows of some vertices
    // side by side, a lane an entry. How many looks that took.
    INNER_MEMBER int64 edges() {
        const Room &room = walker.room;
        int64 looks = 0;
        for (int64 from = 0; from < vertices(); from += WARP) {
            int begin = 0, length = 0, form = 0;
            if (from + lane() < vertices()) {
                int vertex = room.beside[from + lane()], mark = mark_of(vertex);
                if (mark < MEMBER) {
                    begin = walker.offsets[vertex];
                    length = walker.middles[vertex] - begin;
                    form = room.forms[room.slots[word_of(vertex, mark)]];
                }
            }
            int until = length;
            for (int step = 1; step < WARP; step *= 2) {
                int other = __shfl_up_sync(ALL, until, step);
                if (lane() >= step) until += other;
            }
            int total = __shfl_sync(ALL, until, WARP - 1);
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
        int index = __shfl_sync(ALL, begin, owner) + entry - __shfl_sync(ALL, earlier, owner);
        int own = __shfl_sync(ALL, form, owner);
        bool there = false;
        int other = 0, mark = 0;
        if (entry < total) {
            other = walker.neighbours[index];
            mark = mark_of(other);
            there = mark > 0 && mark < MEMBER;
        }
        if (!__ballot_sync(ALL, there)) return;
        int64 code = -1 - lane();
        if (there) code = code_of(own, walker.room.forms[walker.room.slots[word_of(other, mark)]], walker.states[index]);
        unsigned alike = __match_any_sync(ALL, code);
        if (there && before(alike) == 0) count(code, in_all(alike));
    }

    // Counts two vertices beside the set as if they had no edge.
    INNER_MEMBER void both() {
        const Room &room = walker.room;
        for (int64 at = lane(); at < met * met; at += WARP) {
            int64 one = at / met, other = at % met, size = room.sizes[one];
            uint64 number = one == other ? uint64(size) * (size - 1) / 2 : uint64(size) * room.sizes[other];
            if (other <= one && number) count(code_of(room.forms[one], room.forms[other], 0), number);
        }
    }

    // Counts the vertices that are beside those of each word, and not of the set.
    INNER_MEMBER void behind() {
        const Room &room = walker.room;
        const Layout &layout = walker.layout;
        int64 kinds = walker.census.kinds, full = (int64(1) << layout.state_bits) - 1;
        for (int64 at = lane(); at < met * kinds; at += WARP) {
            int64 one = at / kinds, kind = at % kinds, word = room.words[one], number = room.sums[at];
            for (int place = 0; place < layout.size - 2; place++) {
                int64 state = (word >> (layout.colour_bits + place * layout.state_bits)) & full;
                int64 colour = walker.census.colours[walker.path.members[place]];
                if (state && kind == (colour | turned(layout, state) << layout.colour_bits)) number -= room.sizes[one];
            }
            room.sums[at] = 0;
            int64 colour = kind & ((int64(1) << layout.colour_bits) - 1), state = kind >> layout.colour_bits;
            if (number)
                count(base | int64(room.forms[one]) << first | colour << second | state << top, uint64(number));
        }
    }

    INNER_MEMBER void forget() {
        __syncwarp();
        for (int64 at = lane(); at < met; at += WARP) walker.room.slots[walker.room.words[at]] = -1;
        for (int64 at = lane(); at < met * walker.census.kinds; at += WARP) walker.room.sums[at] = 0;
        __syncwarp();
    }

    // How many codes there can be.
    INNER_MEMBER int64 most() const {
        int64 pairs = met * (met + 1) / 2, edges = walker.census.links;
        int64 inside = pairs << walker.layout.state_bits;
        return pairs + (edges < inside ? edges : inside) + met * walker.census.kinds;
    }
};

// Counts what the set of a walker is part of. Returns looks, or 0 where the tally lacks room: nothing was counted then.
INNER int64 count_beside(Walker &walker, Cache &cache, Counters *counters) {
    const Census &census = walker.census;
    int64 graph = walker.path.graph;
    Beside beside(walker, cache);
    beside.gather();
    int64 most = beside.most(), got = 0;
    if (lane() == 0) {
        got = reserve(census, graph, most);
        if (!got) atomicMax(&counters->wanted, most);
    }
    if (!__shfl_sync(ALL, got, 0)) {
        beside.forget();
        return 0;
    }
    int64 looks = beside.edges() + beside.met * beside.met + beside.vertices();
    beside.both();
    beside.behind();
    beside.forget();
    for (int step = 1; step < WARP; step *= 2) beside.fresh += __shfl_xor_sync(ALL, beside.fresh, step);
    if (lane() == 0) {
        atomicAdd(reinterpret_cast<uint64 *>(census.room + graph), uint64(most - beside.fresh));
        double vertices = double(beside.vertices());
        atomicAdd(census.bound + graph, vertices * vertices + double(2 * census.links));
    }
    return looks + WARP;
}

// What the warps of a block do together: a chunk of the tasks of a graph.
struct Work {
    int64 chunk;
    uint64 begun;
};

// Goes on with a chunk for about so many looks at neighbours. Whether it found no room in the tally.
INNER bool go_on(Walker &walker, Work &work, Cache &cache, Counters *counters, int64 &budget) {
    const Census &census = walker.census;
    while (budget > 0) {
        if (walker.path.depth == census.layout.size - 2) {
            int64 looks = count_beside(walker, cache, counters);
            if (!looks) return true;
            budget -= looks + walker.leave();
        } else if (walker.path.depth > 1) {
            budget -= walker.step();
        } else if (walker.path.depth == 1) {
            budget -= walker.leave();
        } else {
            uint64 begun = 0;
            if (lane() == 0) begun = atomicAdd(&work.begun, uint64(1));
            int64 task = work.chunk % census.chunks + int64(__shfl_sync(ALL, begun, 0)) * census.chunks;
            if (task >= census.tasks) return false;
            budget -= walker.begin(task);
        }
    }
    return false;
}

// Takes the next chunk, which the whole block waits for.
INNER void take_chunk(const Census &census, Work &work, Counters *counters) {
    if (threadIdx.x == 0) {
        int64 next = int64(atomicAdd(&counters->next, uint64(1)));
        work.chunk = next < census.graphs * census.chunks ? next : -1;
        work.begun = 0;
    }
    __syncthreads();
}

// Goes on with the chunks of all graphs, each warp for about so many looks. Tasks of vertices with many neighbours, which
// take long, are the first of a chunk.
KERNEL count_sets(__grid_constant__ const Census census, Counters *counters, int64 budget) {
    Cache &cache = at_hand<Cache>();
    Work &work = at_hand<Work>();
    int64 *at_work = census.at_work + 2 * blockIdx.x, *kept = census.paths + warp() * PATH;
    if (threadIdx.x == 0) work.chunk = at_work[0], work.begun = uint64(at_work[1]);
    clear(cache);
    Walker walker{census, census.layout};
    room_of(census, census.scratch + warp() * census.scratch_size, walker.room);
    walker.clear();
    bool idle = work.chunk < 0;
    __syncthreads();  // all have seen it
    if (idle) take_chunk(census, work, counters);
    if (work.chunk >= 0) walker.turn_to(work.chunk / census.chunks);
    walker.resume(kept);
    bool full = false;
    while (work.chunk >= 0) {
        full = go_on(walker, work, cache, counters, budget);
        flush(cache, tally_of(census, walker.path.graph), census.room + walker.path.graph);
        if (sum_of_block(full || budget <= 0 || walker.path.depth)) break;
        take_chunk(census, work, counters);
        if (work.chunk >= 0) walker.turn_to(work.chunk / census.chunks);
    }
    walker.save(kept);
    if (lane() == 0 && full) atomicAdd(&counters->full, uint64(1));
    if (threadIdx.x == 0) {
        at_work[0] = work.chunk, at_work[1] = int64(work.begun);
        if (work.chunk >= 0) atomicAdd(&counters->undone, uint64(1));
    }
}
