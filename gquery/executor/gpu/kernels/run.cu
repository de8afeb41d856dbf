// A tape: operations one after another, which one launch runs from the first to the last. All blocks go through them
// together, each with registers of its own that have the same numbers in all; they wait for each other where an
// operation asks what another one has made. It stops between two operations when its time is over, and goes on from
// there with the next launch. What needs more registers than are good for all others is a kernel of its own (`inside`,
// `adaptive`): the tape stops before it, the host launches it, and the tape goes on behind it.

const int REGISTERS = 1024;

enum Status { MORE, HALTED, INSIDE, ADAPTIVE };  // of the last two the kernel that goes on

// At the beginning of what the host writes and reads back. waiting: the blocks that have come to a barrier; crossed: twice
// the number of barriers that all have come to, and one more where the time was over by then, far enough from the other
// for those who look at it not to hold up those who come.
struct Machine {
    const int64 *tape;
    int64 at, status, register_count;
    uint64 waiting, between[31], crossed;
    int64 registers[1];
};

// Words: which one, whether all have to wait first, and how many words there are with these, before its own.
struct Operation {
    int64 name, waits, length;
    int64 words[1];

    template <typename Kind>
    INNER_MEMBER const Kind &as() const { return *reinterpret_cast<const Kind *>(words); }
};

// The items of the next piece: from `first` on at most `step`, `last` their end, `count` their number. Goes on `behind`
// when there are none.
struct NextPiece {
    int64 first, last, count, total, step, behind;
};

// The number of rows that the last operation has written, and of all before the next one. Goes on `behind` for none.
struct Written {
    const uint64 *written;
    int64 base, count, behind;
};

// Goes on `behind` when a register has less than that.
struct Unless {
    int64 number, least, behind;
};

// The roots of the next piece, so many that the words for them find room; what `NextPiece` has, and registers with their
// rows and pieces of words, so many `each`; `tasks` is one of these. None of the tasks is begun, and no warp has stopped.
// handfuls, end: registers with how many handfuls there are, and until which they may be drawn: all, or none where they
// are dealt out by the host; dealt: whether they are; open: a register with whether there may be more from the host.
struct NextInside {
    const Inside *inside;
    int64 first, last, total, rows, pieces, each, behind, tasks, handfuls, end, dealt, open;
    TasksBegun *begun;
    Stop *stops;
    int64 stop_count;
};

// Back where warps left off when their time was over: some tasks have not been begun, or warps have stopped amid one. Where
// all that may be drawn have been begun and the host may deal out more, it is asked.
struct MoreInside {
    const TasksBegun *begun;
    int64 end, open, to, ask;
};

// Back to where warps left off when their time was over, unless all roots are done.
struct MoreRoots {
    const Roots *begun;
    int64 count, to;
};

// The host has dealt out handfuls from the one in a register on.
struct Dealt {
    TasksBegun *begun;
    int64 from;
};

// Back to the beginning of a loop, behind the last piece. Steps are doubled up to `most`.
struct Again {
    int64 first, last, step, most, to;
};

// The host numbers them as they are listed here: first those that go on elsewhere.
#define OPERATIONS(EACH, TIMES)                                                                                        \
    EACH(Copy) EACH(Keep) EACH(Narrow) EACH(KeepLoops) EACH(CountEntries) EACH(WriteEntries) EACH(AddUpShares)           \
    EACH(RunningSums) EACH(MeasureRows) EACH(Extend) EACH(Count) EACH(CountRows) EACH(FindContexts)               \
    EACH(NumberContexts) EACH(WriteBits) EACH(KeepCommon) EACH(MeasureInside) EACH(WriteInside) EACH(Push) EACH(PushNoting) EACH(ClearCounters) EACH(ClearNoted) EACH(FollowRoots) EACH(Gather) EACH(GatherExtended) EACH(Advance) TIMES(Harvest) TIMES(HarvestNoted) TIMES(HarvestAll)              \
    TIMES(SumFactors) TIMES(SumCommon) TIMES(BeginValues) TIMES(Multiply) TIMES(StoreFactors) TIMES(AddUp) TIMES(AddToTotals)

