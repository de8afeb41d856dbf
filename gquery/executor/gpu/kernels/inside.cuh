// Sums inside the neighbourhood of each root: all that is searched below a root are neighbours of it, its members. They
// are numbered in their order, and the edges among them are written as bitsets, so that what several rows have in common
// is the AND of a few words. A task is a member at the first level and a word of members at the second; a warp goes on
// from there depth first, and at the bottom, above leaves, its lanes take several candidates at a time.

const int DEPTH = 7;                // levels at most
const int BITS = 32;                // of a word
const int WORDS_AT_HAND = 128;      // of a row, while it is written or looked into often
const int HANDFUL = WARP / 4 > 0 ? WARP / 4 : 1;  // tasks that a warp begins with at once, as the end comes near
const uint64 TURN = 5000000;        // nanoseconds, after which no warp begins with another task

// The row of the member that a level is matched to.
struct InsideRow {
    int64 kind, level;
};

// Counts before pointers. different, smaller: levels but that of the root, which the masks know of. children: those that
// are gone through; leaves: those of which only the number counts.
struct InsideLevel {
    int64 minus, like, row_count, different_count, smaller_count, child_count, leaf_count;
    const InsideRow *rows;
    const int64 *different, *smaller, *children, *leaves;
};

// members: a root's row; above: whether only what is larger than the root is one; by_degree: whether larger means that
// there are more members, which leaves hubs few. kinds: what the bitsets are of. For each root of a block: where its
// members begin among those that are listed, how many they are; and running sums of rows to write, and of the words of a kind: a row for each member and, of the first kind, a mask for each level. bits: `room` words a kind.
struct Inside {
    const Program *program;
    const InsideLevel *levels;
    int64 level_count;
    Rows members;
    int64 above, by_degree, kind_count;
    const Rows *kinds;
    int *listed;
    int64 *begins;
    int *sizes;
    int64 *row_ends, *ends;
    unsigned *bits;
    int64 room;

    INNER_MEMBER int64 row_count(int64 size) const { return size ? kind_count * size + level_count : 0; }
    INNER_MEMBER bool is_larger(int vertex, int root) const {
        Range row = row_of(members, vertex), other = row_of(members, root);
        int64 more = (row.end - row.begin) - (other.end - other.begin);
        return more > 0 || (more == 0 && vertex > root);
    }
    INNER_MEMBER int64 before(int64 root) const { return root ? ends[root - 1] : 0; }
    INNER_MEMBER int64 rows_before(int64 root) const { return root ? row_ends[root - 1] : 0; }
};

INNER int words_of(int64 members) { return int((members + BITS - 1) / BITS); }

// Roots of a block, from one register to another.
struct RootsInside {
    const Inside *inside;
    Given given;
    int64 first, last;
};

// Calls `each(row, vertex, larger)` for the row of each root and all entries of it, whole warps at once, and then
// `done(row)`.
template <typename Each, typename Done>
INNER void each_larger(const Inside &inside, const Frontier &frontier, Each each, Done done) {
    Share share = share_of(frontier.count);
    for (int64 row = share.begin + threadIdx.x / WARP; row < share.end; row += WARPS) {
        int root = frontier.at(0, row);
        Range range = row_of(inside.members, root);
        for (int64 begin = range.begin; begin < range.end; begin += WARP) {
            int64 at = begin + lane();
            int vertex = at < range.end ? inside.members.neighbours[at] : root;
            each(row, vertex, at < range.end && inside.is_larger(vertex, root));
        }
        done(row);
    }
}

// How many members each root has, by degree.
struct CountLarger {
    const Inside *inside;
    Given given;
    int64 *partials;
};

