// Running sums over the whole grid, in two operations with a barrier between: each block adds up its share, then writes
// the running sums of the share, beginning with what the blocks before it have added up.

// The sum of what the blocks (or pieces) before one have added up.
INNER int64 sum_of_earlier(const int64 *partials, int64 count) {
    int64 sum = 0;
    for (int64 i = threadIdx.x; i < count; i += BLOCK) sum += partials[i];
    return sum_of_block(sum);
}

// values: int64[count], `count` and `total` numbers of registers.
struct AddUpShares {
    const int64 *values;
    int64 count;
    int64 *partials;
};

APART void perform(const AddUpShares &asked, int64 *registers) {
    Share share = share_of(registers[asked.count]);
    int64 sum = 0;
    for (int64 i = share.begin + threadIdx.x; i < share.end; i += BLOCK) sum += asked.values[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) asked.partials[blockIdx.x] = sum;
}

// The register that counts what has been tried: what a search has cost, whatever the machine.
const int STEPS = 0;

// A register that becomes larger by another one, and one that becomes as much smaller.
struct Advance {
    int64 by, up, down;
};

APART void perform(const Advance &advance, int64 *registers) {
    if (threadIdx.x) return;
    registers[advance.up] += registers[advance.by];
    registers[advance.down] -= registers[advance.by];
}

// In place. Sets the register `total`, and `first` to 0.
struct RunningSums {
    int64 *values;
    int64 count;
    const int64 *partials;
    int64 total, first;
};

APART void perform(const RunningSums &asked, int64 *registers) {
    Share share = share_of(registers[asked.count]);
    int64 running = sum_of_earlier(asked.partials, blockIdx.x), sum;
    for (int64 tile = share.begin; tile < share.end; tile += BLOCK) {
        int64 i = tile + threadIdx.x, value = i < share.end ? asked.values[i] : 0;
        int64 before = running + sum_before(value, sum);
        if (i < share.end) asked.values[i] = before + value;
        running += sum;
    }
    int64 all = sum_of_earlier(asked.partials, gridDim.x);
    if (threadIdx.x == 0) {
        registers[asked.total] = all;
        registers[asked.first] = 0;
        registers[STEPS] += all;
    }
}

// A candidate set that is made of its members: through[v] of them are at most v; kept: they in order; count: a word.
struct Members {
    const byte *member;
    int64 universe;
    int64 *through;
    int *kept;
    int64 *count;
};

// Several sets at once, each in as many pieces; partials has room for a piece more than there are blocks and sets.
struct AllMembers {
    const Members *sets;
    int64 count;
    int64 *partials;

    INNER_MEMBER int64 pieces() const { return count < int64(gridDim.x) ? gridDim.x / count : 1; }
};

INNER Share piece_of(int64 universe, int64 piece, int64 pieces) {
    int64 each = ((universe + pieces - 1) / pieces + BLOCK - 1) / BLOCK * BLOCK, begin = each * piece;
    return Share{begin < universe ? begin : universe, begin + each < universe ? begin + each : universe};
}

APART void count_members(const AllMembers &all) {
    for (int64 unit = blockIdx.x; unit < all.count * all.pieces(); unit += gridDim.x) {
        const Members &own = all.sets[unit / all.pieces()];
        Share piece = piece_of(own.universe, unit % all.pieces(), all.pieces());
        int64 found = 0;
        for (int64 i = piece.begin + threadIdx.x; i < piece.end; i += BLOCK) found += own.member[i];
        found = sum_of_block(found);
        if (threadIdx.x == 0) all.partials[unit] = found;
    }
}

APART void list_members(const AllMembers &all) {
    for (int64 unit = blockIdx.x; unit < all.count * all.pieces(); unit += gridDim.x) {
        int64 number = unit % all.pieces(), sum;
        const Members &own = all.sets[unit / all.pieces()];
        Share piece = piece_of(own.universe, number, all.pieces());
        int64 running = sum_of_earlier(all.partials + unit - number, number);
        for (int64 tile = piece.begin; tile < piece.end; tile += BLOCK) {
            int64 i = tile + threadIdx.x;
            bool inside = i < piece.end && own.member[i];
            int64 before = running + sum_before(inside, sum);
            if (i < piece.end) own.through[i] = before + inside;
            if (inside) own.kept[before] = int(i);
            running += sum;
        }
        if (number == all.pieces() - 1 && threadIdx.x == 0) *own.count = running;
    }
}
