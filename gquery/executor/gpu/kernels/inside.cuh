// Sums inside the neighbourhood of each root: all that is searched below a root are members. A task is a member at the first
// level and some of a word of members at the second; a warp goes on from there depth first, and at the bottom, above leaves, its
// lanes take several candidates at a time.

const int HANDFUL = WARP / 4 > 0 ? WARP / 4 : 1;  // tasks that a warp begins with at once, as the end comes near
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
// how many there are. stops: one for each warp.
struct SumInside {
    RootsInside roots;
    int64 tasks, top, second, pieces, alone;
    TasksBegun *begun;
    Stop *stops;
    uint64 *sums;
    double *sizes;
    uint64 *found;
};

INNER int64 handfuls(int64 tasks) { return (tasks + HANDFUL - 1) / HANDFUL; }

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

// Words from one place to another, by a warp.
INNER void copy_walk(const InsideWalk &from, InsideWalk &to) {
    static_assert(sizeof(InsideWalk) % sizeof(unsigned) == 0, "copied by words");
    __syncwarp();
    for (int i = lane(); i < int(sizeof(InsideWalk) / sizeof(unsigned)); i += WARP)
        reinterpret_cast<unsigned *>(&to)[i] = reinterpret_cast<const unsigned *>(&from)[i];
    __syncwarp();
}

// The tasks of the handfuls that a warp draws at once, few as the end comes near: one for each lane, and those lanes whose
// tasks a warp takes.
struct Drawn {
    int64 begun;
    int handfuls;
    Task own;
    unsigned left;
};

// The task of each lane, and whether there is something to do for it.
INNER bool find_tasks(const SumInside &asked, const int64 *registers, Drawn &drawn) {
    // What is long is often side by side: a warp's tasks are far apart.
    int64 rounds = handfuls(registers[asked.tasks]), handful = drawn.begun + lane() / HANDFUL;
    int64 number = lane() % HANDFUL * rounds + handful;
    drawn.own = Task{0, 0, 0, 0, false};
    bool any = lane() / HANDFUL < drawn.handfuls && handful < rounds && number < registers[asked.tasks];
    return any && find_task(asked, registers, number, drawn.own);
}

// Draws the next tasks; false when there are none left, or the time is over. A lane does what is little at once.
APART bool draw(
    const SumInside &asked, const InsideHand &hand, const int64 *registers, Drawn &drawn, unsigned *found, uint64 modulus
) {
    int64 rounds = handfuls(registers[asked.tasks]);
    if (4 * drawn.begun > 3 * rounds) drawn.handfuls = 1;
    drawn.begun = rounds;
    if (lane() == 0 && now() < hand.until) drawn.begun = int64(atomicAdd(&asked.begun->handfuls, uint64(drawn.handfuls)));
    drawn.begun = __shfl_sync(ALL, drawn.begun, 0);
    if (drawn.begun >= rounds) return false;
    bool any = find_tasks(asked, registers, drawn);
    found[asked.top] += drawn.own.first;
    bool alone = any && words_of(asked.roots.inside->sizes[drawn.own.root]) <= asked.alone;
    int64 first = registers[asked.roots.first];
    if (asked.second >= 0) sum_pairs(asked, hand.levels, first, drawn.own, alone, found, modulus);
    else if (alone) sum_task_alone(asked, hand.levels, first, drawn.own, found, modulus);
    drawn.left = __ballot_sync(ALL, any && !alone);
    return true;
}

// Goes to the next task of those that a warp has drawn.
APART void begin_task(const SumInside &asked, InsideHand &hand, int64 first, Drawn &drawn, uint64 modulus) {
    int from = __ffs(drawn.left) - 1;
    drawn.left &= drawn.left - 1;
    Task task{
        __shfl_sync(ALL, drawn.own.root, from), __shfl_sync(ALL, drawn.own.member, from),
        __shfl_sync(ALL, drawn.own.word, from), __shfl_sync(ALL, drawn.own.bits, from), false
    };
    go_inside(hand, *asked.roots.inside, first, task, int(asked.top), int(asked.second), modulus);
}

INNER Stop &stop_of_warp(const SumInside &asked) { return asked.stops[thread() / WARP]; }

APART void stop_at(const SumInside &asked, const InsideHand &hand, const Drawn &drawn, int child, int level) {
    Stop &stop = stop_of_warp(asked);
    copy_walk(hand, stop.walk);
    if (lane() > 0) return;
    stop.begun = drawn.begun;
    stop.left = drawn.left;
    stop.child = child;
    stop.level = level;
    stop.stopped = 1;
    atomicAdd(&asked.begun->stopped, 1ull);
}

// Where a warp has stopped with the last launch: the child and, in `turn`, the level to go on at.
APART int go_on(const SumInside &asked, const int64 *registers, InsideHand &hand, Drawn &drawn, Turn &turn) {
    Stop &stop = stop_of_warp(asked);
    copy_walk(stop.walk, hand);
    drawn.begun = stop.begun;
    drawn.left = stop.left;
    find_tasks(asked, registers, drawn);
    turn.level = stop.level;
    int child = stop.child;
    __syncwarp();
    if (lane() == 0) {
        stop.stopped = 0;
        atomicAdd(&asked.begun->stopped, ~0ull);
    }
    return child;
}

// How many candidates a warp has gone through, in its first lane. budget: nanoseconds from now on.
INNER uint64 perform(const SumInside &asked, int64 *registers, uint64 modulus, uint64 budget) {
    InsideBlock &block = at_hand<InsideBlock>();
    InsideHand &hand = block.hands[threadIdx.x / WARP];
    Turn turn{0, -1};
    for (int i = threadIdx.x; i < asked.roots.inside->level_count; i += BLOCK)
        fetch_level(*asked.roots.inside, i, block.levels[i]);
    __syncthreads();
    if (lane() == 0) {
        hand.levels = block.levels;
        hand.until = now() + budget;
    }
    for (int i = lane(); i < DEPTH; i += WARP) hand.found[i] = 0;
    __syncwarp();
    unsigned found[DEPTH] = {};
    Drawn drawn{0, WARP / HANDFUL, {0, 0, 0, 0, false}, 0};
    int child = seen_now(&stop_of_warp(asked).stopped) ? go_on(asked, registers, hand, drawn, turn) : -1;
    while (true) {
        if (child < 0 && !drawn.left) {
            if (!draw(asked, hand, registers, drawn, found, modulus)) break;
            continue;
        }
        if (child < 0) begin_task(asked, hand, registers[asked.roots.first], drawn, modulus);
        child = sum_task(asked, hand, child < 0 ? 0 : child, modulus, turn);
        if (child < 0) continue;
        stop_at(asked, hand, drawn, child, turn.level);
        break;
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
