// Connected sets of two vertices less than a motif has, each once, by one warp: as `executor/cpu/census/walk.py`, where
// it is said why. A task is a pair of neighbours, of which the first of the set is the lower one.

// Where an enumeration is; of it a warp keeps members and cursors from launch to launch.
struct Path {
    int64 graph, depth;
    int64 members[MOST], cursors[MOST + 1];
    int64 ends[MOST + 1], bases[MOST + 1];
};

enum { PATH = 1 + MOST + MOST + 1 };  // words that are kept

const int MEMBER = 1 << 30;  // in a mark: the vertex is of the set

// Memory of one warp. marks[vertices]: by vertex its states beside the set; beside[vertices]: those with a mark, in the
// order of their discovery. Of one set: slots[2^bits]: by word its place, -1 for none; by place its word, the same for
// the order of the set, how many vertices have it, and sums[kinds] of their degrees.
struct Room {
    int *marks, *beside, *slots, *words, *forms, *sizes, *sums;
};

INNER void room_of(const Census &census, byte *memory, Room &room) {
    int64 bits = census.layout.colour_bits + (census.layout.size - 2) * census.layout.state_bits;
    int *next = reinterpret_cast<int *>(memory);
    room.marks = next, next += census.vertices;
    room.beside = next, next += census.vertices;
    room.slots = next, next += int64(1) << bits;
    room.words = next, next += census.words;
    room.forms = next, next += census.words;
    room.sizes = next, next += census.words;
    room.sums = next;
}

// One warp at its work.
struct Walker {
    const Census &census;
    const Layout &layout;
    Room room;
    Path path;
    const int *offsets, *middles, *neighbours, *states, *degrees;

    INNER_MEMBER void turn_to(int64 graph) {
        path.graph = graph;
        offsets = census.offsets + graph * (census.vertices + 1);
        middles = census.middles + graph * (census.vertices + 1);
        neighbours = census.neighbours + graph * 2 * census.links;
        states = census.states + graph * 2 * census.links;
        degrees = census.degrees + graph * census.vertices * census.kinds;
    }

    INNER_MEMBER void clear() {
        int64 bits = layout.colour_bits + (layout.size - 2) * layout.state_bits;
        for (int64 at = lane(); at < census.vertices; at += WARP) room.marks[at] = 0;
        for (int64 at = lane(); at < int64(1) << bits; at += WARP) room.slots[at] = -1;
        for (int64 at = lane(); at < census.words * census.kinds; at += WARP) room.sums[at] = 0;
        __syncwarp();
    }

    // Adds a vertex to the set. How many looks that took.
    INNER_MEMBER int64 enter(int vertex) {
        int64 depth = path.depth, end = path.ends[depth];
        int mark = room.marks[vertex];
        int64 word = census.colours[vertex] | int64(mark) << layout.colour_bits;
        path.bases[depth + 1] = path.bases[depth] | word << layout.positions[depth];
        path.members[depth] = vertex;
        __syncwarp();
        if (lane() == 0) room.marks[vertex] = mark | MEMBER;
        int stop = offsets[vertex + 1], shift = int(depth * layout.state_bits);
        for (int from = offsets[vertex]; from < stop; from += WARP) {
            int index = from + lane(), neighbour = 0, seen = 1;
            if (index < stop) {
                neighbour = neighbours[index];
                seen = room.marks[neighbour];
                room.marks[neighbour] = seen | states[index] << shift;
            }
            unsigned found = __ballot_sync(ALL, seen == 0);
            if (seen == 0) room.beside[end + before(found)] = neighbour;
            end += in_all(found);
        }
        path.ends[depth + 1] = end;
        path.depth = depth + 1;
        __syncwarp();
        return stop - offsets[vertex] + WARP;
    }

    // Takes the last vertex from the set.
    INNER_MEMBER int64 leave() {
        int64 depth = --path.depth;
        int vertex = int(path.members[depth]);
        int kept = ~(((1 << layout.state_bits) - 1) << int(depth * layout.state_bits));
        for (int index = offsets[vertex] + lane(); index < offsets[vertex + 1]; index += WARP)
            room.marks[neighbours[index]] &= kept;
        __syncwarp();
        if (lane() == 0) room.marks[vertex] &= ~MEMBER;
        __syncwarp();
        return offsets[vertex + 1] - offsets[vertex] + WARP;
    }

    // Enters the next vertex that this depth has, or leaves.
    INNER_MEMBER int64 step() {
        int64 depth = path.depth, at = path.cursors[depth], end = path.ends[depth];
        while (at < end) {
            bool fits = at + lane() < end && room.beside[at + lane()] >= path.members[0];
            unsigned found = __ballot_sync(ALL, fits);
            if (found) {
                at += __ffs(found) - 1;
                break;
            }
            at += WARP;
        }
        if (at >= end) return leave();
        path.cursors[depth] = at + 1;
        path.cursors[depth + 1] = at + 1;
        return enter(room.beside[at]);
    }

    // Begins a task of a graph, where it is one: only from the lower end.
    INNER_MEMBER int64 begin(int64 task) {
        if (layout.size == 3) return enter(int(task));
        if (task >= offsets[census.vertices]) return 1;
        int root = census.rows[path.graph * 2 * census.links + task], second = neighbours[task];
        if (second < root) return 1;
        path.cursors[1] = task - offsets[root];  // beside the root alone vertices stand as in its row
        path.cursors[2] = path.cursors[1] + 1;
        int64 looks = enter(root);
        return looks + enter(second);
    }

    INNER_MEMBER void save(int64 *kept) const {
        if (lane()) return;
        kept[0] = path.depth;
        for (int i = 0; i < MOST; i++) kept[1 + i] = path.members[i];
        for (int i = 0; i <= MOST; i++) kept[1 + MOST + i] = path.cursors[i];
    }

    INNER_MEMBER void resume(const int64 *kept) {
        path.depth = path.bases[0] = path.ends[0] = 0;
        for (int i = 0; i <= MOST; i++) path.cursors[i] = kept[1 + MOST + i];
        for (int i = 0; i < kept[0]; i++) enter(int(kept[1 + i]));
    }
};
