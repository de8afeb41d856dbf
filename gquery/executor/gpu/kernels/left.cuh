// What is left of the candidates while query vertices are matched one after the other, in an order that depends on it: as
// bitsets, uint64, by number of candidate. Vertices that may be the same data vertex have their candidates numbered together,
// so that a row and the test for other vertices are an AND of a few words. A warp has one partial match; a team of lanes takes
// a bitset.

const int VERTICES = 32;      // of a query, at most
const int COUNT_BITS = 26;    // of what is told of a bitset: how many candidates, and above that the depth that wrote it
const int LONG_BITS = 64;     // of a word
const int TEAMS = WARP / GROUP > 0 ? WARP / GROUP : 1;

// near, different: by vertex, the masks of its neighbours and of those that it must differ from; sizes: words of its bitset;
// begins: where that is among those of all vertices, of which there are `words`; weights: the less, the sooner it is matched;
// rows: by two vertices, those that lead from the first to the other, as bitsets by candidate; bits: what all begin with;
// first: what is told of that.
struct Pattern {
    int64 width, words;
    const int64 *near, *different, *sizes, *begins;
    const double *weights;
    const uint64 *const *rows;
    const uint64 *bits;
    const unsigned *first;
};

// The same in a block's own memory.
struct PatternAtHand {
    int width, words;
    unsigned near[VERTICES], different[VERTICES];
    int sizes[VERTICES], begins[VERTICES];
    float weights[VERTICES];
    const uint64 *const *rows;
    const uint64 *bits;
};

INNER PatternAtHand &pattern_at_hand() { return at_hand<PatternAtHand>(); }

INNER void fetch_pattern(const Pattern &asked) {
    PatternAtHand &pattern = pattern_at_hand();
    ROLLED
    for (int i = threadIdx.x; i < asked.width; i += BLOCK) {
        pattern.near[i] = unsigned(asked.near[i]);
        pattern.different[i] = unsigned(asked.different[i]);
        pattern.sizes[i] = int(asked.sizes[i]);
        pattern.begins[i] = int(asked.begins[i]);
        pattern.weights[i] = float(asked.weights[i]);
    }
    if (threadIdx.x == 0) {
        pattern.width = int(asked.width);
        pattern.words = int(asked.words);
        pattern.rows = asked.rows;
        pattern.bits = asked.bits;
    }
    __syncthreads();
}

// What is left at each depth of one partial match. told: by depth and vertex, where its bitset was written and how many
// candidates that has; bits: by depth from the second on, the bitsets that were written there.
struct Left {
    unsigned *told;
    uint64 *bits;

    INNER_MEMBER unsigned &about(int depth, int vertex) const { return told[depth * pattern_at_hand().width + vertex]; }
    INNER_MEMBER int count(int depth, int vertex) const { return int(about(depth, vertex) & ((1u << COUNT_BITS) - 1)); }
    INNER_MEMBER const uint64 *at(int depth, int vertex) const {
        int written = int(about(depth, vertex) >> COUNT_BITS);
        return written ? written_at(written, vertex) : pattern_at_hand().bits + pattern_at_hand().begins[vertex];
    }
    INNER_MEMBER uint64 *written_at(int depth, int vertex) const {
        const PatternAtHand &pattern = pattern_at_hand();
        return bits + (unsigned(depth - 1) * pattern.words + pattern.begins[vertex]);
    }
};

// Writes rows as bitsets, so many words each, of zeros.
struct WriteBits {
    int64 first, rows;
    const int64 *offsets;
    const int *neighbours;
    int64 words;
    uint64 *bits;
};

APART void perform(const WriteBits &asked, int64 *) {
    ROLLED
    for (int64 row = thread() / WARP; row < asked.rows; row += threads() / WARP) {
        uint64 *bits = asked.bits + (asked.first + row) * asked.words;
        ROLLED
        for (int64 i = asked.offsets[row] + lane(); i < asked.offsets[row + 1]; i += WARP) {
            int neighbour = asked.neighbours[i];
            atomicOr(bits + neighbour / LONG_BITS, 1ull << neighbour % LONG_BITS);
        }
    }
}

// Keeps those bits that others have, too.
struct KeepCommon {
    uint64 *bits;
    const uint64 *others;
    int64 words;
};

APART void perform(const KeepCommon &asked, int64 *) {
    ROLLED
    for (int64 i = thread(); i < asked.words; i += threads()) asked.bits[i] &= asked.others[i];
}

INNER int lowest(unsigned mask) { return __ffs(mask) - 1; }
INNER int bits_in(uint64 word) { return __popc(unsigned(word)) + __popc(unsigned(word >> 32)); }
INNER int lowest_bit(uint64 word) { return unsigned(word) ? __ffs(unsigned(word)) - 1 : 31 + __ffs(unsigned(word >> 32)); }
INNER int team() { return lane() / GROUP; }
INNER int member() { return lane() % GROUP; }

