// Warps draw tasks from a counter until there are none left, or the time is over: then each writes down where it is, and goes
// on from there with the next launch.

const int HANDFUL = WARP / 4 > 0 ? WARP / 4 : 1;  // tasks that a warp begins with at once, as the end comes near

INNER int64 handfuls(int64 tasks) { return (tasks + HANDFUL - 1) / HANDFUL; }

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

// The task of each lane, of handfuls before an end, and whether there is something to do for it.
INNER bool find_tasks(const SumInside &asked, const int64 *registers, int64 end, Drawn &drawn) {
    // What is long is often side by side: a warp's tasks are far apart.
    int64 handful = drawn.begun + lane() / HANDFUL, number = lane() % HANDFUL * registers[asked.handfuls] + handful;
    drawn.own = Task{0, 0, 0, 0, false};
    bool any = lane() / HANDFUL < drawn.handfuls && handful < end && number < registers[asked.tasks];
    return any && find_task(asked, registers, number, drawn.own);
}

// Draws the next tasks; false when there are none left, or the time is over. A lane does what is little at once.
APART bool draw(
    const SumInside &asked, const InsideHand &hand, const int64 *registers, Drawn &drawn, unsigned *found, uint64 modulus
) {
    int64 end = registers[asked.end];
    if (4 * drawn.begun > 3 * registers[asked.handfuls]) drawn.handfuls = 1;
    drawn.begun = end;
    if (lane() == 0 && now() < hand.until) drawn.begun = int64(atomicAdd(&asked.begun->handfuls, uint64(drawn.handfuls)));
    drawn.begun = __shfl_sync(ALL, drawn.begun, 0);
    if (drawn.begun >= end) return false;
    bool any = find_tasks(asked, registers, end, drawn);
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
    find_tasks(asked, registers, registers[asked.handfuls], drawn);  // the end may be another one by now
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