APART void perform(const CountLarger &asked, int64 *registers) {
    const Inside &inside = *asked.inside;
    int64 sum = 0;
    int own = 0;
    each_larger(
        inside, asked.given.now(registers),
        [&](int64, int, bool larger) { own += in_all(__ballot_sync(ALL, larger)); },
        [&](int64 row) {
            if (lane() == 0) {
                inside.sizes[row] = own;
                inside.begins[row] = own;
                sum += own;
            }
            own = 0;
        }
    );
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) asked.partials[blockIdx.x] = sum;
}

// Lists them, up to `begins` those of each root, which then says where they begin.
struct ListLarger {
    const Inside *inside;
    Given given;
};

APART void perform(const ListLarger &asked, int64 *registers) {
    const Inside &inside = *asked.inside;
    int own = 0;
    each_larger(
        inside, asked.given.now(registers),
        [&](int64 row, int vertex, bool larger) {
            unsigned found = __ballot_sync(ALL, larger);
            if (larger) inside.listed[inside.begins[row] - inside.sizes[row] + own + before(found)] = vertex;
            own += in_all(found);
        },
        [&](int64 row) {
            __syncwarp();
            if (lane() == 0) inside.begins[row] -= inside.sizes[row];
            own = 0;
        }
    );
}

// Sums of the roots become zero.
struct MeasureInside {
    const Inside *inside;
    Given given;
    int64 *row_partials, *partials;
    uint64 *sums;
    double *sizes;
};

APART void perform(const MeasureInside &measure, int64 *registers) {
    const Inside &inside = *measure.inside;
    Frontier frontier = measure.given.now(registers);
    Share share = share_of(frontier.count);
    int64 rows = 0, words = 0;
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        if (!inside.by_degree) {
            int root = frontier.at(0, row);
            Range range = row_of(inside.members, root);
            if (inside.above) range.begin = first_above(inside.listed, range.begin, range.end, root);
            inside.begins[row] = range.begin;
            inside.sizes[row] = int(range.end - range.begin);
        }
        int64 size = inside.sizes[row], own = words_of(size) * (size + inside.level_count);
        inside.row_ends[row] = inside.row_count(size);
        inside.ends[row] = own;
        rows += inside.row_count(size);
        words += own;
        measure.sums[row] = 0;
        measure.sizes[row] = 0;
    }
    rows = sum_of_block(rows);
    words = sum_of_block(words);
    if (threadIdx.x == 0) {
        measure.row_partials[blockIdx.x] = rows;
        measure.partials[blockIdx.x] = words;
    }
}

// Writes the bitsets of roots.
struct WriteInside {
    RootsInside roots;
};

// Sets the bits of a stretch of members that a row has; by a warp.
INNER void mark_common(const int *members, int size, const int *row, int length, unsigned *words) {
    bool over_members = size <= length;
    const int *walked = over_members ? members : row, *searched = over_members ? row : members;
    int count = over_members ? size : length, among = over_members ? length : size;
    for (int i = lane(); i < count; i += WARP) {
        int at = int(first_above(searched, 0, among, walked[i] - 1));
        if (at == among || searched[at] != walked[i]) continue;
        int member = over_members ? i : at;
        atomicOr(words + member / BITS, 1u << member % BITS);
    }
}

// Sets the bits of a stretch of members that a level can have. above: they are larger than the root as far as they must.
INNER void mark_possible(const Level &level, bool above, int root, const int *members, int size, unsigned *words) {
    bool cut = false, other = false;
    for (int64 i = 0; i < level.smaller_count && !above; i++) cut |= level.smaller[i] == 0;
    for (int i = 0; i < level.different_count; i++) other |= level.different[i] == 0;
    for (int i = lane(); i < size; i += WARP) {
        int vertex = members[i];
        bool passes = (!level.member || level.member[vertex]) && (!cut || vertex > root) && (!other || vertex != root);
        if (passes) atomicOr(words + i / BITS, 1u << i % BITS);
    }
}

// A row of the bitsets of a root: where its words go, and what it is made of. level: for a mask, else negative.
struct RowInside {
    unsigned *out;
    const int *members, *entries;
    int root, size, length, level;
};

