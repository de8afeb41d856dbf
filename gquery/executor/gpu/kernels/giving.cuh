// How warps come by what `adaptive.cuh` sums: roots first, and when these are gone half of what another warp has left. Who has
// nothing to do asks, in a queue; who has looks now and then whether anybody asks.

// So many candidates are left at a depth of a warp's walk, of the word in progress and of those behind it.
INNER int left_at(const Walker &walker, int depth) {
    const Node &node = nodes_at_hand()[depth];
    const uint64 *bits = walker.left.at(depth, node.vertex);
    int count = bits_in(node.candidates);
    ROLLED
    for (int word = node.word + 1; word < node.word_end; word++) count += bits_in(bits[word]);
    return count;
}

// Whether a giver has something to go on with that gives all that is left at a depth.
INNER bool is_busy(const Walker &walker, int depth) { return depth < walker.depth || nodes_at_hand()[depth].rest; }

// The shallowest depth that has anything to give, 0 where none has.
APART int depth_to_give(const Walker &walker) {
    ROLLED
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
            ROLLED
            while (!number) number = atomicExch(turn, 0u);  // it is about to be written
            if (atomicCAS(asked.hands + number - 1, unsigned(OPEN), unsigned(TAKEN)) == OPEN) found = int(number) - 1;
        }
    }
    return __shfl_sync(ALL, found, 0);
}

// Leaves the lower half of the candidates at a depth, and gives the higher one: whole words as far as that goes.
INNER void divide(const Walker &walker, int depth, Node &theirs) {
    Node &own = nodes_at_hand()[depth];
    const uint64 *bits = walker.left.at(depth, own.vertex);
    int count = left_at(walker, depth), wanted = (count + is_busy(walker, depth)) / 2;
    int word = own.word, cut = own.word_end, behind = 0;
    uint64 all = own.candidates;
    ROLLED
    while (!all) all = bits[++word];
    ROLLED
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
    ROLLED
    for (int i = wanted; i < count; i++) higher &= higher - 1;
    theirs.candidates = higher;
    own.candidates = all ^ higher;
    own.word = theirs.word = word;
    own.word_end = theirs.word_end = word + 1;
}

// Gives half of what is left at the shallowest depth that has any: the other warp stands where this one does, down to that
// depth, and has found nothing yet. Products above are of both, and so are parts that are not counted yet.
APART void give(Walker &walker) {
    int depth = depth_to_give(walker), to = depth ? taker(walker.asked) : -1, width = pattern_at_hand().width;
    if (to < 0) return;
    uint64 *place = place_of(walker.asked, to), *bits = bits_at(place, width);
    unsigned *told = told_at(place);
    ROLLED
    for (int above = lane(); above < depth; above += WARP) {
        Node node = nodes_at_hand()[above];
        node.sum = Sum{0, 0};
        node.candidates = 0;
        node.word_end = 0;
        nodes_at(place)[above] = node;
    }
    ROLLED
    for (int i = lane(); i < (depth + 1) * width; i += WARP) told[i] = walker.left.told[i];
    ROLLED
    for (int64 i = lane(); i < int64(depth) * pattern_at_hand().words; i += WARP) bits[i] = walker.left.bits[i];
    __syncwarp();
    if (lane() == 0) {
        divide(walker, depth, nodes_at(place)[depth]);
        walker.asked.standing[to] = Standing{depth + 1, depth, walker.share / 2};
        atomicAdd(&walker.asked.begun->working, 1ull);
    }
    walker.share /= 2;
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
    walker.share = found.share;
    ROLLED
    for (int i = lane(); i <= walker.depth; i += WARP) nodes_at_hand()[i] = nodes_at(walker.place)[i];
    __syncwarp();
}

// Whether a warp that has nothing to do will not get anything: nobody has any, or the time is over.
INNER bool is_over(const Walker &walker) {
    const Roots *begun = walker.asked.begun;
    return now() >= walker.until || (!seen_now(&begun->working) && int64(seen_now(&begun->next)) >= walker.asked.root_count);
}

const int SELDOM = 16;  // of those who ask, between two looks at whether all is over

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
    for (int turn = 0;; turn++) {
        unsigned seen = OPEN;
        if (lane() == 0) {
            seen = seen_now(hand);
            // All look at the same words: seldom, or who works would wait for these.
            bool over = seen == OPEN && turn % SELDOM == 0 && is_over(walker);
            if (over && atomicCAS(hand, unsigned(OPEN), unsigned(EMPTY)) == OPEN) seen = EMPTY;
        }
        seen = __shfl_sync(ALL, seen, 0);
        if (seen == EMPTY) return false;
        if (seen == FULL) break;
        __nanosleep(500);
    }
    __threadfence();
    __syncwarp();  // the first lane has seen that all is there: so may the others now
    if (lane() == 0) atomicExch(hand, unsigned(EMPTY));
    stand(walker);
    return true;
}

// Begins with a root.
INNER void begin_root(Walker &walker, int64 root) {
    const PatternAtHand &pattern = pattern_at_hand();
    walker.depth = walker.split = 0;
    walker.share = 1.0 / double(walker.asked.root_count);
    __syncwarp();
    ROLLED
    for (int vertex = lane(); vertex < pattern.width; vertex += WARP)
        walker.left.told[vertex] = walker.asked.pattern->first[vertex];
    if (lane() == 0) {
        unsigned everyone = ALL >> (VERTICES - pattern.width);
        nodes_at_hand()[0] = Node{everyone, 0, 0, Key{0, 0}, Sum{0, 0}, Sum{0, 0}, 0, 0, 0, 0};
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
        if (!working && lane() == 0) {
            atomicAdd(&walker.asked.begun->working, ~0ull);
            atomicAdd(&walker.asked.begun->done, walker.share);
        }
        if (step % STEPS_ALONE) continue;
        Hint next = hint(walker);
        if (next == STOP) return working;
        if (next == GIVE && working) give(walker);
    }
}

// The candidates that a warp has taken, in its first lane. budget: nanoseconds from now on.
INNER uint64 perform(const SumAdaptively &asked, uint64 modulus, uint64 budget) {
    fetch_pattern(*asked.pattern);
    int64 number = thread() / WARP;
    if (number >= asked.warps) return 0;
    int width = pattern_at_hand().width;
    uint64 *place = place_of(asked, number);
    Walker walker{
        asked, Left{told_at(place), bits_at(place, width)}, place, modulus, now() + budget, int(number), 0, 0, 0
    };
    ROLLED
    for (int vertex = lane(); vertex < VERTICES; vertex += WARP) counts_at_hand()[vertex] = 0;
    __syncwarp();
    bool working = asked.standing[number].depths > 0;
    if (working) stand(walker);
    working = walk(walker, working);
    __syncwarp();
    ROLLED
    for (int i = lane(); working && i <= walker.depth; i += WARP) nodes_at(place)[i] = nodes_at_hand()[i];
    if (lane() == 0) asked.standing[number] = Standing{working ? walker.depth + 1 : 0, walker.split, walker.share};
    ROLLED
    uint64 taken = 0;
    for (int vertex = lane(); vertex < width; vertex += WARP) {
        uint64 own = counts_at_hand()[vertex];
        if (own) atomicAdd(asked.found + vertex, own);
        taken += own;
    }
    return sum_of_all(taken);
}
