// Sums inside the neighbourhood of each root: all that is searched below a root are members. From a member on a warp goes on
// depth first, and at the bottom, above leaves, its lanes take several candidates at a time.

const int LOOKS = 16;  // candidates between two looks at the clock

// A warp stops where it has just come to a level, when its time is over. level: that level, to go on from there with the next
// launch; negative as long as it has not stopped.
struct Turn {
    int looks, level;

    INNER_MEMBER bool is_over(uint64 end) { return looks++ % LOOKS == LOOKS - 1 && __shfl_sync(ALL, now() >= end, 0); }
};

// Adds up what the candidates of a level, in some words, stand for; a part of it in each lane.
INNER Sum sum_candidates(InsideHand &hand, int number, int begin, int end, uint64 modulus) {
    Sum sum{0, 0};
    if (lane() == 0) hand.prepared = -1;
    bool ready = false;
    while (int all = list_next(hand, number, begin, end)) {
        if (!ready && hand.levels[number].leaf_count) prepare(hand, hand.levels[number].leaves[0], number);
        ready = true;
        add(sum, sum_of_list(hand, number, all, modulus));
        if (lane() == 0) hand.found[number] += all;
        __syncwarp();
    }
    return sum;
}

// The same of a level without inner levels below, in each lane all of it.
INNER Sum sum_bottom(InsideHand &hand, int number, int begin, int end, uint64 modulus) {
    Sum sum = hand.levels[number].tallied ? sum_tallied(hand, number, modulus)
                                          : sum_candidates(hand, number, begin, end, modulus);
    sum = sum_of_warp(sum);
    sum = Sum{__shfl_sync(ALL, sum.value, 0), __shfl_sync(ALL, sum.size, 0)};
    if (modulus) sum.value %= modulus;
    return sum;
}

// Takes the next candidate of an open level; -1 when there is none.
INNER int next_candidate(InsideHand &hand, int number) {
    OpenLevel &open = hand.open[number];
    unsigned own = hand.windows[number][lane()], any = __ballot_sync(ALL, own != 0);
    int window = open.next - WARP;
    if (!any) {
        Possible<InsideHand> possible(hand, number);
        while (!any) {
            window = window + WARP > possible.begin() ? window + WARP : possible.begin();
            if (window >= open.end) return -1;
            int word = window + lane();
            own = word < open.end ? possible.word_without_others(word) : 0;
            if (number == hand.second) own &= hand.task.bits;
            any = __ballot_sync(ALL, own != 0);
        }
    }
    int from = __ffs(any) - 1, bit = __ffs(__shfl_sync(ALL, own, from)) - 1;
    __syncwarp();
    if (lane() == 0) open.next = window + WARP;
    hand.windows[number][lane()] = lane() == from ? own & (own - 1) : own;
    __syncwarp();
    return (window + from) * BITS + bit;
}

INNER void open_level(InsideHand &hand, int number, int begin, int end) {
    __syncwarp();
    hand.windows[number][lane()] = 0;
    if (lane() == 0) {
        hand.path[hand.depth++] = number;
        hand.open[number] = OpenLevel{begin, end, 0, Sum{0, 0}, Sum{0, 0}};
    }
    __syncwarp();
}

// Gives the sum of a child to an open level.
INNER void give_sum(OpenLevel &open, int64 children, const Sum &sum, uint64 modulus) {
    __syncwarp();
    if (lane() == 0) {
        multiply(open.product, sum, modulus);
        open.child++;
        if (open.product.size == 0 || open.child == children) {
            open.sum.value += open.product.value;
            if (modulus) open.sum.value %= modulus;
            open.sum.size += open.product.size;
            open.child = 0;
        }
    }
    __syncwarp();
}

// Goes on to the next candidate of an open level that leaves have something for; false when there is none.
INNER bool next_match(InsideHand &hand, int number, uint64 modulus) {
    while (true) {
        int candidate = next_candidate(hand, number);
        if (candidate < 0) return false;
        if (lane() == 0) {
            hand.positions[number] = candidate;
            hand.found[number]++;
        }
        __syncwarp();
        Sum sum = hanging_here(hand, number, candidate, modulus);
        if (sum.size == 0) continue;
        if (lane() == 0) hand.open[number].product = sum;
        __syncwarp();
        return true;
    }
}

// The sum over a level and all below it, of its candidates in some words; or over those that were open already. By a warp,
// depth first. Nothing when it stops before the end: levels stay open then.
INNER Sum sum_below(InsideHand &hand, int level, int begin, int end, uint64 modulus, Turn &turn) {
    Sum sum{0, 0};
    bool entering = true;
    while (true) {
        if (entering && hand.levels[level].child_count) {
            open_level(hand, level, begin, end);
        } else {
            if (entering) sum = sum_bottom(hand, level, begin, end, modulus);
            if (hand.depth == 0) return sum;
            level = hand.path[hand.depth - 1];
            give_sum(hand.open[level], hand.levels[level].child_count, sum, modulus);
        }
        entering = hand.open[level].child > 0 || next_match(hand, level, modulus);
        if (entering) {
            level = hand.levels[level].children[hand.open[level].child];
            begin = 0;
            end = hand.words;
            if (turn.is_over(hand.until)) {
                turn.level = level;
                return Sum{0, 0};
            }
        } else {
            sum = hand.open[level].sum;
            __syncwarp();
            if (lane() == 0) hand.depth--;
            __syncwarp();
        }
    }
}
