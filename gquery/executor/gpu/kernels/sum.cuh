// Sums on their way up: products over the branches below a vertex, added up for what they are below. Whatever is asked of
// rows is done by the same thread for every operation on as many rows: they need no barrier between them.

// values = the product of a level's factors and weights, for each partial match that ends with that level. `weighing` is
// the level whose weights these are: another one where several levels have been listed. scratch: for the weights, five
// words for each choice and thread.
struct BeginValues {
    Asked asked;
    int64 weighing;
    int64 *scratch;
    uint64 *values;
    double *sizes;
};

APART void perform(const BeginValues &begin, int64 *registers, uint64 modulus) {
    const Level &level = begin.asked.level(), &weighed = begin.asked.program->levels[begin.weighing];
    Frontier frontier = begin.asked.given.now(registers);
    Share share = share_of(frontier.count);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        int position = frontier.at(level.made[level.index], row);
        Sum sum{1, 1};
        if (level.index == begin.weighing) multiply_factors(level, position, modulus, sum);
        else sum = Sum{begin.values[row], begin.sizes[row]};
        Match match{*begin.asked.program, frontier, level.made, row, level.index, position};
        if (weighed.weights < weighed.weights_end) multiply_weights(weighed, match, modulus, begin.scratch, sum);
        begin.values[row] = sum.value;
        begin.sizes[row] = sum.size;
    }
}

enum Cap { NO_CAP, OPTIONAL, EXISTS, ABSENT };

// What a sum counts as: less what a pattern takes away always, and at least or at most one.
INNER Sum finished(Sum sum, int64 minus, int64 cap, uint64 modulus) {
    if (modulus) sum.value %= modulus;
    if (minus) {
        bool any = sum.size > double(minus);
        sum.value = any ? (modulus && sum.value < uint64(minus) ? sum.value + modulus : sum.value) - minus : 0;
        sum.size = any ? sum.size - minus : 0;
    }
    if (cap == OPTIONAL && sum.size == 0) sum = Sum{1, 1};
    if (cap == EXISTS && sum.size > 0) sum = Sum{1, 1};
    if (cap == ABSENT) sum = sum.size == 0 ? Sum{1, 1} : Sum{0, 0};
    return sum;
}

// Sums of a branch as they were added up. sizes: null where the sums are numbers of rows, and no larger than that.
struct Branch {
    const uint64 *sums;
    const double *sizes;
    int64 minus, cap;

    INNER_MEMBER Sum at(int64 row, uint64 modulus) const {
        return finished(Sum{sums[row], sizes ? sizes[row] : double(sums[row])}, minus, cap, modulus);
    }
};

// What partial matches count as: the branch's sums[context[i]], or sums[i] where each has a context of its own.
struct Ways {
    Branch branch;
    const int *context;

    INNER_MEMBER Sum at(int64 row, uint64 modulus) const { return branch.at(context ? context[row] : row, modulus); }
};

// values[i] *= the ways.
struct Multiply {
    Ways ways;
    int64 count;
    uint64 *values;
    double *sizes;
};

APART void perform(const Multiply &asked, int64 *registers, uint64 modulus) {
    Share share = share_of(registers[asked.count]);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Sum sum = asked.ways.at(row, modulus);
        asked.values[row] = product(asked.values[row], sum.value, modulus);
        asked.sizes[row] *= sum.size;
    }
}

// The factors of positions: the branch's sums, one for each.
struct StoreFactors {
    Branch branch;
    Given positions;
    uint64 *sums;
    double *sizes;
};

APART void perform(const StoreFactors &asked, int64 *registers, uint64 modulus) {
    Frontier frontier = asked.positions.now(registers);
    Share share = share_of(frontier.count);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Sum sum = asked.branch.at(row, modulus);
        asked.sums[frontier.at(0, row)] = sum.value;
        asked.sizes[frontier.at(0, row)] = sum.size;
    }
}

struct AddUp {
    Ways ways;
    const int *parents;
    int64 count;
    uint64 *sums;
    double *sizes;
};

APART void perform(const AddUp &asked, int64 *registers, uint64 modulus) {
    Share share = share_of(registers[asked.count]);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Sum sum = asked.ways.at(row, modulus);
        if (sum.size > 0) {
            atomicAdd(asked.sums + asked.parents[row], sum.value);
            atomicAdd(asked.sizes + asked.parents[row], sum.size);
        }
    }
}

// Each thread adds what it has to two words of its block's.
struct AddToTotals {
    Ways ways;
    int64 count;
    uint64 *totals;
    double *total_sizes;
};

APART void perform(const AddToTotals &asked, int64 *registers, uint64 modulus) {
    Share share = share_of(registers[asked.count]);
    uint64 sum = 0;
    double size = 0;
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        Sum own = asked.ways.at(row, modulus);
        sum += own.value;
        size += own.size;
        if (modulus) sum %= modulus;
    }
    sum = uint64(sum_of_block(int64(sum)));
    __shared__ double sizes;
    if (threadIdx.x == 0) sizes = 0;
    __syncthreads();
    size = sum_of_row(size, 0);
    if (lane() == 0 && size > 0) atomicAdd(&sizes, size);
    __syncthreads();
    if (threadIdx.x == 0) {
        uint64 total = asked.totals[blockIdx.x] + sum;
        asked.totals[blockIdx.x] = modulus ? total % modulus : total;
        asked.total_sizes[blockIdx.x] += sizes;
    }
}
