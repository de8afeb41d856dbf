// Candidate sets and candidate edges. A warp takes one vertex, its lanes the entries of its row; `among` says which
// vertices at the other end count, null when all do.

INNER int64 warp() { return thread() / WARP; }
INNER int64 warps() { return threads() / WARP; }

// Takes out of `member` the vertices with fewer than `required` entries that lead into `among`.
KERNEL narrow(
    const int *vertices, int64 count, int64 first, int64 rows, const int64 *offsets, const int *neighbours,
    const byte *among, int64 required, byte *member
) {
    Rows adjacency{0, first, rows, offsets, neighbours};
    for (int64 i = warp(); i < count; i += warps()) {
        int vertex = vertices[i];
        if (!member[vertex]) continue;
        Range row = row_of(adjacency, vertex);
        int64 found = 0;
        for (int64 begin = row.begin; begin < row.end && found < required; begin += WARP) {
            int64 at = begin + lane();
            found += in_all(__ballot_sync(ALL, at < row.end && (!among || among[neighbours[at]])));
        }
        __syncwarp();
        if (lane() == 0 && found < required) member[vertex] = 0;
    }
}

// Takes out of `member` the vertices with an edge to themselves, or those without.
KERNEL keep_loops(
    const int *vertices, int64 count, int64 first, int64 rows, const int64 *offsets, const int *neighbours,
    int64 present, byte *member
) {
    Rows adjacency{0, first, rows, offsets, neighbours};
    for (int64 i = thread(); i < count; i += threads())
        if (contains(adjacency, vertices[i], vertices[i]) != bool(present)) member[vertices[i]] = 0;
}

// counts[i]: the entries of vertex i that lead into `among`.
KERNEL count_entries(
    const int *vertices, int64 count, int64 first, int64 rows, const int64 *offsets, const int *neighbours,
    const byte *among, int64 *counts
) {
    Rows adjacency{0, first, rows, offsets, neighbours};
    for (int64 i = warp(); i < count; i += warps()) {
        Range row = row_of(adjacency, vertices[i]);
        int64 found = 0;
        for (int64 begin = row.begin; begin < row.end; begin += WARP) {
            int64 at = begin + lane();
            found += in_all(__ballot_sync(ALL, at < row.end && (!among || among[neighbours[at]])));
        }
        if (lane() == 0) counts[i] = found;
    }
}

// The vertices that are members still, in their order: through[v] of them are at most v.
KERNEL compact(const int *vertices, int64 count, const byte *member, const int *through, int *kept) {
    for (int64 i = thread(); i < count; i += threads())
        if (member[vertices[i]]) kept[through[vertices[i]] - 1] = vertices[i];
}

// The same entries as positions, in their order, from begins[i] on. through: one more than the position of each, null
// where positions are vertices.
KERNEL write_entries(
    const int *vertices, int64 count, int64 first, int64 rows, const int64 *offsets, const int *neighbours,
    const byte *among, const int *through, const int64 *begins, int *entries
) {
    Rows adjacency{0, first, rows, offsets, neighbours};
    for (int64 i = warp(); i < count; i += warps()) {
        Range row = row_of(adjacency, vertices[i]);
        int64 place = begins[i];
        for (int64 begin = row.begin; begin < row.end; begin += WARP) {
            int64 at = begin + lane();
            bool inside = at < row.end && (!among || among[neighbours[at]]);
            unsigned found = __ballot_sync(ALL, inside);
            if (inside) entries[place + before(found)] = through ? through[neighbours[at]] - 1 : neighbours[at];
            place += in_all(found);
        }
    }
}
