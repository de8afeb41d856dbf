// The kernels of the census, for all lanes of a block.

extern "C" void seed_lanes(unsigned long long seed) { emulator.chance = seed; }

extern "C" void make_graphs_by_lanes(const Census census, Counters *counters, int64 budget) {
    run_block([&] { make_graphs(census, counters, budget); });
}

extern "C" void count_sets_by_lanes(const Census census, Counters *counters, int64 budget) {
    run_block([&] { count_sets(census, counters, budget); });
}
