// Random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a stream for each graph. Who draws from it, and when,
// changes no other: the graphs are those that the CPU makes, bit for bit.

INNER uint64 mixed(uint64 value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
}

INNER uint64 stream_of(int64 seed, int64 number) { return mixed(mixed(uint64(seed)) + ODD * uint64(number + 1)); }

// 32 random bits.
INNER uint64 drawn(uint64 &chance) {
    chance += ODD;
    return mixed(chance) >> 32;
}

// A number from 0 to `number` - 1, at most 2^31, each as likely (Lemire, ACM TOMACS 29(1), 2019).
INNER int64 below(uint64 &chance, int64 number) {
    const uint64 size = uint64(number), low = 0xffffffff;
    uint64 product = drawn(chance) * size;
    if ((product & low) < size) {
        uint64 least = ((low + 1) - size) % size;
        while ((product & low) < least) product = drawn(chance) * size;
    }
    return int64(product >> 32);
}
