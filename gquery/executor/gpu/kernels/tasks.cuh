// The tasks of sums inside neighbourhoods: a member at the first level, and some of a word of members at the second. A warp
// sums one, or each lane one that is little.

// How many handfuls of tasks have been begun, and the warps that have stopped amid one.
struct TasksBegun {
    uint64 handfuls, stopped;
};

// What a warp was at when it stopped: where in a neighbourhood, below which child of the first level, and at which level;
// of which handful, and the tasks of it that are left. stopped: whether it did.
struct Stop {
    InsideWalk walk;
    int64 begun;
    int child, level;
    unsigned left, stopped;
};
static_assert(sizeof(Stop) <= 2048, "the host makes room for so many bytes");

// Adds to the sums of roots what is below their members at the level `top`. second: the level of which a task has a
// piece of a word, one of so many `pieces`; none where a task is all that is below a member. alone: a lane takes a task of
// a root that has no more words than that, or a candidate of a task where there is a second level. tasks: a register with
// how many there are. handfuls, end: registers with how many handfuls these are, and until which they may be drawn. stops:
// one for each warp.
struct SumInside {
    RootsInside roots;
    int64 tasks, handfuls, end, top, second, pieces, alone;
    TasksBegun *begun;
    Stop *stops;
    uint64 *sums;
    double *sizes;
    uint64 *found;
};

INNER unsigned bits_of_piece(int64 piece, int64 pieces) { return ~0u >> (BITS - BITS / pieces) << (BITS / pieces * piece); }

// A task of some roots; false when there is nothing to do for it.
APART bool find_task(const SumInside &asked, const int64 *registers, int64 number, Task &task) {
    const Inside &inside = *asked.roots.inside;
    int64 first = registers[asked.roots.first];
    const int64 *ends = asked.second < 0 ? inside.row_ends : inside.ends;
    int64 pieces = asked.second < 0 ? 1 : asked.pieces;
    task.bits = bits_of_piece(number % pieces, pieces);
    task.first = number % pieces == 0;
    number /= pieces;
    number += first ? ends[first - 1] : 0;
    task.root = int(first_above(ends, first, registers[asked.roots.last], number));
    number -= task.root ? ends[task.root - 1] : 0;
    int size = inside.sizes[task.root], words = words_of(size);
    task.member = int(asked.second < 0 ? number : number / words);
    task.word = int(asked.second < 0 ? 0 : number % words);
    const unsigned *bits = inside.bits + inside.before(task.root) - inside.before(first);
    bool possible = task.member < size && bits[(size + asked.top) * words + task.member / BITS] >> task.member % BITS & 1;
    task.first &= possible && task.word == 0;
    if (!possible) return false;
    if (asked.second < 0) return true;
    unsigned common = bits[(size + asked.second) * words + task.word] & task.bits;
    const InsideLevel &level = inside.levels[asked.second];
    for (int64 i = 0; i < level.row_count; i++)
        common &= bits[level.rows[i].kind * inside.room + int64(task.member) * words + task.word];
    return common != 0;
}

// Goes to a member of a root, which is matched at the level `top`.
APART void go_inside(InsideHand &hand, const Inside &inside, int64 first, const Task &task, int top, int second, uint64 modulus) {
    __syncwarp();
    if (lane() == 0) {
        hand.inside = &inside;
        hand.bits = inside.bits + inside.before(task.root) - inside.before(first);
        hand.members = inside.of(task.root);
        hand.size = inside.sizes[task.root];
        hand.words = words_of(hand.size);
        hand.task = task;
        hand.second = second;
        hand.depth = 0;
        hand.positions[top] = task.member;
    }
    __syncwarp();
    Sum sum = hanging_here(hand, top, task.member, modulus);
    if (lane() == 0) hand.open[top].product = sum;
    __syncwarp();
}

