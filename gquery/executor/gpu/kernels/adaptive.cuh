// Sums matches out in an order of its own for each partial match: next comes the vertex with the smallest set at hand (as
// cpu/kernels/sums/adaptive.py does). A warp walks depth first below a root; the sum splits wherever what is left falls apart,
// and is remembered by what is left of the candidates. Warps that have nothing to do are given half of what another has left
// at its shallowest level: both halves add up.

// A sum in progress at one depth. joined: its vertices; rest: those of them that are not counted yet below the candidate;
// candidates: of the word in progress, that are left; product: of the candidate; vertex: what is matched here; word, word_end:
// where its bitset goes on and ends.
struct Node {
    unsigned joined, rest;
    uint64 candidates;
    Key key;
    Sum sum, product;
    int vertex, word, word_end, padding;
};

// Sums that all warps remember, without a lock: a key is sealed with what it is for, so that one of which two warps have
// written a part each is none. Of an empty entry both keys are 0.
struct Remembered {
    uint64 sealed, value, about, sealed_more;
};

// next: the next root; working: warps that have one, or a part of one; done: about the share that is done, of all.
struct Roots {
    uint64 next, working;
    double done;
};

// Warps that have nothing to do: the first in the queue, and the end of it.
struct Asking {
    uint64 head, tail;
};

enum Hand { EMPTY, OPEN, TAKEN, FULL };  // of a warp: it does not ask, asks, is about to be given something, has been

// Where a warp stands between two launches. depths: that it is amid, 0 where it has nothing to do; split: the depth down to
// which sums are of a part of their candidates alone, since the other part is another warp's; share: of all, about.
struct Standing {
    int64 depths, split;
    double share;
};

// By warp: standing, hands; queue: numbers of warps, one more each, by turns; places: so many words each, which have the nodes of
// a walk, what is told, and bitsets, one behind the other; sums, sizes: what its roots have come to. found: by vertex.
struct SumAdaptively {
    const Pattern *pattern;
    const int64 *roots;
    int64 root_count;
    Roots *begun;
    Asking *asking;
    Standing *standing;
    unsigned *hands, *queue;
    uint64 *places;
    int64 words, warps;
    Remembered *remembered;
    int64 slots;
    uint64 *sums;
    double *sizes;
    uint64 *found;
};

const int STEPS_ALONE = 64;  // between two looks at the clock, and at who asks
const int TOLD_AT = VERTICES * sizeof(Node) / sizeof(uint64);  // words of a place

// Of the warps of a block: sums in progress, and by vertex how many of its candidates have been taken.
struct WalkersAtHand {
    Node nodes[WARPS][VERTICES];
    unsigned counts[WARPS][VERTICES];
};

INNER Node *nodes_at_hand() { return at_hand<WalkersAtHand>().nodes[threadIdx.x / WARP]; }
INNER unsigned *counts_at_hand() { return at_hand<WalkersAtHand>().counts[threadIdx.x / WARP]; }

// One warp at work.
struct Walker {
    const SumAdaptively &asked;
    Left left;
    uint64 *place;
    uint64 modulus, until;
    int number, depth, split;
    double share;

    INNER_MEMBER Node &node() const { return nodes_at_hand()[depth]; }
};

INNER uint64 *place_of(const SumAdaptively &asked, int64 warp) { return asked.places + warp * asked.words; }
INNER unsigned *told_at(uint64 *place) { return reinterpret_cast<unsigned *>(place + TOLD_AT); }
INNER Node *nodes_at(uint64 *place) { return reinterpret_cast<Node *>(place); }
INNER uint64 *bits_at(uint64 *place, int width) { return place + TOLD_AT + (int64(width + 1) * width + 1) / 2; }

APART uint64 rest_of(uint64 value, uint64 modulus) { return modulus ? value % modulus : value; }

// --- sums that are remembered --------------------------------------------------------------------------------------

INNER uint64 seal(uint64 key, uint64 value, uint64 about) {
    uint64 mixed = (value * 0x9E3779B97F4A7C15ull + about) * 0xC2B2AE3D27D4EB4Full;
    return key ^ mixed ^ mixed >> 32;
}

INNER uint64 bits_of(double size) {
    union { double size; uint64 bits; } both{size};
    return both.bits;
}

INNER double size_of(uint64 bits) {
    union { uint64 bits; double size; } both{bits};
    return both.size;
}

APART bool recall(const SumAdaptively &asked, const Key &key, Sum &sum) {
    const Remembered *entry = asked.remembered + (key.first >> 1 & uint64(asked.slots - 1));
    uint64 sealed = seen_now(&entry->sealed), value = seen_now(&entry->value), about = seen_now(&entry->about);
    uint64 more = seen_now(&entry->sealed_more);
    bool known = seal(sealed, value, about) == key.first && seal(more, value, about ^ sealed) == key.second;
    sum = Sum{__shfl_sync(ALL, value, 0), size_of(__shfl_sync(ALL, about, 0))};
    return __shfl_sync(ALL, int(known), 0);
}

