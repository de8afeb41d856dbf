// Levels that are tallied: how many their leaf has below each of 32 candidates is found at once. The rows of all that the
// leaf can be are added up, bit by bit: plane p of a word has the bits p of the numbers of its candidates.

const int PLANES = 17;  // bits of a number of members
const int AT_ONCE = 8;  // rows that are added together

struct Planes {
    unsigned bits[PLANES];

    // Adds a bit to each number, as far as 2^FIRST.
    template <int FIRST>
    INNER_MEMBER void add(unsigned carry) {
        UNROLLED
        for (int p = FIRST; p < PLANES; p++) {
            if (!__ballot_sync(ALL, carry != 0)) return;
            unsigned both = bits[p] & carry;
            bits[p] ^= carry;
            carry = both;
        }
    }

    // Adds two bits to each number; what is carried to the next plane.
    template <int PLANE>
    INNER_MEMBER unsigned add_two(unsigned one, unsigned other) {
        unsigned own = bits[PLANE], either = own ^ one;
        bits[PLANE] = either ^ other;
        return (own & one) | (either & other);
    }

    INNER_MEMBER void add_all(const unsigned *rows) {
        unsigned low = add_two<1>(add_two<0>(rows[0], rows[1]), add_two<0>(rows[2], rows[3]));
        unsigned high = add_two<1>(add_two<0>(rows[4], rows[5]), add_two<0>(rows[6], rows[7]));
        add<3>(add_two<2>(low, high));
    }

    INNER_MEMBER unsigned any() const {
        unsigned found = 0;
        UNROLLED
        for (int p = 0; p < PLANES; p++) found |= bits[p];
        return found;
    }

    INNER_MEMBER int at(int bit) const {
        int number = 0;
        UNROLLED
        for (int p = 0; p < PLANES; p++) number |= int(bits[p] >> bit & 1) << p;
        return number;
    }
};

// The rows that lead from a leaf to the level above: words before that of the first member. apart: whether the two must
// differ.
struct Leading {
    unsigned rows;
    bool apart;

    INNER_MEMBER Leading(const LevelAtHand &leaf, int above) : rows(0), apart(false) {
        ROLLED
        for (int i = 0; i < leaf.row_count; i++)
            if (leaf.row_levels[i] == above) rows = leaf.kinds[i];
        ROLLED
        for (int i = 0; i < leaf.different_count; i++) apart |= leaf.different[i] == above;
    }
};

// Adds up a word in each lane of the rows of members that are written down; candidates: the bits that count.
INNER void add_rows(const InsideHand &hand, const Leading &leading, int count, int word, unsigned candidates, Planes &planes) {
    const unsigned *bits = hand.bits + leading.rows + (word < hand.words ? word : 0);
    auto own = [&](int number) {
        int member = hand.list[number];
        unsigned row = bits[unsigned(member) * hand.words] & candidates;
        return leading.apart && member / BITS == word ? row & ~(1u << member % BITS) : row;
    };
    int number = 0;
    for (; number + AT_ONCE <= count; number += AT_ONCE) {
        unsigned rows[AT_ONCE];
        UNROLLED
        for (int k = 0; k < AT_ONCE; k++) rows[k] = own(number + k);
        planes.add_all(rows);
    }
    for (; number < count; number++) planes.add<0>(own(number));
}

// What hangs on a candidate whose leaf has so many.
INNER Sum tallied(const InsideHand &hand, const LevelAtHand &level, int number, uint64 modulus) {
    Sum sum{1, 1};
    ROLLED
    for (int i = 0; i < level.leaf_count && sum.size > 0; i++) {
        int minus = hand.levels[level.leaves[i]].minus, left = number > minus ? number - minus : 0;
        sum.value = product(sum.value, modulus ? left % modulus : left, modulus);
        sum.size *= left;
    }
    return sum;
}

// The sum over a level that is tallied; a part of it in each lane.
APART Sum sum_tallied(InsideHand &hand, int number, uint64 modulus) {
    const LevelAtHand &level = hand.levels[number];
    const int leaf = level.leaves[0];
    const Leading leading(hand.levels[leaf], number);
    Possible<InsideHand> possible(hand, number);
    Sum sum{0, 0};
    int found = 0;
    for (int begin = possible.begin(); begin < hand.words; begin += WARP) {
        int word = begin + lane(), window = 0;
        unsigned candidates = word < hand.words ? possible.word_without_others(word) : 0;
        found += __popc(candidates);
        if (!__ballot_sync(ALL, candidates != 0)) continue;
        Planes planes = {};
        while (int all = list_next(hand, leaf, window, hand.words, number)) {
            add_rows(hand, leading, all, word, candidates, planes);
            __syncwarp();
        }
        for (unsigned left = planes.any(); left; left &= left - 1)
            add(sum, tallied(hand, level, planes.at(__ffs(left) - 1), modulus));
        if (modulus) sum.value %= modulus;
    }
    found = Lanes<WARP>().sum(found);
    if (lane() == 0) hand.found[number] += found;
    return sum;
}