// Adds what a task comes to, by a warp: all of it, or what is left from a child on where the warp has stopped. The child
// below which it stops, if it does.
INNER int sum_task(const SumInside &asked, InsideHand &hand, int from, uint64 modulus, Turn &turn) {
    OpenLevel &open = hand.open[asked.top];
    for (int i = from; i < hand.levels[asked.top].child_count && open.product.size > 0; i++) {
        int child = hand.levels[asked.top].children[i], word = hand.task.word;
        bool one = turn.level < 0 && child == asked.second;
        int level = turn.level < 0 ? child : turn.level;
        turn.level = -1;
        Sum below = sum_below(hand, level, one ? word : 0, one ? word + 1 : hand.words, modulus, turn);
        if (turn.level >= 0) return i;
        __syncwarp();
        if (lane() == 0) multiply(open.product, below, modulus);
        __syncwarp();
    }
    if (lane() == 0 && open.product.size > 0) {
        atomicAdd(asked.sums + hand.task.root, open.product.value);
        atomicAdd(asked.sizes + hand.task.root, open.product.size);
    }
    return -1;
}

// The neighbourhood that a task is in, for a lane.
INNER Lone lone_of(const SumInside &asked, const LevelAtHand *levels, int64 first, const Task &task) {
    const Inside &inside = *asked.roots.inside;
    Lone own;
    own.inside = &inside;
    own.levels = levels;
    own.bits = inside.bits + inside.before(task.root) - inside.before(first);
    own.members = inside.of(task.root);
    own.size = inside.sizes[task.root];
    own.words = words_of(own.size);
    own.positions[asked.top] = task.member;
    return own;
}

// Adds what a task comes to, by a lane.
APART void sum_task_alone(
    const SumInside &asked, const LevelAtHand *levels, int64 first, const Task &task, unsigned *found, uint64 modulus
) {
    Lone own = lone_of(asked, levels, first, task);
    Sum sum = sum_alone(own, int(asked.top), found, modulus);
    if (sum.size > 0) {
        atomicAdd(asked.sums + task.root, sum.value);
        atomicAdd(asked.sizes + task.root, sum.size);
    }
}

INNER int bit_at(unsigned bits, int number) {
    for (; number; number--) bits &= bits - 1;
    return __ffs(bits) - 1;
}

// What is below a member and one candidate of the second level, by a lane.
APART Sum sum_pair_alone(
    const SumInside &asked, const LevelAtHand *levels, int64 first, const Task &task, int candidate, unsigned *found,
    uint64 modulus
) {
    Lone own = lone_of(asked, levels, first, task);
    own.positions[asked.second] = candidate;
    found[asked.second]++;
    Sum sum = hanging(Lanes<1>(), AnyLeaf<Lone>(own, int(asked.top)), own, int(asked.top), task.member, modulus);
    if (sum.size > 0) multiply(sum, sum_alone(own, int(asked.second), found, modulus), modulus);
    return sum;
}

// Adds what the tasks of some lanes come to: all that they have at the second level is dealt out, a candidate a lane.
APART void sum_pairs(
    const SumInside &asked, const LevelAtHand *levels, int64 first, const Task &task, bool any, unsigned *found,
    uint64 modulus
) {
    unsigned left = 0;
    if (any) {
        Lone own = lone_of(asked, levels, first, task);
        Possible<Lone> possible(own, int(asked.second));
        if (task.word >= possible.begin()) left = possible.word_without_others(task.word) & task.bits;
    }
    int end = running_sum(__popc(left)), all = __shfl_sync(ALL, end, WARP - 1);
    for (int begin = 0; begin < all; begin += WARP) {
        int item = begin + lane(), of = lane_of(end, item);
        unsigned its = __shfl_sync(ALL, left, of);
        int number = item - __shfl_sync(ALL, end, of) + __popc(its);
        Task own{
            __shfl_sync(ALL, task.root, of), __shfl_sync(ALL, task.member, of), __shfl_sync(ALL, task.word, of), its, false
        };
        Sum sum{0, 0};
        if (item < all)
            sum = sum_pair_alone(asked, levels, first, own, own.word * BITS + bit_at(its, number), found, modulus);
        sum.value = sum_of_row(sum.value, of);
        sum.size = sum_of_row(sum.size, of);
        if (begins_row(of) && sum.size > 0) {
            atomicAdd(asked.sums + own.root, sum.value);
            atomicAdd(asked.sizes + own.root, sum.size);
        }
    }
}