INNER void remember(const SumAdaptively &asked, const Key &key, const Sum &sum) {
    volatile Remembered *entry = asked.remembered + (key.first >> 1 & uint64(asked.slots - 1));
    uint64 about = bits_of(sum.size), sealed = seal(key.first, sum.value, about);
    entry->sealed = sealed;
    entry->value = sum.value;
    entry->about = about;
    entry->sealed_more = seal(key.second, sum.value, about ^ sealed);
}

// --- one step ------------------------------------------------------------------------------------------------------

// A part of what is below a candidate is counted.
APART void multiply_part(Node &node, const Sum &part, uint64 modulus) {
    __syncwarp();
    if (lane() == 0) {
        multiply(node.product, part, modulus);
        if (part.size == 0) node.rest = 0;
    }
    __syncwarp();
}

INNER void begin_sum(Walker &walker, unsigned joined, const Key &key) {
    int vertex = next_vertex(walker.left, walker.depth, joined);
    uint64 candidates = walker.left.at(walker.depth, vertex)[0];
    __syncwarp();
    if (lane() == 0)
        walker.node() = Node{
            joined, 0, candidates, key, Sum{0, 0}, Sum{0, 0}, vertex, 0, pattern_at_hand().sizes[vertex], 0
        };
    __syncwarp();
}

// Takes the next candidate of the vertex that is matched here; -1 when there is none.
INNER int next_candidate(Walker &walker) {
    const Node &node = walker.node();
    const uint64 *bits = walker.left.at(walker.depth, node.vertex);
    uint64 candidates = node.candidates;
    int word = node.word, end = node.word_end;
    ROLLED
    while (!candidates && word + 1 < end) candidates = bits[++word];
    __syncwarp();
    if (lane() == 0) {
        walker.node().candidates = candidates & (candidates - 1);
        walker.node().word = word;
    }
    return candidates ? word * LONG_BITS + lowest_bit(candidates) : -1;
}

// Adds what the last candidate stands for and goes on with another.
APART void take(Walker &walker, int candidate) {
    Node &node = walker.node();
    int vertex = node.vertex;
    unsigned rest = node.joined & ~(1u << vertex);
    bool dead = match(walker.left, walker.depth, rest, vertex, candidate);
    __syncwarp();
    if (lane() == 0) {
        add(node.sum, node.product);
        node.sum.value = rest_of(node.sum.value, walker.modulus);
        node.product = dead ? Sum{0, 0} : Sum{1, 1};
        node.rest = dead ? 0 : rest;
        counts_at_hand()[vertex]++;
    }
    __syncwarp();
}

// Splits what is below a candidate, and counts the first part if that is known or soon done; else begins its sum, a level
// deeper.
INNER void count_part(Walker &walker) {
    Node &node = walker.node();
    Left left = walker.left;
    int below = walker.depth + 1;
    unsigned rest = node.rest, joined = component(left, below, rest);
    __syncwarp();
    if (lane() == 0) node.rest = rest & ~joined;
    int first = lowest(joined);
    unsigned others = joined & (joined - 1);
    Sum part{0, 0};
    if (!others) {
        part = Sum{uint64(left.count(below, first)), double(left.count(below, first))};
    } else if (!(others & (others - 1))) {
        uint64 count = count_pair(left, below, first, lowest(others));
        part = Sum{count, double(count)};
    } else if (is_nested(left, below, joined)) {
        part = count_nested(left, below, joined, walker.modulus);
    } else {
        Key key = key_of(left, below, joined);
        if (!recall(walker.asked, key, part)) {
            walker.depth = below;
            begin_sum(walker, joined, key);
            return;
        }
    }
    part.value = rest_of(part.value, walker.modulus);
    multiply_part(node, part, walker.modulus);
}

// All candidates are used up: the sum is a factor above, and remembered unless a part of it is another warp's.
INNER void end_sum(Walker &walker) {
    const Node &node = walker.node();
    Sum sum = node.sum;
    add(sum, node.product);
    sum.value = rest_of(sum.value, walker.modulus);
    if (walker.depth > walker.split && lane() == 0) remember(walker.asked, node.key, sum);
    walker.depth--;
    walker.split = walker.split < walker.depth ? walker.split : walker.depth;
    multiply_part(walker.node(), sum, walker.modulus);
}

// One step of a sum; false when its root is done.
INNER bool goes_on(Walker &walker) {
    const Node &node = walker.node();
    if (node.rest) {
        count_part(walker);
        return true;
    }
    if (walker.depth == 0) {
        if (lane() == 0) {
            uint64 &sum = walker.asked.sums[walker.number];
            sum = rest_of(sum + node.product.value, walker.modulus);
            walker.asked.sizes[walker.number] += node.product.size;
        }
        return false;
    }
    int candidate = next_candidate(walker);
    if (candidate < 0) end_sum(walker);
    else take(walker, candidate);
    return true;
}
