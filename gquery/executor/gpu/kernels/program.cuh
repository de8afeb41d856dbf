// A program as kernels read it: `table.py` writes these structures, word by word.

const int BITS = 32;  // of a word of bits

const int64 NULL_RANK = -9223372036854775807LL - 1;

// Neighbours of the positions `first` to `first + count - 1`, ascending and distinct; every other position has none.
// oriented: whether they are smaller positions alone. The rows of `hubs` positions from `first_hub` on are there as bits,
// too, so many words each.
struct Rows {
    int64 level, first, count;
    const int64 *offsets;
    const int *neighbours;
    int64 oriented, first_hub, hubs, words;
    const unsigned *bits;

    // Null for a row that has none.
    INNER_MEMBER const unsigned *bits_of(int position) const {
        int64 hub = position - first_hub;
        return hub >= 0 && hub < hubs ? bits + hub * words : nullptr;
    }
};

struct Pair {
    int64 a, b, c, d;
};

enum Operator { EQUAL, UNEQUAL, LESS, AT_MOST };

struct Compare {
    int64 left, right, operation;
    const int64 *left_ranks, *right_ranks;
};

// A sum that depends on a position alone, for all of them.
struct Factor {
    const uint64 *sums;
    const double *sizes;
};

// Counts before pointers, in the order of `Level` in `lowering/program.py`. Its weights are the choices from `weights` to
// `weights_end`. member: which positions are candidates, null when all are. candidates: what a level without rows is
// matched to, null for 0 .. candidate_count - 1. given: by level, the column that it stands in of the partial matches
// which this level extends; made: of those that end with this level. kept: the columns that go from one to the other.
struct Level {
    int64 index, backward_count, absent_count, different_count, smaller_count, pair_count, compare_count, factor_count;
    int64 candidate_count, kept_count, weights, weights_end;
    const Rows *backward, *absent;
    const int64 *different, *smaller;
    const Pair *pairs;
    const Compare *compares;
    const Factor *factors;
    const byte *member;
    const int *candidates;
    const int64 *given, *made, *kept;
};

// A query edge whose data edges are chosen: those of the vertex at level `from` that lead to the one at level `to`.
// collides: the earlier choices that must be other edges; free: it collides with none, earlier or later; clique: those
// that it collides with collide with each other.
struct Choice {
    int64 from, to, first, count, collide_count, free, clique;
    const int64 *offsets;
    const int *neighbours;
    const int64 *edges, *collides;
};

// vertices: by level, the data vertex of each position; null for all levels where positions are vertices.
struct Program {
    const Level *levels;
    const int *const *vertices;
    const Choice *choices;
};

// Partial matches, column by column, from row `offset` on. Without columns there is one, of all positions in turn.
struct Frontier {
    const int *columns;
    int64 stride, offset, count;

    INNER_MEMBER int at(int64 column, int64 row) const {
        return columns ? columns[column * stride + offset + row] : int(offset + row);
    }
};

// A partial match and a position at one more level, `index`. slots: by level, the column of the frontier.
struct Match {
    const Program &program;
    Frontier frontier;
    const int64 *slots;
    int64 row, index;
    int position;

    INNER_MEMBER int at(int64 level) const {
        return level == index ? position : frontier.at(slots[level], row);
    }

    INNER_MEMBER int vertex(int64 level) const { return vertex_at(level, at(level)); }

    INNER_MEMBER int vertex_at(int64 level, int position) const {
        return program.vertices ? program.vertices[level][position] : position;
    }
};

struct Range {
    int64 begin, end;
};

INNER Range row_of(const Rows &rows, int position) {
    int64 row = position - rows.first;
    if (row < 0 || row >= rows.count) return Range{0, 0};
    return Range{rows.offsets[row], rows.offsets[row + 1]};
}

