// Connected sets of two vertices less than a motif has, each once, by one warp: as `executor/cpu/census/walk.py`, where
// it is said why. A task is a pair of neighbours, of which the first of the set is the lower one; or a part of what such
// a pair begins: every so many-th of the vertices that can come third. In large graphs with hubs one pair begins a
// hundredth of all sets, which a warp takes seconds for.

// Where an enumeration is, in memory that all lanes see and the first writes to. members and cursors are kept from launch
// to launch. ends: how many vertices were beside the set with so many members; bases: codes of its beginnings.
struct Path {
    int members[MOST], cursors[MOST + 1], ends[MOST + 1];
    int64 bases[MOST + 1];
    Ordered ordered;
};

enum { PATH = 1 + MOST + MOST + 1 };  // words that are kept

const int MEMBER = 1 << 30;  // in a mark: the vertex is of the set
const int AT_ONCE = 16;      // sets that room is reserved for

// One warp at its work.
struct Walker {
    const Census &census;
    const Layout &layout;
    Path &path;
    int *memory;
    int64 graph;
    int depth;     // members of the set
    int64 room;    // in the tally of the graph, that is this warp's
    double bound;  // of counts, not told yet

    // Memory of the warp. marks[vertices]: by vertex its states beside the set; beside[vertices]: those with a mark, in
    // the order of their discovery. Of one set: slots[2^bits]: by word its place, -1 for none; by place its word, the same
    // for the order of the set, how many vertices have it, and sums[kinds] of their degrees.
    INNER_MEMBER int *marks() const { return memory; }
    INNER_MEMBER int *beside() const { return memory + census.vertices; }
    INNER_MEMBER int *slots() const { return memory + 2 * census.vertices; }
    INNER_MEMBER int *words() const { return slots() + (1 << word_bits()); }
    INNER_MEMBER int *forms() const { return words() + census.words; }
    INNER_MEMBER int *sizes() const { return forms() + census.words; }
    INNER_MEMBER int *sums() const { return sizes() + census.words; }
    INNER_MEMBER int word_bits() const { return int(layout.colour_bits + places() * layout.state_bits); }
    INNER_MEMBER int places() const { return int(layout.size - 2); }  // members of a whole set

    // The graph.
    INNER_MEMBER const int *offsets() const { return census.offsets + graph * (census.vertices + 1); }
    INNER_MEMBER const int *middles() const { return census.middles + graph * (census.vertices + 1); }
    INNER_MEMBER const int *neighbours() const { return census.neighbours + graph * 2 * census.links; }
    INNER_MEMBER const int *states() const { return census.states + graph * 2 * census.links; }
    INNER_MEMBER const int *degrees() const { return census.degrees + graph * census.vertices * census.kinds; }

    INNER_MEMBER void clear() {
        for (int at = lane(); at < census.vertices; at += WARP) marks()[at] = 0;
        for (int at = lane(); at < 1 << word_bits(); at += WARP) slots()[at] = -1;
        for (int at = lane(); at < census.words * census.kinds; at += WARP) sums()[at] = 0;
        if (lane() == 0) path.ends[0] = 0, path.bases[0] = 0, path.ordered.from = -1;
        __syncwarp();
    }

    // Adds a vertex to the set. How many looks that took.
    INNER_MEMBER int enter(int vertex) {
        const int begin = offsets()[vertex], stop = offsets()[vertex + 1], shift = depth * int(layout.state_bits);
        int end = path.ends[depth], mark = marks()[vertex];
        __syncwarp();
        if (lane() == 0) marks()[vertex] = mark | MEMBER;
        for (int from = begin; from < stop; from += WARP) {
            int index = from + lane(), neighbour = 0, seen = 1;
            if (index < stop) {
                neighbour = neighbours()[index];
                seen = marks()[neighbour];
                marks()[neighbour] = seen | states()[index] << shift;
            }
            unsigned found = __ballot_sync(ALL, seen == 0);
            if (seen == 0) beside()[end + before(found)] = neighbour;
            end += in_all(found);
        }
        if (lane() == 0) {
            int64 word = census.colours[vertex] | int64(mark) << layout.colour_bits;
            path.bases[depth + 1] = path.bases[depth] | word << layout.positions[depth];
            path.members[depth] = vertex;
            path.ends[depth + 1] = end;
        }
        depth++;
        __syncwarp();
        return stop - begin + WARP;
    }

