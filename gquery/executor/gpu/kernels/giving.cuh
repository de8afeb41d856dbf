// How warps come by what `adaptive.cuh` sums: roots first, and when these are gone half of what another warp has left. Who has
// nothing to do asks, in a queue; who has looks now and then whether anybody asks.

// So many candidates are left at a depth of a warp's walk, of the word in progress and of those behind it.
INNER int left_at(const Walker &walker, int depth) {
    const Node &node = walker.nodes[depth];
    const uint64 *bits = walker.left.at(depth, node.vertex);
    int count = bits_in(node.candidates);
    for (int word = node.word + 1; word < node.word_end; word++) count += bits_in(bits[word]);
    return count;
}

// Whether a giver has something to go on with that gives all that is left at a depth.
INNER bool is_busy(const Walker &walker, int depth) { return depth < walker.depth || walker.nodes[depth].rest; }

// The shallowest depth that has anything to give, 0 where none has.
APART int depth_to_give(const Walker &walker) {
    for (int depth = 1; depth <= walker.depth; depth++)
        if (left_at(walker, depth) + is_busy(walker, depth) > 1) return depth;
    return 0;
}

// A warp that asks, and is given something now; -1 where there is none.
INNER int taker(const SumAdaptively &asked) {
    int found = -1;
    if (lane() == 0) {
        uint64 head = seen_now(&asked.asking->head);
        if (head < seen_now(&asked.asking->tail) && atomicCAS(&asked.asking->head, head, head + 1) == head) {
            unsigned *turn = asked.queue + head % uint64(asked.warps), number = 0;
            while (!number) number = atomicExch(turn, 0u);  // it is about to be written
            if (atomicCAS(asked.hands + number - 1, unsigned(OPEN), unsigned(TAKEN)) == OPEN) found = int(number) - 1;
        }
    }
    return __shfl_sync(ALL, found, 0);
}

// Leaves the lower half of the candidates at a depth, and gives the higher one: whole words as far as that goes.
INNER void divide(const Walker &walker, int depth, Node &theirs) {
    Node &own = walker.nodes[depth];
    const uint64 *bits = walker.left.at(depth, own.vertex);
    int count = left_at(walker, depth), wanted = (count + is_busy(walker, depth)) / 2;
    int word = own.word, cut = own.word_end, behind = 0;
    uint64 all = own.candidates;
    while (!all) all = bits[++word];
    while (cut - 1 > word && behind < wanted) behind += bits_in(bits[--cut]);
    theirs = own;
    theirs.rest = 0;
    theirs.sum = theirs.product = Sum{0, 0};
    if (behind) {
        theirs.word = cut;
        theirs.candidates = bits[cut];
        own.word_end = cut;
        return;
    }
    uint64 higher = all;
    for (int i = wanted; i < count; i++) higher &= higher - 1;
    theirs.candidates = higher;
    own.candidates = all ^ higher;
    own.word = theirs.word = word;
    own.word_end = theirs.word_end = word + 1;
}

// Gives half of what is left at the shallowest depth that has any: the other warp stands where this one does, down to that
// depth, and has found nothing yet. Products above are of both, and so are parts that are not counted yet.
APART void give(Walker &walker) {
    int depth = depth_to_give(walker), to = depth ? taker(walker.asked) : -1, width = walker.left.pattern.width;
    if (to < 0) return;
    uint64 *place = place_of(walker.asked, to), *bits = bits_at(place, width);
    unsigned *told = told_at(place);
    for (int above = lane(); above < depth; above += WARP) {
        Node node = walker.nodes[above];
        node.sum = Sum{0, 0};
        node.candidates = 0;
        node.word_end = 0;
        nodes_at(place)[above] = node;
    }
    for (int i = lane(); i < (depth + 1) * width; i += WARP) told[i] = walker.left.told[i];
    for (int64 i = lane(); i < int64(depth) * walker.left.pattern.words; i += WARP) bits[i] = walker.left.bits[i];
    __syncwarp();
    if (lane() == 0) {
        divide(walker, depth, nodes_at(place)[depth]);
        walker.asked.standing[to] = Standing{depth + 1, depth};
        atomicAdd(&walker.asked.begun->working, 1ull);
    }
    walker.split = walker.split > depth ? walker.split : depth;
    __threadfence();
    __syncwarp();
    if (lane() == 0) atomicExch(walker.asked.hands + to, unsigned(FULL));
    __syncwarp();
}

// Goes on where a warp stood, which may have been another one.
INNER void stand(Walker &walker) {
    Standing found = walker.asked.standing[walker.number];
    walker.depth = int(found.depths) - 1;
    walker.split = int(found.split);
    for (int i = lane(); i <= walker.depth; i += WARP) walker.nodes[i] = nodes_at(walker.place)[i];
    __syncwarp();
}