// The first index in [low, high) whose value is above, high when there is none.
template <typename Value>
INNER int64 first_above(const Value *values, int64 low, int64 high, Value wanted) {
    while (low < high) {
        int64 middle = (low + high) >> 1;
        if (values[middle] > wanted) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The same, by all lanes of a warp together.
INNER int64 first_above_together(const int64 *values, int64 low, int64 high, int64 wanted) {
    while (low < high) {
        int64 step = (high - low + WARP) / (WARP + 1), at = low + (lane() + 1) * step - 1;
        unsigned above = __ballot_sync(ALL, at >= high || values[at] > wanted);
        int first = above ? __ffs(above) - 1 : WARP;
        int64 end = low + (first + 1) * step - 1;
        low += first * step;
        if (above && end < high) high = end;
    }
    return low;
}

INNER bool has_bit(const unsigned *words, int number) { return words[number / BITS] >> number % BITS & 1; }

// Whether a position is among some that ascend.
INNER bool is_among(const int *positions, int count, int position) {
    if (!count) return false;
    while (count > 1) {
        int half = count >> 1;
        if (positions[half] <= position) positions += half;
        count -= half;
    }
    return *positions == position;
}

INNER bool contains(const Rows &rows, int from, int position) {
    Range row = row_of(rows, from);
    return is_among(rows.neighbours + row.begin, int(row.end - row.begin), position);
}

INNER bool holds(const Compare &compare, const Match &match) {
    int64 left = compare.left_ranks[match.at(compare.left)], right = compare.right_ranks[match.at(compare.right)];
    if (left == NULL_RANK || right == NULL_RANK) return false;
    switch (compare.operation) {
        case EQUAL: return left == right;
        case UNEQUAL: return left != right;
        case LESS: return left < right;
        default: return left <= right;
    }
}

// The positions that a level tries for a partial match: entries of the row of backward edge `index`, or of all its
// candidates.
const int NO_ROW = 255;

struct Walk {
    int64 begin, end;
    int index;

    INNER_MEMBER int position(const Level &level, int64 at) const {
        if (index != NO_ROW) return level.backward[index].neighbours[at];
        return level.candidates ? level.candidates[at] : int(at);
    }

    // Whether one of them is a vertex: positions ascend with their vertices.
    INNER_MEMBER bool holds(const Level &level, const Match &match, int vertex) const {
        int64 above = first_above_vertex(level, match, vertex);
        if (above == begin) return false;
        int position = this->position(level, above - 1);
        return match.vertex_at(level.index, position) == vertex;
    }

    // The first of them whose vertex is above another, the end when there is none.
    INNER_MEMBER int64 first_above_vertex(const Level &level, const Match &match, int64 vertex) const {
        int64 low = begin, high = end;
        while (low < high) {
            int64 middle = (low + high) >> 1;
            if (match.vertex_at(level.index, position(level, middle)) > vertex) high = middle;
            else low = middle + 1;
        }
        return low;
    }
};

// The rows of a partial match, without the entries that are not larger than others must be: ranges[i * stride], where
// there are ranges. The shortest of them.
INNER Walk shortest_of(const Level &level, const Match &match, Range *ranges = nullptr, int64 stride = 0) {
    int64 bound = -1;
    for (int64 i = 0; i < level.smaller_count; i++) {
        int vertex = match.vertex(level.smaller[i]);
        bound = vertex > bound ? vertex : bound;
    }
    Walk shortest{0, level.candidate_count, NO_ROW};
    if (!level.backward_count && bound >= 0) shortest.begin = shortest.first_above_vertex(level, match, bound);
    for (int i = 0; i < level.backward_count; i++) {
        Range range = row_of(level.backward[i], match.at(level.backward[i].level));
        Walk walk{range.begin, range.end, i};
        if (bound >= 0) walk.begin = walk.first_above_vertex(level, match, bound);
        if (ranges) ranges[i * stride] = Range{walk.begin, walk.end};
        if (i == 0 || walk.end - walk.begin < shortest.end - shortest.begin) shortest = walk;
    }
    return shortest;
}

// Whether there is nothing else to ask than what `shortest_of` has.
INNER bool passes_all(const Level &level) {
    int64 tests = level.different_count + level.absent_count + level.pair_count + level.compare_count;
    return !level.member && !tests && level.backward_count < 2;
}

// All tests of a level but those that `shortest_of` has made: `walked` is the row, `ranges` are all.
INNER bool passes(const Level &level, const Match &match, int walked, const Range *ranges, int64 stride) {
    int position = match.position;
    if (level.member && !level.member[position]) return false;
    if (level.different_count) {
        int vertex = match.vertex(level.index);
        for (int64 i = 0; i < level.different_count; i++)
            if (match.vertex(level.different[i]) == vertex) return false;
    }
    for (int i = 0; ranges && i < level.backward_count; i++) {
        if (i == walked) continue;
        const Rows &rows = level.backward[i];
        if (const unsigned *bits = rows.hubs ? rows.bits_of(match.at(rows.level)) : nullptr) {
            // That it is in the range says the row that is walked.
            if (position >= rows.words * BITS || !has_bit(bits, position)) return false;
            continue;
        }
        Range row = ranges[i * stride];
        if (!is_among(rows.neighbours + row.begin, int(row.end - row.begin), position)) return false;
    }
    for (int64 i = 0; i < level.absent_count; i++)
        if (contains(level.absent[i], match.at(level.absent[i].level), position)) return false;
    for (int64 i = 0; i < level.pair_count; i++) {
        const Pair &pair = level.pairs[i];
        if (match.vertex(pair.a) == match.vertex(pair.b) && match.vertex(pair.c) == match.vertex(pair.d)) return false;
    }
    for (int64 i = 0; i < level.compare_count; i++)
        if (!holds(level.compares[i], match)) return false;
    return true;
}