    // Takes the last vertex from the set.
    INNER_MEMBER int leave() {
        depth--;
        const int vertex = path.members[depth], begin = offsets()[vertex], stop = offsets()[vertex + 1];
        const int kept = ~(((1 << layout.state_bits) - 1) << (depth * int(layout.state_bits)));
        for (int index = begin + lane(); index < stop; index += WARP) marks()[neighbours()[index]] &= kept;
        __syncwarp();
        if (lane() == 0) marks()[vertex] &= ~MEMBER;
        __syncwarp();
        return stop - begin + WARP;
    }

    // Enters the next vertex that this depth has, or leaves.
    INNER_MEMBER int step() {
        const int end = path.ends[depth], first = path.members[0];
        int at = path.cursors[depth];
        while (at < end) {
            const bool own = depth != 2 || ((at + lane()) & (census.parts - 1)) == path.cursors[0];
            unsigned found = __ballot_sync(ALL, own && at + lane() < end && beside()[at + lane()] >= first);
            if (found) {
                at += __ffs(found) - 1;
                break;
            }
            at += WARP;
        }
        if (at >= end) return leave();
        if (lane() == 0) path.cursors[depth] = path.cursors[depth + 1] = at + 1;
        return enter(beside()[at]);
    }

    // Begins a task, where it is one: only from the lower end.
    INNER_MEMBER int begin(int task) {
        if (layout.size == 3) return enter(task);
        const int part = task & int(census.parts - 1), pair = task / int(census.parts);
        if (pair >= offsets()[census.vertices]) return 1;
        const int root = census.rows[graph * 2 * census.links + pair], second = neighbours()[pair];
        if (second < root) return 1;
        // Beside the root alone vertices stand as in its row.
        if (lane() == 0) {
            path.cursors[0] = part;
            path.cursors[1] = pair - offsets()[root];
            path.cursors[2] = path.cursors[1] + 1;
        }
        int looks = enter(root);
        return looks + enter(second);
    }

    // Whether there is room for so many codes. What is reserved is kept for the next sets: all warps ask at one place.
    INNER_MEMBER bool has_room(int64 codes) {
        if (room >= codes) return true;
        int64 got = 0;
        if (lane() == 0) {
            got = AT_ONCE * codes;
            if (!reserve(census, graph, got)) got = codes - room;
            if (got == codes - room && !reserve(census, graph, got)) got = 0;
        }
        room += __shfl_sync(ALL, got, 0);
        return room >= codes;
    }

    // Gives back what is reserved, and tells what counts add up to.
    INNER_MEMBER void settle() {
        if (lane() == 0) {
            if (room) atomicAdd(reinterpret_cast<uint64 *>(census.room + graph), uint64(room));
            if (bound) atomicAdd(census.bound + graph, bound);
        }
        room = 0;
        bound = 0;
    }

    INNER_MEMBER void save(int64 *kept) const {
        if (lane()) return;
        kept[0] = depth;
        for (int i = 0; i < MOST; i++) kept[1 + i] = path.members[i];
        for (int i = 0; i <= MOST; i++) kept[1 + MOST + i] = path.cursors[i];
    }

    INNER_MEMBER void resume(const int64 *kept) {
        depth = 0;
        for (int i = lane(); i <= MOST; i += WARP) path.cursors[i] = int(kept[1 + MOST + i]);
        for (int i = 0; i < kept[0]; i++) enter(int(kept[1 + i]));
        __syncwarp();
    }
};
