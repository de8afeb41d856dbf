// What is little below a member is summed by a lane alone: one level of candidates, above leaves. A warp would need longer
// to begin with it.

// What is below the member that is matched at the level `top`. found: by level, how many candidates there were.
APART Sum sum_alone(Lone &own, int top, unsigned *found, uint64 modulus) {
    const Lanes<1> team;
    int number = own.levels[top].children[0];
    Sum above = hanging(team, AnyLeaf<Lone>(own, top), own, top, own.positions[top], modulus), sum{0, 0};
    if (above.size == 0) return above;
    if (own.levels[number].tallied) {
        sum = sum_tallied_alone(own, number, found, modulus);
        multiply(sum, above, modulus);
        return sum;
    }
    const AnyLeaf<Lone> leaf(own, number);
    Possible<Lone> possible(own, number);
    for (int word = possible.begin(); word < own.words; word++) {
        unsigned left = possible.word_without_others(word);
        found[number] += __popc(left);
        for (; left; left &= left - 1) {
            add(sum, hanging(team, leaf, own, number, word * BITS + __ffs(left) - 1, modulus));
            if (modulus) sum.value %= modulus;
        }
    }
    multiply(sum, above, modulus);
    return sum;
}