// Asks until it is given something, which is where the walk stands now; false when its time is over, or nobody has anything.
APART bool ask(Walker &walker) {
    const SumAdaptively &asked = walker.asked;
    unsigned *hand = asked.hands + walker.number;
    if (lane() == 0) {
        atomicExch(hand, unsigned(OPEN));
        __threadfence();
        uint64 turn = atomicAdd(&asked.asking->tail, 1ull);
        atomicExch(asked.queue + turn % uint64(asked.warps), unsigned(walker.number) + 1);
    }
    while (true) {
        unsigned seen = OPEN;
        if (lane() == 0) {
            seen = seen_now(hand);
            bool all_done = !seen_now(&asked.begun->working) && int64(seen_now(&asked.begun->next)) >= asked.root_count;
            if (seen == OPEN && (all_done || now() >= walker.until)) seen = atomicCAS(hand, unsigned(OPEN), unsigned(EMPTY)) == OPEN ? EMPTY : TAKEN;
        }
        seen = __shfl_sync(ALL, seen, 0);
        if (seen == EMPTY) return false;
        if (seen == FULL) break;
        __nanosleep(200);
    }
    __threadfence();
    if (lane() == 0) atomicExch(hand, unsigned(EMPTY));
    stand(walker);
    return true;
}

// Begins with a root.
INNER void begin_root(Walker &walker, int64 root) {
    const PatternAtHand &pattern = walker.left.pattern;
    walker.depth = walker.split = 0;
    __syncwarp();
    for (int vertex = lane(); vertex < pattern.width; vertex += WARP)
        walker.left.told[vertex] = walker.asked.pattern->first[vertex];
    if (lane() == 0) {
        unsigned everyone = ALL >> (VERTICES - pattern.width);
        walker.nodes[0] = Node{everyone, 0, 0, Key{0, 0}, Sum{0, 0}, Sum{0, 0}, 0, 0, 0, 0};
    }
    __syncwarp();
    take(walker, int(walker.asked.roots[root]));
}

// The next root, or a part of another warp's; false when there is none, or the time is over.
INNER bool find_work(Walker &walker) {
    const SumAdaptively &asked = walker.asked;
    int64 root = -1;
    if (lane() == 0 && int64(seen_now(&asked.begun->next)) < asked.root_count) {
        atomicAdd(&asked.begun->working, 1ull);
        root = int64(atomicAdd(&asked.begun->next, 1ull));
        if (root >= asked.root_count) {
            root = -1;
            atomicAdd(&asked.begun->working, ~0ull);
        }
    }
    root = __shfl_sync(ALL, root, 0);
    if (root < 0) return ask(walker);
    begin_root(walker, root);
    return true;
}

enum Hint { GO_ON, GIVE, STOP };

// What a warp does next, which looks at the clock, and at who asks.
INNER Hint hint(const Walker &walker) {
    int found = GO_ON;
    if (lane() == 0) {
        if (seen_now(&walker.asked.asking->head) < seen_now(&walker.asked.asking->tail)) found = GIVE;
        if (now() >= walker.until) found = STOP;
    }
    return Hint(__shfl_sync(ALL, found, 0));
}

// Sums until there is nothing left to do, or the time is over. Whether it is amid something.
INNER bool walk(Walker &walker, bool working) {
    for (int step = 1;; step++) {
        if (!working) {
            working = find_work(walker);
            if (!working) return false;
        }
        working = goes_on(walker);
        if (!working && lane() == 0) atomicAdd(&walker.asked.begun->working, ~0ull);
        if (step % STEPS_ALONE) continue;
        Hint next = hint(walker);
        if (next == STOP) return working;
        if (next == GIVE && working) give(walker);
    }
}

// The words that a warp has looked at, in its first lane. budget: nanoseconds from now on.
INNER uint64 perform(const SumAdaptively &asked, uint64 modulus, uint64 budget) {
    WalkersAtHand &desk = at_hand<WalkersAtHand>();
    fetch_pattern(*asked.pattern, desk.pattern);
    int64 number = thread() / WARP;
    if (number >= asked.warps) return 0;
    int own = threadIdx.x / WARP;
    uint64 *place = place_of(asked, number);
    Left left{desk.pattern, told_at(place), bits_at(place, desk.pattern.width)};
    Walker walker{asked, left, desk.nodes[own], desk.counts[own], place, modulus, now() + budget, int(number), 0, 0, 0};
    for (int vertex = lane(); vertex < VERTICES; vertex += WARP) walker.counts[vertex] = 0;
    __syncwarp();
    bool working = asked.standing[number].depths > 0;
    if (working) stand(walker);
    working = walk(walker, working);
    __syncwarp();
    for (int i = lane(); working && i <= walker.depth; i += WARP) nodes_at(place)[i] = walker.nodes[i];
    if (lane() == 0) asked.standing[number] = Standing{working ? walker.depth + 1 : 0, walker.split};
    for (int vertex = lane(); vertex < desk.pattern.width; vertex += WARP)
        if (walker.counts[vertex]) atomicAdd(asked.found + vertex, uint64(walker.counts[vertex]));
    return lane() == 0 ? uint64(walker.looks) : 0;
}