INNER RowInside row_to_write(const RootsInside &roots, const int64 *registers, int64 first, int64 item) {
    const Inside &inside = *roots.inside;
    int64 last = registers[roots.last], before = inside.rows_before(first);
    int64 row = first_above(inside.row_ends, first, last, before + item);
    int number = int(before + item - inside.rows_before(row)), size = inside.sizes[row];
    int kind = number / size, own = number - kind * size;
    RowInside found;
    found.root = roots.given.now(registers).at(0, row);
    found.members = inside.listed + inside.begins[row];
    found.size = size;
    found.level = kind < inside.kind_count ? -1 : number - int(inside.kind_count) * size;
    found.out = inside.bits + inside.before(row) - inside.before(first);
    found.length = 0;
    found.entries = nullptr;
    if (found.level >= 0) {
        found.out += int64(size + found.level) * words_of(size);
    } else {
        Range entries = row_of(inside.kinds[kind], found.members[own]);
        found.entries = inside.kinds[kind].neighbours + entries.begin;
        found.length = int(entries.end - entries.begin);
        found.out += kind * inside.room + int64(own) * words_of(size);
    }
    return found;
}

// Writes a row; by a warp.
APART void write_row(const Inside &inside, const RowInside &row, unsigned *buffer) {
    int words = words_of(row.size);
    for (int begin = 0; begin < words; begin += WORDS_AT_HAND) {
        int count = words - begin < WORDS_AT_HAND ? words - begin : WORDS_AT_HAND, left = row.size - begin * BITS;
        for (int i = lane(); i < count; i += WARP) buffer[i] = 0;
        __syncwarp();
        const int *stretch = row.members + begin * BITS;
        int size = left < count * BITS ? left : count * BITS;
        if (row.level >= 0) mark_possible(inside.program->levels[row.level], inside.above, row.root, stretch, size, buffer);
        else mark_common(stretch, size, row.entries, row.length, buffer);
        __syncwarp();
        for (int i = lane(); i < count; i += WARP) row.out[begin + i] = buffer[i];
        __syncwarp();
    }
}

template <typename Value>
INNER Value *pointer_of(Value *pointer, int from) {
    return reinterpret_cast<Value *>(__shfl_sync(ALL, reinterpret_cast<uint64>(pointer), from));
}

struct RowsAtHand {
    unsigned words[WARPS][WORDS_AT_HAND];
};

APART void perform(const WriteInside &write, int64 *registers) {
    const Inside &inside = *write.roots.inside;
    unsigned *buffer = at_hand<RowsAtHand>().words[threadIdx.x / WARP];
    int64 first = registers[write.roots.first], last = registers[write.roots.last];
    each_apart(inside.rows_before(last) - inside.rows_before(first), [&](int64 item, bool valid) {
        RowInside own{};
        if (valid) own = row_to_write(write.roots, registers, first, item);
        for (unsigned left = __ballot_sync(ALL, valid); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            RowInside row{
                pointer_of(own.out, from), pointer_of(own.members, from), pointer_of(own.entries, from),
                __shfl_sync(ALL, own.root, from), __shfl_sync(ALL, own.size, from),
                __shfl_sync(ALL, own.length, from), __shfl_sync(ALL, own.level, from)
            };
            write_row(inside, row, buffer);
        }
    });
}

// An `InsideLevel` where it is read often, by all warps of a block.
struct LevelAtHand {
    int minus, like, factor_count, row_count, different_count, smaller_count, child_count, leaf_count;
    unsigned kinds[DEPTH];  // words before the rows of the first member
    signed char row_levels[DEPTH], different[DEPTH], smaller[DEPTH], children[DEPTH], leaves[DEPTH];
};

