// What a level inside a neighbourhood can be where those above it are matched, and what hangs on its candidates: leaves, of
// which only the number counts.

// An `InsideLevel` where it is read often, by all warps of a block.
struct LevelAtHand {
    int minus, like, tallied, factor_count, row_count, different_count, smaller_count, child_count, leaf_count;
    unsigned kinds[DEPTH];  // words before the rows of the first member
    signed char row_levels[DEPTH], different[DEPTH], smaller[DEPTH], children[DEPTH], leaves[DEPTH];
};

INNER void fetch_level(const Inside &inside, int number, LevelAtHand &level) {
    const InsideLevel &from = inside.levels[number];
    level.minus = int(from.minus);
    level.like = int(from.like);
    level.tallied = int(from.tallied);
    level.factor_count = int(inside.program->levels[number].factor_count);
    level.row_count = int(from.row_count);
    level.different_count = int(from.different_count);
    level.smaller_count = int(from.smaller_count);
    level.child_count = int(from.child_count);
    level.leaf_count = int(from.leaf_count);
    ROLLED
    for (int i = 0; i < level.row_count; i++) {
        level.kinds[i] = unsigned(from.rows[i].kind * inside.room);
        level.row_levels[i] = static_cast<signed char>(from.rows[i].level);
    }
    ROLLED
    for (int i = 0; i < level.different_count; i++) level.different[i] = static_cast<signed char>(from.different[i]);
    ROLLED
    for (int i = 0; i < level.smaller_count; i++) level.smaller[i] = static_cast<signed char>(from.smaller[i]);
    ROLLED
    for (int i = 0; i < level.child_count; i++) level.children[i] = static_cast<signed char>(from.children[i]);
    ROLLED
    for (int i = 0; i < level.leaf_count; i++) level.leaves[i] = static_cast<signed char>(from.leaves[i]);
}

// A level that is gone through: the words still to come, and the child that is searched below its candidate.
struct OpenLevel {
    int next, end, child;
    Sum sum, product;
};

// A piece of a word at the second level below one member at the first; whether it is the first below that member.
struct Task {
    int root, member, word;
    unsigned bits;
    bool first;
};

// How a level is tallied: any leaves, or two of which the second has one candidate less.
enum Tally { NOT_TALLIED, ANY_TALLY, IN_PAIRS };

// Where a warp is inside a neighbourhood: what the levels above are matched to, and which are open.
struct InsideWalk {
    const Inside *inside;
    const unsigned *bits;
    const int *members;
    Task task;
    int size, words, depth, second;
    int positions[DEPTH], path[DEPTH];
    OpenLevel open[DEPTH];
    unsigned windows[DEPTH][WARP];
};

// What a warp has at hand. until: when its time is over. prepared: a leaf for which it has the words that are not empty of what the leaf can be whatever
// the level right above it is matched to, and which words these are.
struct InsideHand : InsideWalk {
    const LevelAtHand *levels;
    uint64 until, found[DEPTH];
    unsigned short list[BITS * WARP];
    int prepared, word_count;
    unsigned values[WORDS_AT_HAND];
    byte places[WORDS_AT_HAND];
};

// What all warps of a block have.
struct InsideBlock {
    LevelAtHand levels[DEPTH];
    InsideHand hands[WARPS];
};

// What a lane has: as `InsideHand`, for itself.
struct Lone {
    const Inside *inside;
    const LevelAtHand *levels;
    const unsigned *bits;
    const int *members;
    int size, words;
    int positions[DEPTH];
};

const int NEAR_ROWS = 3;  // of a level, whose places are kept at hand

// What a level can be where the levels above it are matched as a warp has them at hand, but for the one at `moving`: each
// lane may be at another candidate of that, or, with `ANYTHING`, nothing is asked of it.
const int ANYTHING = -1;

template <typename Hand>
struct Possible {
    const Hand &hand;
    const LevelAtHand &level;
    int moving, candidate, floor;
    unsigned mask, rows[NEAR_ROWS];  // words before them

    INNER_MEMBER Possible(const Hand &hand, int number, int moving = -1, int candidate = 0)
        : hand(hand), level(hand.levels[number]), moving(moving), candidate(candidate), floor(0) {
        mask = unsigned(hand.size + number) * hand.words;
        ROLLED
        for (int i = 0; i < level.smaller_count; i++) {
            int above = at(level.smaller[i]) + 1;
            floor = above > floor ? above : floor;
        }
        for (int i = 0; i < NEAR_ROWS; i++) rows[i] = i < level.row_count ? row(i) : mask;
    }

