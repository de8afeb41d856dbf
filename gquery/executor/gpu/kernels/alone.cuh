// What is little below a member is summed by a lane alone: one level of candidates, above leaves. A warp would need longer
// to begin with it. Each step is a function apart: in one there would not be enough registers.

// What hangs on the member that is matched at the level `top`.
APART Sum hanging_on_top(const Lone &own, int top, uint64 modulus) {
    return hanging(Lanes<1>(), AnyLeaf<Lone>(own, top), own, top, own.positions[top], modulus);
}

// The sum over the candidates of a level. found: by level, how many there were.
APART Sum sum_candidates_alone(const Lone &own, int number, unsigned *found, uint64 modulus) {
    const Lanes<1> team;
    const AnyLeaf<Lone> leaf(own, number);
    Possible<Lone> possible(own, number);
    Sum sum{0, 0};
    for (int word = possible.begin(); word < own.words; word++) {
        unsigned left = possible.word_without_others(word);
        found[number] += __popc(left);
        for (; left; left &= left - 1) {
            add(sum, hanging(team, leaf, own, number, word * BITS + __ffs(left) - 1, modulus));
            if (modulus) sum.value %= modulus;
        }
    }
    return sum;
}

// What is below the member that is matched at the level `top`.
APART Sum sum_alone(const Lone &own, int top, unsigned *found, uint64 modulus) {
    int number = own.levels[top].children[0];
    Sum above = hanging_on_top(own, top, modulus);
    if (above.size == 0) return above;
    Sum sum = own.levels[number].tallied ? sum_tallied_alone(own, number, found, modulus)
                                         : sum_candidates_alone(own, number, found, modulus);
    multiply(sum, above, modulus);
    return sum;
}
