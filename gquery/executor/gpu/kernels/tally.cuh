// Levels that are tallied: how many their leaf has below each of 32 candidates is found at once. The rows of all that the
// leaf can be are added up, bit by bit: plane p of a word has the bits p of the numbers of its candidates.

const int PLANES = 17;      // bits of a number of members
const int FEW_PLANES = 8;   // of a number that is added up without looking at each candidate
const int AT_ONCE = 8;      // rows that are added together

template <int COUNT>
struct Planes {
    unsigned bits[COUNT];
    int used;

    // Adds a bit to each number, as far as 2^FIRST.
    template <int FIRST>
    INNER_MEMBER void add(unsigned carry) {
        UNROLLED
        for (int p = FIRST; p < COUNT; p++) {
            if (!carry) return;
            unsigned both = bits[p] & carry;
            bits[p] ^= carry;
            carry = both;
            used = used > p ? used : p + 1;
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
        used = used > 3 ? used : 3;
        add<3>(add_two<2>(low, high));
    }

    INNER_MEMBER unsigned any() const {
        unsigned found = 0;
        UNROLLED
        for (int p = 0; p < COUNT; p++) found |= bits[p];
        return found;
    }

    INNER_MEMBER int at(int bit) const {
        int number = 0;
        UNROLLED
        for (int p = 0; p < COUNT; p++) number |= int(bits[p] >> bit & 1) << p;
        return number;
    }

    // What all numbers come to, each times one less, where there are few planes.
    INNER_MEMBER unsigned pairs() const {
        unsigned sum = 0, twice = 0;
        UNROLLED
        for (int p = 0; p < FEW_PLANES; p++) {
            if (p >= used) break;
            sum += __popc(bits[p]) * ((1u << 2 * p) - (1u << p));
            UNROLLED
            for (int q = p + 1; q < FEW_PLANES; q++)
                if (q < used) twice += __popc(bits[p] & bits[q]) << (p + q);
        }
        return sum + 2 * twice;
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

    // What counts of a word of a member's row.
    INNER_MEMBER unsigned counted(unsigned row, int member, int word) const {
        return apart && member / BITS == word ? row & ~(1u << member % BITS) : row;
    }
};

// What hangs on a candidate whose leaf has so many.
template <typename Hand>
INNER Sum tallied(const Hand &hand, const LevelAtHand &level, int number, uint64 modulus) {
    Sum sum{1, 1};
    ROLLED
    for (int i = 0; i < level.leaf_count && sum.size > 0; i++) {
        int minus = hand.levels[level.leaves[i]].minus, left = number > minus ? number - minus : 0;
        sum.value = product(sum.value, modulus ? left % modulus : left, modulus);
        sum.size *= left;
    }
    return sum;
}

// Adds what hangs on the candidates of a word.
template <typename Hand, int COUNT>
INNER void add_tallied(const Hand &hand, const LevelAtHand &level, const Planes<COUNT> &planes, uint64 modulus, Sum &sum) {
    if (level.tallied == IN_PAIRS && planes.used <= FEW_PLANES) {
        unsigned found = planes.pairs();
        add(sum, Sum{found, double(found)});
    } else {
        for (unsigned left = planes.any(); left; left &= left - 1)
            add(sum, tallied(hand, level, planes.at(__ffs(left) - 1), modulus));
    }
    if (modulus) sum.value %= modulus;
}

// Adds up a word in each lane of the rows of members that are written down; candidates: the bits that count.
INNER void add_rows(
    const InsideHand &hand, const Leading &leading, int count, int word, unsigned candidates, Planes<PLANES> &planes
) {
    const unsigned *bits = hand.bits + leading.rows + (word < hand.words ? word : 0);
    auto own = [&](int number) {
        int member = hand.list[number];
        return leading.counted(bits[unsigned(member) * hand.words], member, word) & candidates;
    };
    int number = 0;
    for (; number + AT_ONCE <= count; number += AT_ONCE) {
        unsigned rows[AT_ONCE];
        UNROLLED
        for (int k = 0; k < AT_ONCE; k++) rows[k] = own(number + k);
        planes.add_all(rows);
    }
    for (; number < count; number++) planes.template add<0>(own(number));
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
        Planes<PLANES> planes = {};
        while (int all = list_next(hand, leaf, window, hand.words, number)) {
            add_rows(hand, leading, all, word, candidates, planes);
            __syncwarp();
        }
        add_tallied(hand, level, planes, modulus, sum);
    }
    found = Lanes<WARP>().sum(found);
    if (lane() == 0) hand.found[number] += found;
    return sum;
}

// The same by a lane alone, in a neighbourhood of few members.
APART Sum sum_tallied_alone(const Lone &own, int number, unsigned *found, uint64 modulus) {
    const LevelAtHand &level = own.levels[number];
    const int leaf = level.leaves[0];
    const Leading leading(own.levels[leaf], number);
    const Possible<Lone> possible(own, number), through(own, leaf, number, ANYTHING);
    Sum sum{0, 0};
    for (int word = possible.begin(); word < own.words; word++) {
        unsigned candidates = possible.word_without_others(word);
        found[number] += __popc(candidates);
        if (!candidates) continue;
        Planes<FEW_PLANES> planes = {};
        for (int from = through.begin(); from < own.words; from++) {
            for (unsigned left = through.word_without_others(from); left; left &= left - 1) {
                int member = from * BITS + __ffs(left) - 1;
                unsigned row = own.bits[leading.rows + unsigned(member) * own.words + word];
                planes.template add<0>(leading.counted(row, member, word) & candidates);
            }
        }
        add_tallied(own, level, planes, modulus, sum);
    }
    return sum;
}