#define NAMED(kind) Of##kind,
enum Name { Halt, OfNextPiece, OfWritten, OfAgain, OfUnless, OfPays, OfNextInside, OfMoreInside, OfDealt, OfMoreRoots, SumInsideApart, SumAdaptivelyApart, CountMembers, ListMembers, OPERATIONS(NAMED, NAMED) };

// Goes on `behind` when a sweep has taken fewer than one of so many that were left; `removed` counts what all took.
struct Pays {
    const uint64 *removed;
    int64 left, one_of, behind;
};

// All blocks have come here, and see what each has written; false when the time is over. crossed: the machine's before,
// and after.
INNER bool all_here(Machine *machine, uint64 &crossed, uint64 end) {
    __shared__ uint64 seen;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        volatile uint64 *now_crossed = &machine->crossed;
        if (atomicAdd(&machine->waiting, 1ull) == gridDim.x - 1) {
            machine->waiting = 0;
            __threadfence();
            *now_crossed = (crossed | 1) + 1 + (now() > end);
        }
        while ((*now_crossed | 1) == (crossed | 1)) {}
        seen = *now_crossed;
        __threadfence();
    }
    __syncthreads();
    crossed = seen;
    return !(crossed & 1);
}

INNER int64 perform(const NextPiece &piece, int64 *registers, int64 next) {
    int64 first = registers[piece.first], total = registers[piece.total], step = registers[piece.step];
    int64 last = first + step < total ? first + step : total;
    if (first >= total) return piece.behind;
    if (threadIdx.x == 0) {
        registers[piece.last] = last;
        registers[piece.count] = last - first;
    }
    return next;
}

// In two steps: what one thread sets, all look at.
INNER int64 perform(const Written &asked, int64 *registers, int64 next) {
    if (threadIdx.x == 0) {
        int64 written = seen_now(asked.written);
        registers[asked.count] = written - registers[asked.base];
        registers[asked.base] = written;
    }
    __syncthreads();
    return registers[asked.count] ? next : asked.behind;
}

INNER int64 perform(const NextInside &piece, int64 *registers, int64 next) {
    const Inside &inside = *piece.inside;
    int64 first = registers[piece.first], total = registers[piece.total];
    if (first >= total) return piece.behind;
    if (threadIdx.x == 0) {
        int64 before = inside.before(first), last = first_above(inside.ends, first, total, before + inside.room);
        registers[piece.last] = last;
        registers[piece.rows] = inside.rows_before(last) - inside.rows_before(first);
        registers[piece.pieces] = (inside.before(last) - before) * piece.each;
        registers[piece.handfuls] = handfuls(registers[piece.tasks]);
        registers[piece.end] = piece.dealt ? 0 : registers[piece.handfuls];
        registers[piece.open] = piece.dealt;
        if (blockIdx.x == 0) *piece.begun = TasksBegun{0, 0};
    }
    for (int64 i = thread(); i < piece.stop_count; i += threads()) piece.stops[i].stopped = 0;
    return next;
}

INNER int64 perform(const MoreInside &more, int64 *registers, int64 next) {
    bool all_begun = int64(seen_now(&more.begun->handfuls)) >= registers[more.end];
    if (all_begun && registers[more.open]) return more.ask;
    return all_begun && !seen_now(&more.begun->stopped) ? next : more.to;
}

INNER int64 perform(const MoreRoots &more, int64 next) {
    bool all_done = !seen_now(&more.begun->working) && int64(seen_now(&more.begun->next)) >= more.count;
    return all_done ? next : more.to;
}

INNER int64 perform(const Dealt &dealt, int64 *registers, int64 next) {
    if (thread() == 0) dealt.begun->handfuls = registers[dealt.from];
    return next;
}

INNER int64 perform(const Again &again, int64 *registers) {
    if (threadIdx.x == 0) {
        registers[again.first] = registers[again.last];
        int64 twice = 2 * registers[again.step];
        if (registers[again.step] < again.most) registers[again.step] = twice < again.most ? twice : again.most;
    }
    return again.to;
}

INNER int64 perform(const Unless &unless, int64 *registers, int64 next) {
    return registers[unless.number] < unless.least ? unless.behind : next;
}