INNER void fetch_level(const Inside &inside, int number, LevelAtHand &level) {
    const InsideLevel &from = inside.levels[number];
    level.minus = int(from.minus);
    level.like = int(from.like);
    level.factor_count = int(inside.program->levels[number].factor_count);
    level.row_count = int(from.row_count);
    level.different_count = int(from.different_count);
    level.smaller_count = int(from.smaller_count);
    level.child_count = int(from.child_count);
    level.leaf_count = int(from.leaf_count);
    for (int i = 0; i < level.row_count; i++) {
        level.kinds[i] = unsigned(from.rows[i].kind * inside.room);
        level.row_levels[i] = static_cast<signed char>(from.rows[i].level);
    }
    for (int i = 0; i < level.different_count; i++) level.different[i] = static_cast<signed char>(from.different[i]);
    for (int i = 0; i < level.smaller_count; i++) level.smaller[i] = static_cast<signed char>(from.smaller[i]);
    for (int i = 0; i < level.child_count; i++) level.children[i] = static_cast<signed char>(from.children[i]);
    for (int i = 0; i < level.leaf_count; i++) level.leaves[i] = static_cast<signed char>(from.leaves[i]);
}

// A level that is gone through: the words still to come, and the child that is searched below its candidate.
struct OpenLevel {
    int next, end, child;
    Sum sum, product;
};

// One word at the second level below one member at the first.
struct Task {
    int root, member, word;
};

// What a warp has at hand: the neighbourhood that it is in, what the levels above are matched to, and which are open.
// prepared: a leaf for which it has the words that are not empty of what the leaf can be whatever the level right above it
// is matched to, and which words these are.
struct InsideHand {
    const Inside *inside;
    const LevelAtHand *levels;
    const unsigned *bits;
    const int *members;
    Task task;
    int size, words, depth;
    int positions[DEPTH], path[DEPTH];
    OpenLevel open[DEPTH];
    unsigned windows[DEPTH][WARP];
    uint64 found[DEPTH];
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

const int NEAR_ROWS = 3;  // of a level, whose places are kept at hand

// What a level can be where the levels above it are matched as a warp has them at hand, but for the one at `moving`: each
// lane may be at another candidate of that, or, with `ANYTHING`, nothing is asked of it.
const int ANYTHING = -1;

struct Possible {
    const InsideHand &hand;
    const LevelAtHand &level;
    int moving, candidate, floor;
    unsigned mask, rows[NEAR_ROWS];  // words before them

    INNER_MEMBER Possible(const InsideHand &hand, int number, int moving = -1, int candidate = 0)
        : hand(hand), level(hand.levels[number]), moving(moving), candidate(candidate), floor(0) {
        mask = unsigned(hand.size + number) * hand.words;
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
        for (int i = NEAR_ROWS; i < level.row_count; i++) common &= bits[row(i)];
        return word == begin() ? common & ~0u << floor % BITS : common;
    }

