// Values of partial matches: modulo 2^64 when `modulus` is 0. Sizes are about the same numbers, and tell nothing from
// something.

struct Sum {
    uint64 value;
    double size;
};

INNER void add(Sum &sum, const Sum &other) {
    sum.value += other.value;
    sum.size += other.size;
}

// Of all lanes of a warp; right in the first.
INNER Sum sum_of_warp(Sum sum) {
    for (int step = 1; step < WARP; step *= 2) {
        sum.value += __shfl_down_sync(ALL, sum.value, step);
        sum.size += __shfl_down_sync(ALL, sum.size, step);
    }
    return sum;
}

INNER uint64 product(uint64 left, uint64 right, uint64 modulus) {
    return modulus ? left * right % modulus : left * right;
}

INNER void multiply(Sum &sum, const Sum &other, uint64 modulus) {
    sum.value = product(sum.value, other.value, modulus);
    sum.size *= other.size;
}

INNER void multiply_factors(const Level &level, int position, uint64 modulus, Sum &sum) {
    ROLLED
    for (int64 i = 0; i < level.factor_count; i++) {
        sum.value = product(sum.value, level.factors[i].sums[position], modulus);
        sum.size *= level.factors[i].sizes[position];
    }
}