    INNER_MEMBER int at(int other) const { return other == moving ? candidate : hand.positions[other]; }
    INNER_MEMBER unsigned row(int number) const {
        int member = at(level.row_levels[number]);
        return member == ANYTHING ? mask : level.kinds[number] + unsigned(member) * hand.words;
    }
    INNER_MEMBER int begin() const { return floor / BITS; }

    // A word of it, from the first on, vertices that must be others among them.
    INNER_MEMBER unsigned word(int word) const {
        const unsigned *bits = hand.bits + word;
        unsigned common = bits[mask];
        for (int i = 0; i < NEAR_ROWS; i++) common &= bits[rows[i]];
        ROLLED
        for (int i = NEAR_ROWS; i < level.row_count; i++) common &= bits[row(i)];
        return word == begin() ? common & ~0u << floor % BITS : common;
    }

    INNER_MEMBER unsigned word_without_others(int number) const {
        unsigned common = word(number);
        ROLLED
        for (int i = 0; i < level.different_count; i++) {
            int member = at(level.different[i]);
            if (member != ANYTHING && member / BITS == number) common &= ~(1u << member % BITS);
        }
        return common;
    }

    // How many there are, vertices that must be others left out.
    template <typename Team>
    INNER_MEMBER int size(const Team &team) const {
        int count = 0;
        for (int i = begin() + team.member(); i < hand.words; i += Team::SIZE) count += __popc(word_without_others(i));
        return team.sum(count);
    }
};

// Prepares a leaf below a level. It has none prepared where the words are too many.
INNER void prepare(InsideHand &hand, int leaf, int above) {
    if (hand.words > WORDS_AT_HAND) return;
    Possible<InsideHand> possible(hand, leaf, above, ANYTHING);
    int count = 0;
    for (int begin = possible.begin(); begin < hand.words; begin += WARP) {
        int word = begin + lane();
        unsigned own = word < hand.words ? possible.word_without_others(word) : 0, any = __ballot_sync(ALL, own != 0);
        if (own) {
            int place = count + before(any);
            hand.values[place] = own;
            hand.places[place] = byte(word);
        }
        count += in_all(any);
    }
    if (lane() == 0) {
        hand.prepared = leaf;
        hand.word_count = count;
    }
    __syncwarp();
}

// How many candidates a leaf has below candidates of the level above: any leaf, or the one that is prepared.
template <typename Hand>
struct AnyLeaf {
    const Hand &hand;
    int above;

    INNER_MEMBER AnyLeaf(const Hand &hand, int above) : hand(hand), above(above) {}

    template <typename Team>
    INNER_MEMBER int size(const Team &team, int leaf, int candidate) const {
        return Possible<Hand>(hand, leaf, above, candidate).size(team);
    }
};

struct PreparedLeaf {
    const InsideHand &hand;
    unsigned rows[2];  // words before those of the first member
    int row_count;
    bool larger, other;  // than the level above

    INNER_MEMBER PreparedLeaf(const InsideHand &hand, int above) : hand(hand), row_count(0), larger(false), other(false) {
        const LevelAtHand &level = hand.levels[hand.prepared];
        rows[0] = rows[1] = 0;
        ROLLED
        for (int i = 0; i < level.row_count; i++) {
            if (level.row_levels[i] != above) continue;
            if (row_count++) rows[1] = level.kinds[i];
            else rows[0] = level.kinds[i];
        }
        ROLLED
        for (int i = 0; i < level.smaller_count; i++) larger |= level.smaller[i] == above;
        ROLLED
        for (int i = 0; i < level.different_count; i++) other |= level.different[i] == above;
    }

    template <typename Team>
    INNER_MEMBER int size(const Team &team, int, int candidate) const {
        const unsigned *row = hand.bits + unsigned(candidate) * hand.words;
        int count = 0;
        for (int i = team.member(); i < hand.word_count; i += Team::SIZE) {
            int word = hand.places[i];
            unsigned own = hand.values[i];
            if (row_count) own &= row[rows[0] + word];
            if (row_count > 1) own &= row[rows[1] + word];
            if (larger || other) {
                int turn = candidate - word * BITS;  // bits before that of the candidate
                if (larger && turn >= 0) own &= turn < BITS - 1 ? ~0u << (turn + 1) : 0;
                if (other && turn >= 0 && turn < BITS) own &= ~(1u << turn);
            }
            count += __popc(own);
        }
        return team.sum(count);
    }
};

