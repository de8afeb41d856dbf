// Equal contexts of the partial matches of a block, so that what depends on a context alone is summed once for each. A
// table of keys in which each is looked for from its hash on; `FREE` is no key.

const uint64 FREE = 0;

// keys, numbers: uint64[slots] and int[slots], slots a power of two and more than the rows, all keys free before. The
// outer levels' positions are in `columns` of the given ones, `radices` says how many of each there may be.
struct FindContexts {
    Given given;
    int64 outer;
    const int64 *columns, *radices;
    int64 slots;
    uint64 *keys;
    int *numbers, *slot_of;
    int *out;
    int64 stride;
    uint64 *written;
    int64 base;
};

INNER uint64 hashed(uint64 key) {
    uint64 mixed = key * 0x9e3779b97f4a7c15ull;
    return mixed ^ (mixed >> 32);
}

APART void perform(const FindContexts &asked, int64 *registers) {
    Frontier frontier = asked.given.now(registers);
    Share share = share_of(frontier.count);
    int64 base = registers[asked.base];
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        uint64 key = 0;
        for (int64 i = 0; i < asked.outer; i++) key = key * asked.radices[i] + frontier.at(asked.columns[i], row);
        key++;
        uint64 slot = hashed(key) & (asked.slots - 1);
        while (true) {
            uint64 before = seen_now(asked.keys + slot);
            if (before == FREE) before = atomicCAS(asked.keys + slot, FREE, key);
            if (before == FREE) {
                int64 number = atomicAdd(asked.written, 1ull) - base;
                asked.numbers[slot] = int(number);
                for (int64 i = 0; i < asked.outer; i++)
                    asked.out[i * asked.stride + number] = frontier.at(asked.columns[i], row);
            }
            if (before == FREE || before == key) break;
            slot = (slot + 1) & (asked.slots - 1);
        }
        asked.slot_of[row] = int(slot);
    }
}

// The number of each partial match's context, in place of its slot, which is free again once all know theirs.
struct NumberContexts {
    int64 count;
    uint64 *keys;
    const int *numbers;
    int *slot_of, *context;
};

APART void perform(const NumberContexts &asked, int64 *registers) {
    Share share = share_of(registers[asked.count]);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        asked.context[row] = asked.numbers[asked.slot_of[row]];
        asked.keys[asked.slot_of[row]] = FREE;
    }
}
