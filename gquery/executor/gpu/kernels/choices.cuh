// Weights: over parallel edges one embedding stands for as many matches as there are ways to choose the data edges.
// Every choice has a run of equal neighbours in its row, one entry for each data edge.

// Where a thread works on one match: for each choice where its run begins and ends, where the odometer stands in it, the
// edge that is chosen, and how many edges of the run are taken by others.
struct Wheel {
    int64 begin, end, cursor, chosen, taken;

    INNER_MEMBER int64 length() const { return end - begin; }
};

// Pairs of edges that a thread compares to count the choices of one match, and edges that it chooses one by one, which
// take an H100 0.6 us each. Beyond that it gives up and says so at the front of the scratch, which the host looks at, and
// other threads before they begin with a match: no kernel may run for ever.
const int64 MOST_COMPARED = 1 << 24, MOST_CHOSEN = 1 << 20;

INNER void find_runs(const Level &level, const Match &match, Wheel *wheels) {
    for (int64 i = level.weights; i < level.weights_end; i++) {
        const Choice &choice = match.program.choices[i];
        Range row = row_of(Rows{0, choice.first, choice.count, choice.offsets, choice.neighbours}, match.vertex(choice.from));
        int wanted = match.vertex(choice.to);
        Wheel &wheel = wheels[i - level.weights];
        wheel.begin = first_above(choice.neighbours, row.begin, row.end, wanted - 1);
        wheel.end = first_above(choice.neighbours, wheel.begin, row.end, wanted);
        wheel.taken = 0;
    }
}

INNER bool same_run(const Choice &one, const Wheel &own, const Choice &other, const Wheel &its) {
    return one.edges == other.edges && own.begin == its.begin;
}

// The data edges that two runs have in common. A run is not sorted.
INNER int64 common_edges(const Choice &one, const Wheel &own, const Choice &other, const Wheel &its) {
    if (same_run(one, own, other, its)) return own.length();
    int64 common = 0;
    for (int64 i = own.begin; i < own.end; i++)
        for (int64 j = its.begin; j < its.end; j++) common += one.edges[i] == other.edges[j];
    return common;
}

// Counts what choices that collide take from each other's runs; false when that does not tell the number of ways. It does
// where of every two such runs one holds the other, or nothing of it.
INNER bool take_from_runs(const Level &level, const Choice *choices, Wheel *wheels, int64 *given_up) {
    int64 compared = 0;
    for (int64 i = 0; i < level.weights_end - level.weights; i++) {
        const Choice &choice = choices[i];
        for (int64 k = 0; k < choice.collide_count; k++) {
            int64 other = choice.collides[k] - level.weights;
            if (!same_run(choice, wheels[i], choices[other], wheels[other]))
                compared += wheels[i].length() * wheels[other].length();
            if (compared > MOST_COMPARED) {
                *given_up = 1;
                return true;
            }
            int64 common = common_edges(choice, wheels[i], choices[other], wheels[other]);
            if (!common) continue;
            int64 own = wheels[i].length(), its = wheels[other].length(), holder = own >= its ? i : other;
            wheels[holder].taken++;
            // What two choices take from a run are two edges only if those collide as well.
            if (common < (own < its ? own : its) || (wheels[holder].taken > 1 && !choices[holder].clique)) return false;
        }
    }
    return true;
}

// The ways to choose the edges that collide, one by one: an odometer over the runs, in which free choices stand still.
INNER uint64 enumerated(const Level &level, const Choice *choices, Wheel *wheels, int64 *given_up) {
    int64 count = level.weights_end - level.weights, depth = 0, steps = 0;
    uint64 found = 0;
    wheels[0].cursor = wheels[0].begin;
    while (depth >= 0) {
        if (++steps > MOST_CHOSEN) {
            *given_up = 1;
            break;
        }
        const Choice &choice = choices[depth];
        Wheel &wheel = wheels[depth];
        if (wheel.cursor == wheel.end) {
            depth--;
            continue;
        }
        wheel.chosen = choice.edges[wheel.cursor];
        wheel.cursor = choice.free ? wheel.end : wheel.cursor + 1;
        bool collision = false;
        for (int64 k = 0; k < choice.collide_count; k++)
            collision |= wheels[choice.collides[k] - level.weights].chosen == wheel.chosen;
        if (collision) continue;
        if (depth == count - 1) {
            found++;
        } else {
            depth++;
            wheels[depth].cursor = wheels[depth].begin;
        }
    }
    return found;
}

APART void multiply_weights(const Level &level, const Match &match, uint64 modulus, int64 *scratch, Sum &sum) {
    if (*static_cast<volatile int64 *>(scratch)) return;
    int64 count = level.weights_end - level.weights;
    const Choice *choices = match.program.choices + level.weights;
    Wheel *wheels = reinterpret_cast<Wheel *>(scratch + 1) + thread() * count;
    find_runs(level, match, wheels);
    bool told = take_from_runs(level, choices, wheels, scratch);
    for (int64 i = 0; i < count; i++) {
        if (!told && !choices[i].free) continue;
        int64 ways = wheels[i].length() - wheels[i].taken;
        if (ways <= 0) ways = 0;
        sum.value = product(sum.value, uint64(ways), modulus);
        sum.size *= double(ways);
    }
    if (!told) {
        uint64 found = enumerated(level, choices, wheels, scratch);
        sum.value = product(sum.value, modulus ? found % modulus : found, modulus);
        sum.size *= double(found);
    }
}
