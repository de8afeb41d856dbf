// Tapes, for all lanes of a block.

extern "C" void seed_lanes(unsigned long long seed) { emulator.chance = seed; }

extern "C" void run_by_lanes(Machine *machine, uint64 modulus, uint64 budget) {
    run_block([=] { run(machine, modulus, budget); });
}

extern "C" void adaptive_by_lanes(Machine *machine, uint64 modulus, uint64 budget) {
    run_block([=] { adaptive(machine, modulus, budget); });
}