// What hangs on a candidate of a level: its factors times the sizes of its leaves.
template <typename Team, typename Leaf, typename Hand>
INNER Sum hanging(const Team &team, const Leaf &leaf, const Hand &hand, int number, int candidate, uint64 modulus) {
    const LevelAtHand &level = hand.levels[number];
    Sum sum{1, 1};
    if (level.factor_count)
        multiply_factors(hand.inside->program->levels[number], hand.members[candidate], modulus, sum);
    int counted = -1, last = 0;
    ROLLED
    for (int i = 0; i < level.leaf_count && sum.size > 0; i++) {
        const LevelAtHand &its = hand.levels[level.leaves[i]];
        int asked = its.like >= 0 ? its.like : level.leaves[i];
        if (asked != counted) last = leaf.size(team, asked, candidate);
        counted = asked;
        int left = last > its.minus ? last - its.minus : 0;
        sum.value = product(sum.value, modulus ? left % modulus : left, modulus);
        sum.size *= left;
    }
    return sum;
}

APART Sum hanging_apart(const InsideHand &hand, int number, int candidate, uint64 modulus) {
    return hanging(Lanes<WARP>(), AnyLeaf<InsideHand>(hand, number), hand, number, candidate, modulus);
}

INNER Sum hanging_here(const InsideHand &hand, int number, int candidate, uint64 modulus) {
    if (hand.levels[number].leaf_count + hand.levels[number].factor_count == 0) return Sum{1, 1};
    return hanging_apart(hand, number, candidate, modulus);
}

// Whether all leaves of a level are the prepared one, or like it.
INNER bool are_prepared(const InsideHand &hand, const LevelAtHand &level) {
    bool all = hand.prepared >= 0;
    ROLLED
    for (int i = 1; i < level.leaf_count; i++) all &= hand.levels[level.leaves[i]].like == hand.prepared;
    return all;
}

// The sum of what hangs on the candidates that are written down, by so many lanes each.
template <typename Team, typename Leaf>
INNER Sum sum_listed(const InsideHand &hand, int number, int count, uint64 modulus) {
    const Team team;
    const Leaf leaf(hand, number);
    Sum sum{0, 0};
    for (int i = lane() / Team::SIZE; i < count; i += WARP / Team::SIZE) {
        Sum found = hanging(team, leaf, hand, number, hand.list[i], modulus);
        if (team.member() == 0) add(sum, found);
    }
    return sum;
}

// The same where one leaf that is prepared is all that hangs on them.
template <typename Team>
INNER uint64 count_listed(const InsideHand &hand, int number, int count) {
    const Team team;
    const PreparedLeaf leaf(hand, number);
    int minus = hand.levels[hand.prepared].minus;
    uint64 sum = 0;
    for (int i = lane() / Team::SIZE; i < count; i += WARP / Team::SIZE) {
        int found = leaf.size(team, hand.prepared, hand.list[i]) - minus;
        if (team.member() == 0 && found > 0) sum += found;
    }
    return sum;
}

// Writes down the candidates that are left in a word of each lane; how many there are.
INNER int list_candidates(InsideHand &hand, int word, unsigned left) {
    int place = __popc(left), own = place;
    for (int step = 1; step < WARP; step *= 2) {
        int other = __shfl_up_sync(ALL, place, step);
        if (lane() >= step) place += other;
    }
    int all = __shfl_sync(ALL, place, WARP - 1);
    for (place -= own; left; left &= left - 1)
        hand.list[place++] = static_cast<unsigned short>(word * BITS + __ffs(left) - 1);
    __syncwarp();
    return all;
}

// Writes down the candidates of a level in the next words in which there are any; how many there are. window: where to
// begin, then where to go on. without: a level of which nothing is asked.
APART int list_next(InsideHand &hand, int number, int &window, int end, int without = -1) {
    Possible<InsideHand> possible(hand, number, without, ANYTHING);
    window = window > possible.begin() ? window : possible.begin();
    for (; window < end; window += WARP) {
        int word = window + lane();
        unsigned left = word < end ? possible.word_without_others(word) : 0;
        if (!__ballot_sync(ALL, left != 0)) continue;
        window += WARP;
        return list_candidates(hand, word, left);
    }
    return 0;
}

// The same for those that are written down, whichever way is the fastest; a part of it in each lane.
INNER Sum sum_of_list(InsideHand &hand, int number, int count, uint64 modulus) {
    const LevelAtHand &level = hand.levels[number];
    if (!are_prepared(hand, level)) return sum_listed<Lanes<GROUP>, AnyLeaf<InsideHand>>(hand, number, count, modulus);
    bool few = 2 * count > WARP && hand.word_count < 2 * GROUP;  // words: a lane goes through all
    if (level.leaf_count == 1 && !level.factor_count) {
        uint64 found = few ? count_listed<Lanes<1>>(hand, number, count) : count_listed<Lanes<GROUP>>(hand, number, count);
        return Sum{found, double(found)};
    }
    return few ? sum_listed<Lanes<1>, PreparedLeaf>(hand, number, count, modulus)
               : sum_listed<Lanes<GROUP>, PreparedLeaf>(hand, number, count, modulus);
}
