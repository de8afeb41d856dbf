// Sums inside the neighbourhood of each root: all that is searched below a root are members. A task is a member at the first
// level and some of a word of members at the second; a warp goes on from there depth first, and at the bottom, above leaves, its
// lanes take several candidates at a time.

const int HANDFUL = WARP / 4 > 0 ? WARP / 4 : 1;  // tasks that a warp begins with at once, as the end comes near
const uint64 TURN = 20000000;  // nanoseconds, after which no warp begins with another task

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
            if (number == hand.second) own &= bits_of_piece(hand.task.piece);
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

// Adds to the sums of roots what is below their members at the level `top`. second: the level of which a task has a
// piece of a word; none where a task is all that is below a member. alone: a lane takes a task of a root that has no more
// words than that. cursor: the tasks that have been begun, `HANDFUL` by `HANDFUL`; tasks: a register with how many there
// are.
struct SumInside {
    RootsInside roots;
    int64 tasks, top, second, alone;
    uint64 *cursor, *sums;
    double *sizes;
    uint64 *found;
};

INNER int64 handfuls(int64 tasks) { return (tasks + HANDFUL - 1) / HANDFUL; }

// A task of some roots; false when there is nothing to do for it.
APART bool find_task(const SumInside &asked, const int64 *registers, int64 number, Task &task) {
    const Inside &inside = *asked.roots.inside;
    int64 first = registers[asked.roots.first];
    const int64 *ends = asked.second < 0 ? inside.row_ends : inside.ends;
    task.piece = asked.second < 0 ? 0 : int(number % PIECES);
    number /= asked.second < 0 ? 1 : PIECES;
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
    unsigned common = bits[(size + asked.second) * words + task.word] & bits_of_piece(task.piece);
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
        hand.found[top] += task.word + task.piece == 0;
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

// Adds what a task comes to, by a lane.
APART void sum_task_alone(
    const SumInside &asked, const LevelAtHand *levels, int64 first, const Task &task, unsigned *found, uint64 modulus
) {
    const Inside &inside = *asked.roots.inside;
    Lone own;
    own.inside = &inside;
    own.levels = levels;
    own.bits = inside.bits + inside.before(task.root) - inside.before(first);
    own.members = inside.of(task.root);
    own.size = inside.sizes[task.root];
    own.words = words_of(own.size);
    own.positions[asked.top] = task.member;
    found[asked.top]++;
    Sum sum = sum_alone(own, int(asked.top), found, modulus);
    if (sum.size > 0) {
        atomicAdd(asked.sums + task.root, sum.value);
        atomicAdd(asked.sizes + task.root, sum.size);
    }
}

// How many candidates a warp has gone through, in its first lane.
INNER uint64 perform(const SumInside &asked, int64 *registers, uint64 modulus) {
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
    unsigned found[DEPTH] = {};
    while (true) {
        int64 rounds = handfuls(registers[asked.tasks]), begun = rounds;
        if (lane() == 0 && now() < end) begun = int64(atomicAdd(asked.cursor, uint64(at_once)));
        begun = __shfl_sync(ALL, begun, 0);
        if (begun >= rounds) break;
        // What is long is often side by side: a warp's tasks are far apart.
        int64 handful = begun + lane() / HANDFUL, number = lane() % HANDFUL * rounds + handful;
        Task own{0, 0, 0, 0};
        bool any = lane() / HANDFUL < at_once && handful < rounds && number < registers[asked.tasks];
        any = any && find_task(asked, registers, number, own);
        if (any && words_of(asked.roots.inside->sizes[own.root]) <= asked.alone) {
            sum_task_alone(asked, block.levels, registers[asked.roots.first], own, found, modulus);
            any = false;
        }
        for (unsigned left = __ballot_sync(ALL, any); left; left &= left - 1) {
            int from = __ffs(left) - 1;
            Task task{
                __shfl_sync(ALL, own.root, from), __shfl_sync(ALL, own.member, from), __shfl_sync(ALL, own.word, from),
                __shfl_sync(ALL, own.piece, from)
            };
            go_inside(hand, *asked.roots.inside, registers[asked.roots.first], task, int(asked.top), int(asked.second), modulus);
            sum_task(asked, hand, modulus);
        }
        if (4 * begun > 3 * rounds) at_once = 1;
    }
    __syncwarp();
    uint64 steps = 0;
    for (int i = 0; i < asked.roots.inside->level_count; i++) {
        uint64 all = sum_of_warp(Sum{found[i], 0}).value + hand.found[i];
        if (lane() == 0 && all) atomicAdd(asked.found + i, all);
        steps += all;
    }
    return steps;
}