// One of some vertices for each team, -1 where there are fewer; and those that are left then.
INNER int vertex_of_team(unsigned vertices) {
    for (int i = 0; i < TEAMS - 1; i++) vertices = i < team() ? vertices & (vertices - 1) : vertices;
    return lowest(vertices);
}

INNER unsigned behind_teams(unsigned vertices) {
    for (int i = 0; i < TEAMS; i++) vertices &= vertices - 1;
    return vertices;
}

// The sum over a team, in each of its lanes.
INNER int sum_of_team(int value) {
    ROLLED
    for (int step = 1; step < GROUP; step *= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

INNER uint64 sum_of_all(uint64 value) {
    ROLLED
    for (int step = 1; step < WARP; step *= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

// Writes to the next depth what a candidate of a vertex leaves of the vertices `rest`; whether any has nothing left.
APART bool match(Left left, int depth, unsigned rest, int vertex, int candidate) {
    const PatternAtHand &pattern = pattern_at_hand();
    int own = candidate / LONG_BITS, below = depth + 1;
    uint64 bit = 1ull << candidate % LONG_BITS;
    unsigned near = pattern.near[vertex], different = pattern.different[vertex], changed = 0;
    ROLLED
    for (int first = 0; first < pattern.width; first += WARP) {
        int other = first + lane();
        bool asked = other < pattern.width && rest >> other & 1;
        bool changes = asked && (near >> other & 1 || (different >> other & 1 && left.at(depth, other)[own] & bit));
        if (asked && !changes) left.about(below, other) = left.about(depth, other);
        changed |= __ballot_sync(ALL, changes) << first;
    }
    ROLLED
    for (unsigned left_over = changed; left_over; left_over = behind_teams(left_over)) {
        int other = vertex_of_team(left_over), count = 0, size = other < 0 ? 0 : pattern.sizes[other];
        if (other >= 0) {
            const uint64 *from = left.at(depth, other);
            uint64 *to = left.written_at(below, other);
            const uint64 *row = from;
            if (near >> other & 1) row = pattern.rows[vertex * pattern.width + other] + int64(candidate) * size;
            uint64 taken = different >> other & 1 ? bit : 0;
            ROLLED
            for (int word = member(); word < size; word += GROUP) {
                uint64 kept = from[word] & row[word] & (word == own ? ~taken : ~0ull);
                to[word] = kept;
                count += bits_in(kept);
            }
        }
        count = sum_of_team(count);
        if (other >= 0 && member() == 0) left.about(below, other) = unsigned(below) << COUNT_BITS | unsigned(count);
        if (__ballot_sync(ALL, other >= 0 && count == 0)) return true;
    }
    __syncwarp();
    return false;
}

// Of some vertices, those that have a candidate in common with one.
INNER unsigned sharing(Left left, int depth, int vertex, unsigned others) {
    unsigned found = 0;
    const uint64 *own = left.at(depth, vertex);
    int size = pattern_at_hand().sizes[vertex];
    ROLLED
    for (unsigned left_over = others; left_over; left_over = behind_teams(left_over)) {
        int other = vertex_of_team(left_over);
        bool any = false;
        if (other >= 0) {
            const uint64 *its = left.at(depth, other);
            ROLLED
            for (int word = member(); word < size && !any; word += GROUP) any = (own[word] & its[word]) != 0;
        }
        bool shares = sum_of_team(any) > 0 && other >= 0;
        found |= __reduce_add_sync(ALL, shares && member() == 0 ? 1u << other : 0);
    }
    return found;
}

// How many candidates two vertices have in common.
INNER int64 shared_by(Left left, int depth, int one, int other) {
    const uint64 *own = left.at(depth, one), *its = left.at(depth, other);
    unsigned count = 0;
    ROLLED
    for (int word = lane(); word < pattern_at_hand().sizes[one]; word += WARP) count += bits_in(own[word] & its[word]);
    return __reduce_add_sync(ALL, count);
}

// Those of the vertices `rest` that the first of them is joined to, with it: by edges, or because they must differ and
// might not, which is looked at where edges lead no further.
APART unsigned component(Left left, int depth, unsigned rest) {
    unsigned found = rest & (0u - rest), pending = found, apart = found;
    ROLLED
    while (found != rest) {
        if (pending) {
            unsigned joined = pattern_at_hand().near[lowest(pending)] & rest & ~found;
            pending = (pending & (pending - 1)) | joined;
            apart |= joined;
            found |= joined;
        } else if (apart) {
            int vertex = lowest(apart);
            unsigned others = pattern_at_hand().different[vertex] & rest & ~found;
            apart &= apart - 1;
            if (others) pending = sharing(left, depth, vertex, others);
            apart |= pending;
            found |= pending;
        } else {
            break;
        }
    }
    return found;
}

// The matches of two vertices that are joined, or only differ.
APART uint64 count_pair(Left left, int depth, int one, int other) {
    const PatternAtHand &pattern = pattern_at_hand();
    bool differ = pattern.different[one] >> other & 1;
    if (!(pattern.near[one] >> other & 1)) {
        return uint64(left.count(depth, one)) * left.count(depth, other) - shared_by(left, depth, one, other);
    }
    if (left.count(depth, other) < left.count(depth, one)) {
        int fewer = other;
        other = one;
        one = fewer;
    }
    const uint64 *own = left.at(depth, one), *its = left.at(depth, other), *rows = pattern.rows[one * pattern.width + other];
    int size = pattern.sizes[other];
    uint64 count = 0;
    ROLLED
    for (int word = team(); word < pattern.sizes[one]; word += TEAMS) {
        ROLLED
        for (uint64 pending = own[word]; pending; pending &= pending - 1) {
            int candidate = word * LONG_BITS + lowest_bit(pending);
            const uint64 *row = rows + int64(candidate) * size;
            ROLLED
            for (int place = member(); place < size; place += GROUP) {
                uint64 both = row[place] & its[place];
                if (differ && place == word) both &= ~(pending & (0 - pending));
                count += bits_in(both);
            }
        }
    }
    return sum_of_all(count);
}

// Whether no edges join the vertices, and of any two the candidates of one are all candidates of the other.
APART bool is_nested(Left left, int depth, unsigned joined) {
    ROLLED
    for (unsigned pending = joined; pending; pending &= pending - 1)
        if (pattern_at_hand().near[lowest(pending)] & joined) return false;
    ROLLED
    for (unsigned pending = joined; pending; pending &= pending - 1) {
        int vertex = lowest(pending);
        ROLLED
        for (unsigned others = pending & (pending - 1); others; others &= others - 1) {
            int other = lowest(others), count = left.count(depth, vertex), its = left.count(depth, other);
            if (!(pattern_at_hand().different[vertex] >> other & 1)) return false;
            if (shared_by(left, depth, vertex, other) != (count < its ? count : its)) return false;
        }
    }
    return true;
}

// The matches of vertices that all differ and have nested candidates: each has those that are left by all with fewer.
APART Sum count_nested(Left left, int depth, unsigned joined, uint64 modulus) {
    Sum sum{1, 1};
    ROLLED
    for (unsigned pending = joined; pending; pending &= pending - 1) {
        int vertex = lowest(pending), own = left.count(depth, vertex), count = own;
        ROLLED
        for (unsigned others = joined; others; others &= others - 1) {
            int other = lowest(others), its = left.count(depth, other);
            count -= its < own || (its == own && other < vertex);
        }
        count = count > 0 ? count : 0;
        multiply(sum, Sum{uint64(count), double(count)}, modulus);
    }
    return sum;
}

// The vertex that is matched next: one with few candidates left and many neighbours that it leaves few of.
APART int next_vertex(Left left, int depth, unsigned joined) {
    float least = 3e38f;
    int best = VERTICES;
    ROLLED
    for (int vertex = lane(); vertex < pattern_at_hand().width; vertex += WARP) {
        if (!(joined >> vertex & 1)) continue;
        float degree = 0.5f + __popc(pattern_at_hand().near[vertex] & joined);
        float weight = left.count(depth, vertex) * pattern_at_hand().weights[vertex] / (degree * degree);
        if (weight < least) {
            least = weight;
            best = vertex;
        }
    }
    ROLLED
    for (int step = 1; step < WARP; step *= 2) {
        float weight = __shfl_xor_sync(ALL, least, step);
        int vertex = __shfl_xor_sync(ALL, best, step);
        if (weight < least || (weight == least && vertex < best)) {
            least = weight;
            best = vertex;
        }
    }
    return best;
}

INNER uint64 stirred(uint64 word) {
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ word >> 27) * 0x94D049BB133111EBull;
    return word ^ word >> 31;
}

// What tells a sum from others, of 128 bits.
struct Key {
    uint64 first, second;
};

// That of the sum over some vertices: which they are, and what is left of their candidates. The first is never 0.
APART Key key_of(Left left, int depth, unsigned joined) {
    uint64 first = 0, second = 0;
    ROLLED
    for (unsigned left_over = joined; left_over; left_over = behind_teams(left_over)) {
        int vertex = vertex_of_team(left_over);
        if (vertex < 0) continue;
        const uint64 *bits = left.at(depth, vertex);
        ROLLED
        for (int word = member(); word < pattern_at_hand().sizes[vertex]; word += GROUP) {
            uint64 mixed = bits[word] + uint64(pattern_at_hand().begins[vertex] + word + 1) * 0x9E3779B97F4A7C15ull;
            mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ull;
            mixed ^= mixed >> 27;
            first += mixed * 0x94D049BB133111EBull;
            second += (mixed ^ mixed >> 32) * 0xC2B2AE3D27D4EB4Full;
        }
    }
    return Key{stirred(sum_of_all(first) + joined) | 1, sum_of_all(second) + joined};
}
