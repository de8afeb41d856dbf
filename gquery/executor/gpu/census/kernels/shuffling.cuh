// Random graphs, a thread each: the same attempts in the same order as `executor/cpu/random_graphs` makes, which says why.

// Turns a->b, b->c, c->a round where the third is an arc of the same group and nothing is in the way.
APART bool turn_triangle(const Links &links, int one, int other) {
    int a = links.tails[one], b = links.heads[one], c = links.heads[other], type = links.types[one];
    int third = int(find(links, type, c, a));
    if (third < 0 || links.groups[third] != links.groups[one]) return false;
    if (find(links, type, b, a) >= 0 || find(links, type, c, b) >= 0 || find(links, type, a, c) >= 0) return false;
    const int arcs[3] = {one, other, third};
    for (int i = 0; i < 3; i++) drop_link(links, arcs[i]);
    for (int i = 0; i < 3; i++) {
        int tail = links.tails[arcs[i]];
        links.tails[arcs[i]] = links.heads[arcs[i]];
        links.heads[arcs[i]] = tail;
        put_link(links, arcs[i]);
    }
    return true;
}

// One attempt to exchange the heads of two links. Whether it changed the graph.
INNER bool attempt(const Links &links, uint64 &chance) {
    int one = int(below(chance, links.count));
    int group = links.groups[one];
    int64 begin = links.begins[group];
    int other = int(begin + below(chance, links.begins[group + 1] - begin));
    if (one == other) return false;
    int a = links.tails[one], b = links.heads[one], c = links.tails[other], d = links.heads[other];
    if (links.turnable[group] && below(chance, 2)) {
        int turned = c;
        c = d;
        d = turned;
    }
    if (b == c && !links.symmetric[group]) return turn_triangle(links, one, other);
    int type = links.types[one];
    if (a == c || b == d || !is_free(links, type, a, d) || !is_free(links, type, c, b)) return false;
    drop_link(links, one);
    drop_link(links, other);
    links.heads[one] = d;
    links.tails[other] = c;
    links.heads[other] = b;
    put_link(links, one);
    put_link(links, other);
    return true;
}

// Exchanges two ends of a group: heads, or where links may be turned any, tails being the odd ones.
INNER void exchange(const Links &links, int64 begin, int64 one, int64 other, bool turnable) {
    if (!turnable) one *= 2, other *= 2;
    int *here = (one & 1 ? links.tails : links.heads) + begin + (one >> 1);
    int *there = (other & 1 ? links.tails : links.heads) + begin + (other >> 1);
    int end = *here;
    *here = *there;
    *there = end;
}

// Joins all ends of a group at random, and leaves out loops and links beside another. How many are left: the first.
APART int64 join_stubs(const Census &census, const Links &links, uint64 &chance) {
    for (int64 group = 0; group < census.groups; group++) {
        int64 begin = links.begins[group], stubs = links.begins[group + 1] - begin;
        if (links.turnable[group]) stubs *= 2;
        for (int64 left = stubs; left > 1; left--)
            exchange(links, begin, left - 1, below(chance, left), links.turnable[group]);
    }
    int kept = 0;
    for (int64 link = 0; link < links.count; link++) {
        int tail = links.tails[link], head = links.heads[link], type = links.types[link];
        if (!is_free(links, type, tail, head)) continue;
        links.tails[kept] = tail;
        links.heads[kept] = head;
        links.types[kept] = type;
        links.groups[kept] = links.groups[link];
        put_link(links, kept++);
    }
    return kept;
}

// A vertex of a colour.
INNER int any_of(const Census &census, uint64 &chance, int colour) {
    int64 begin = census.paint_begins[colour];
    return census.painted[begin + below(chance, census.paint_begins[colour + 1] - begin)];
}

// Puts each link between any two vertices of its colours where none is.
APART void scatter(const Census &census, const Links &links, uint64 &chance) {
    for (int64 group = 0; group < census.groups; group++) {
        int64 begin = links.begins[group];
        int tail_colour = census.colours[links.tails[begin]], head_colour = census.colours[links.heads[begin]];
        for (int64 link = begin; link < links.begins[group + 1]; link++) {
            int tail, head;
            do {
                tail = any_of(census, chance, tail_colour);
                head = any_of(census, chance, head_colour);
            } while (!is_free(links, links.types[link], tail, head));
            links.tails[link] = tail;
            links.heads[link] = head;
            put_link(links, int(link));
        }
    }
}

// Begins a graph: a copy of the links, and those of the models that are made in one go.
APART void begin_graph(const Census &census, int64 graph, const Links &links) {
    int64 number = census.first + graph;
    uint64 chance = stream_of(census.seed, number);
    for (int64 link = 0; link < links.count; link++) {
        links.tails[link] = census.tails[link];
        links.heads[link] = census.heads[link];
        links.types[link] = census.types[link];
        links.groups[link] = census.group_of[link];
    }
    for (int64 at = 0; at <= links.mask; at++) links.table[at] = -1;
    census.kept[graph] = links.count;
    census.changed[graph] = 0;
    census.made[graph] = census.attempts;
    if (number >= 0 && census.model == STUBS) {
        census.kept[graph] = join_stubs(census, links, chance);
    } else if (number >= 0 && census.model == SCATTERED) {
        scatter(census, links, chance);
    } else if (number >= 0) {
        for (int64 link = 0; link < links.count; link++) put_link(links, int(link));
        census.made[graph] = 0;
    }
    census.chance[graph] = chance;
}

// Goes on with a graph for so many attempts. Whether all are made.
INNER bool shuffle(const Census &census, int64 graph, int64 budget) {
    Links links = links_of(census, graph);
    if (census.made[graph] < 0) begin_graph(census, graph, links);
    int64 made = census.made[graph], changed = 0;
    uint64 chance = census.chance[graph];
    for (; made < census.attempts && budget > 0; made++, budget--) changed += attempt(links, chance);
    census.chance[graph] = chance;
    census.made[graph] = made;
    census.changed[graph] += changed;
    return made == census.attempts;
}