INNER int64 perform(const Pays &pays, int64 *registers, int64 next) {
    __shared__ bool enough;
    if (threadIdx.x == 0) {
        int64 left = registers[pays.left], rest = registers[pays.left + 1] - int64(seen_now(pays.removed));
        enough = (left - rest) * pays.one_of > left;
        registers[pays.left] = rest;
    }
    __syncthreads();
    return enough ? next : pays.behind;
}

#define CASE(kind) case Of##kind: perform(operation.as<kind>(), registers); break;
#define CASE_MODULO(kind) case Of##kind: perform(operation.as<kind>(), registers, modulus); break;

// budget: nanoseconds from now on.
KERNEL run(Machine *machine, uint64 modulus, uint64 budget) {
    __shared__ int64 registers[REGISTERS];
    const uint64 end = now() + budget;
    for (int64 i = threadIdx.x; i < machine->register_count; i += BLOCK) registers[i] = machine->registers[i];
    int64 at = machine->at, status = HALTED;
    uint64 crossed = seen_now(&machine->crossed);  // none goes on from the first barrier before all have come
    if (machine->status >= INSIDE) at += reinterpret_cast<const Operation *>(machine->tape + at)->length;
    bool goes_on = all_here(machine, crossed, ~0ull);
    while (goes_on) {
        const Operation &operation = *reinterpret_cast<const Operation *>(machine->tape + at);
        if (operation.waits && !all_here(machine, crossed, end)) {
            status = MORE;
            break;
        }
        __syncthreads();
        int64 next = at + operation.length;
        switch (operation.name) {
            case Halt: goes_on = false; break;
            case SumInsideApart:
            case SumAdaptivelyApart:
                goes_on = false;
                status = operation.name == SumInsideApart ? INSIDE : ADAPTIVE;
                next = at;
                break;
            case OfNextPiece: next = perform(operation.as<NextPiece>(), registers, next); break;
            case OfWritten: next = perform(operation.as<Written>(), registers, next); break;
            case OfAgain: next = perform(operation.as<Again>(), registers); break;
            case OfUnless: next = perform(operation.as<Unless>(), registers, next); break;
            case OfNextInside: next = perform(operation.as<NextInside>(), registers, next); break;
            case OfMoreInside: next = perform(operation.as<MoreInside>(), registers, next); break;
            case OfMoreRoots: next = perform(operation.as<MoreRoots>(), next); break;
            case OfDealt: next = perform(operation.as<Dealt>(), registers, next); break;
            case OfPays: next = perform(operation.as<Pays>(), registers, next); break;
            case CountMembers: count_members(operation.as<AllMembers>()); break;
            case ListMembers: list_members(operation.as<AllMembers>()); break;
            OPERATIONS(CASE, CASE_MODULO)
        }
        at = next;
    }
    __syncthreads();
    if (blockIdx.x > 0) return;
    for (int64 i = threadIdx.x; i < machine->register_count; i += BLOCK) machine->registers[i] = registers[i];
    if (threadIdx.x == 0) {
        machine->at = at;
        machine->status = status;
    }
}

// The operation that a tape has stopped before, for so many nanoseconds.
template <typename Kind>
INNER const Kind &stopped_before(const Machine *machine) {
    return reinterpret_cast<const Operation *>(machine->tape + machine->at)->as<Kind>();
}

INNER void tell_steps(Machine *machine, uint64 steps) {
    if (lane() == 0 && steps) atomicAdd(reinterpret_cast<uint64 *>(machine->registers + STEPS), steps);
}

WIDE_KERNEL inside(Machine *machine, uint64 modulus, uint64 budget) {
    __shared__ int64 registers[REGISTERS];
    for (int64 i = threadIdx.x; i < machine->register_count; i += BLOCK) registers[i] = machine->registers[i];
    __syncthreads();
    tell_steps(machine, perform(stopped_before<SumInside>(machine), registers, modulus, budget));
}

WIDE_KERNEL adaptive(Machine *machine, uint64 modulus, uint64 budget) {
    tell_steps(machine, perform(stopped_before<SumAdaptively>(machine), modulus, budget));
}