    INNER_MEMBER unsigned word_without_others(int number) const {
        unsigned common = word(number);
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
    Possible possible(hand, leaf, above, ANYTHING);
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
struct AnyLeaf {
    const InsideHand &hand;
    int above;

    INNER_MEMBER AnyLeaf(const InsideHand &hand, int above) : hand(hand), above(above) {}

    template <typename Team>
    INNER_MEMBER int size(const Team &team, int leaf, int candidate) const {
        return Possible(hand, leaf, above, candidate).size(team);
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
        for (int i = 0; i < level.row_count; i++) {
            if (level.row_levels[i] != above) continue;
            if (row_count++) rows[1] = level.kinds[i];
            else rows[0] = level.kinds[i];
        }
        for (int i = 0; i < level.smaller_count; i++) larger |= level.smaller[i] == above;
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
template <typename Team, typename Leaf>
INNER Sum hanging(const Team &team, const Leaf &leaf, const InsideHand &hand, int number, int candidate, uint64 modulus) {
    const LevelAtHand &level = hand.levels[number];
    Sum sum{1, 1};
    if (level.factor_count)
        multiply_factors(hand.inside->program->levels[number], hand.members[candidate], modulus, sum);
    int counted = -1, last = 0;
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
    return hanging(Lanes<WARP>(), AnyLeaf(hand, number), hand, number, candidate, modulus);
}

INNER Sum hanging_here(const InsideHand &hand, int number, int candidate, uint64 modulus) {
    if (hand.levels[number].leaf_count + hand.levels[number].factor_count == 0) return Sum{1, 1};
    return hanging_apart(hand, number, candidate, modulus);
}

// Whether all leaves of a level are the prepared one, or like it.
INNER bool are_prepared(const InsideHand &hand, const LevelAtHand &level) {
    bool all = hand.prepared >= 0;
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
// begin, then where to go on.
INNER int list_next(InsideHand &hand, int number, int &window, int end) {
    Possible possible(hand, number);
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
    if (!are_prepared(hand, level)) return sum_listed<Lanes<GROUP>, AnyLeaf>(hand, number, count, modulus);
    bool few = 2 * count > WARP && hand.word_count < 2 * GROUP;  // words: a lane goes through all
    if (level.leaf_count == 1 && !level.factor_count) {
        uint64 found = few ? count_listed<Lanes<1>>(hand, number, count) : count_listed<Lanes<GROUP>>(hand, number, count);
        return Sum{found, double(found)};
    }
    return few ? sum_listed<Lanes<1>, PreparedLeaf>(hand, number, count, modulus)
               : sum_listed<Lanes<GROUP>, PreparedLeaf>(hand, number, count, modulus);
}

// Adds up what the candidates of a level without inner levels below, in some words, stand for.
INNER Sum sum_bottom(InsideHand &hand, int number, int begin, int end, uint64 modulus) {
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
    if (!ready) return sum;
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
        Possible possible(hand, number);
        while (!any) {
            window = window + WARP > possible.begin() ? window + WARP : possible.begin();
            if (window >= open.end) return -1;
            int word = window + lane();
            own = word < open.end ? possible.word_without_others(word) : 0;
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

// The sum over a level and all below it, of its candidates in some words. By a warp, depth first.
INNER Sum sum_below(InsideHand &hand, int level, int begin, int end, uint64 modulus) {
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
        } else {
            sum = hand.open[level].sum;
            __syncwarp();
            if (lane() == 0) hand.depth--;
            __syncwarp();
        }
    }
}

// Adds to the sums of roots what is below their members at the level `top`. second: the level of which a task has one
// word; none where a task is all that is below a member. cursor: the tasks that have been begun, `HANDFUL` by `HANDFUL`;
// tasks: a register with how many there are.
struct SumInside {
    RootsInside roots;
    int64 tasks, top, second;
    uint64 *cursor, *sums;
    double *sizes;
    uint64 *found;
};

INNER int64 handfuls(int64 tasks) { return (tasks + HANDFUL - 1) / HANDFUL; }

// A task of some roots; false when there is nothing to do for it.
INNER bool find_task(const SumInside &asked, const int64 *registers, int64 number, Task &task) {
    const Inside &inside = *asked.roots.inside;
    int64 first = registers[asked.roots.first];
    const int64 *ends = asked.second < 0 ? inside.row_ends : inside.ends;
    number += first ? ends[first - 1] : 0;
    task.root = int(first_above(ends, first, registers[asked.roots.last], number));
    number -= task.root ? ends[task.root - 1] : 0;
    int size = inside.sizes[task.root], words = words_of(size);
    task.member = int(asked.second < 0 ? number : number / words);
    task.word = int(asked.second < 0 ? 0 : number % words);
    if (task.member >= size) return false;
    const unsigned *bits = inside.bits + inside.before(task.root) - inside.before(first);
    if (!(bits[(size + asked.top) * words + task.member / BITS] >> task.member % BITS & 1)) return false;
    if (asked.second < 0) return true;
    unsigned common = bits[(size + asked.second) * words + task.word];
    const InsideLevel &level = inside.levels[asked.second];
    for (int64 i = 0; i < level.row_count; i++)
        common &= bits[level.rows[i].kind * inside.room + int64(task.member) * words + task.word];
    return common != 0;
}

// Goes to a member of a root, which is matched at the level `top`.
INNER void go_inside(InsideHand &hand, const Inside &inside, int64 first, const Task &task, int top, uint64 modulus) {
    __syncwarp();
    if (lane() == 0) {
        hand.inside = &inside;
        hand.bits = inside.bits + inside.before(task.root) - inside.before(first);
        hand.members = inside.listed + inside.begins[task.root];
        hand.size = inside.sizes[task.root];
        hand.words = words_of(hand.size);
        hand.task = task;
        hand.depth = 0;
        hand.positions[top] = task.member;
        hand.found[top] += task.word == 0;
    }
    __syncwarp();
    Sum sum = hanging_here(hand, top, task.member, modulus);
    if (lane() == 0) hand.open[top].product = sum;
    __syncwarp();
}

// Adds what a task comes to, by a warp.
INNER void sum_task(const SumInside &asked, InsideHand &hand, uint64 modulus) {
    OpenLevel &open = hand.open[asked.top];
    for (int i = 0; i < hand.levels[asked.top].child_count && open.product.size > 0; i++) {
        int child = hand.levels[asked.top].children[i], word = hand.task.word;
        bool one = child == asked.second;
        Sum below = sum_below(hand, child, one ? word : 0, one ? word + 1 : hand.words, modulus);
        __syncwarp();
        if (lane() == 0) multiply(open.product, below, modulus);
        __syncwarp();
    }
    if (lane() == 0 && open.product.size > 0) {
        atomicAdd(asked.sums + hand.task.root, open.product.value);
        atomicAdd(asked.sizes + hand.task.root, open.product.size);
    }
}

INNER void perform(const SumInside &asked, int64 *registers, uint64 modulus) {
    InsideBlock &block = at_hand<InsideBlock>();
    InsideHand &hand = block.hands[threadIdx.x / WARP];
    const uint64 end = now() + TURN;
    for (int i = threadIdx.x; i < asked.roots.inside->level_count; i += BLOCK)
        fetch_level(*asked.roots.inside, i, block.levels[i]);
    __syncthreads();
    if (lane() == 0) hand.levels = block.levels;
    for (int i = lane(); i < DEPTH; i += WARP) hand.found[i] = 0;
    __syncwarp();
    int at_once = WARP / HANDFUL;
    while (true) {
        int64 rounds = handfuls(registers[asked.tasks]), begun = rounds;
        if (lane() == 0 && now() < end) begun = int64(atomicAdd(asked.cursor, uint64(at_once)));
        begun = __shfl_sync(ALL, begun, 0);
        if (begun >= rounds) break;
        // What is long is often side by side: a warp's tasks are far apart.
        int64 handful = begun + lane() / HANDFUL, number = lane() % HANDFUL * rounds + handful;
        Task own{0, 0, 0};
        bool any = lane() / HANDFUL < at_once && handful < rounds && number < registers[asked.tasks];
        any = any && find_task(asked, registers, number, own);
        for (unsigned left = __ballot_sync(ALL, any); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            Task task{
                __shfl_sync(ALL, own.root, from), __shfl_sync(ALL, own.member, from), __shfl_sync(ALL, own.word, from)
            };
            go_inside(hand, *asked.roots.inside, registers[asked.roots.first], task, int(asked.top), modulus);
            sum_task(asked, hand, modulus);
        }
        if (4 * begun > 3 * rounds) at_once = 1;
    }
    __syncwarp();
    for (int i = lane(); i < asked.roots.inside->level_count; i += WARP)
        if (hand.found[i]) atomicAdd(asked.found + i, hand.found[i]);
}
