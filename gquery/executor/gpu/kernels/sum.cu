// Sums on their way up: products over the branches below a vertex, added up for what they are below.

// values = the product of a level's factors and weights, for each partial match that ends with that level. `weighing` is
// the level whose weights these are: another one where several levels have been listed.
KERNEL begin_values(
    const Program *program, int64 index, int64 weighing, const int *columns, int64 stride, int64 count, uint64 modulus,
    int64 *scratch, uint64 *values, double *sizes
) {
    const Level &level = program->levels[index], &weighed = program->levels[weighing];
    const int *last = columns + level.made[index] * stride;
    for (int64 row = thread(); row < count; row += threads()) {
        Sum sum{1, 1};
        if (index == weighing) multiply_factors(level, last[row], modulus, sum);
        else sum = Sum{values[row], sizes[row]};
        Match match{*program, Frontier{columns, stride}, level.made, row, index, last[row]};
        if (weighed.weights < weighed.weights_end) multiply_weights(weighed, match, modulus, scratch, sum);
        values[row] = sum.value;
        sizes[row] = sum.size;
    }
}

// values[i] *= others[context[i]], or others[i] where every partial match has a context of its own.
KERNEL multiply(
    uint64 *values, double *sizes, const uint64 *others, const double *other_sizes, const int *context, int64 count,
    uint64 modulus
) {
    for (int64 row = thread(); row < count; row += threads()) {
        int64 other = context ? context[row] : row;
        values[row] = product(values[row], others[other], modulus);
        sizes[row] *= other_sizes[other];
    }
}

KERNEL add_up(
    const uint64 *values, const double *sizes, const int *parents, int64 count, uint64 *sums, double *sum_sizes
) {
    for (int64 row = thread(); row < count; row += threads()) {
        if (sizes[row] > 0) {
            atomicAdd(sums + parents[row], values[row]);
            atomicAdd(sum_sizes + parents[row], sizes[row]);
        }
    }
}

enum Cap { NO_CAP, OPTIONAL, EXISTS, ABSENT };

// What a sum counts as: less what a pattern takes away always, and at least or at most one.
KERNEL finish(uint64 *sums, double *sizes, int64 count, uint64 modulus, int64 minus, int64 cap) {
    for (int64 row = thread(); row < count; row += threads()) {
        uint64 sum = modulus ? sums[row] % modulus : sums[row];
        double size = sizes[row];
        if (minus) {
            bool any = size > double(minus);
            sum = any ? (modulus && sum < uint64(minus) ? sum + modulus : sum) - minus : 0;
            size = any ? size - minus : 0;
        }
        if (cap == OPTIONAL && size == 0) sum = 1, size = 1;
        if (cap == EXISTS && size > 0) sum = 1, size = 1;
        if (cap == ABSENT) {
            bool none = size == 0;
            sum = none, size = none;
        }
        sums[row] = sum;
        sizes[row] = size;
    }
}
