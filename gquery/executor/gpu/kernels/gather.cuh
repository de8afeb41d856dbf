// Numbers of the vertices of partial matches, column by column, in memory that the host hands over.

// column: of the partial matches, whose positions are of `vertices`, or vertices themselves. values: `width` bytes each,
// by vertex; out: a register with the address of what is written.
struct Gathered {
    int64 column;
    const int *vertices;
    const void *values;
    int64 width, out;
};

template <typename Value>
INNER void gather(const Gathered &asked, const Frontier &frontier, const Share &share, void *out) {
    const Value *values = static_cast<const Value *>(asked.values);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK) {
        int position = frontier.at(asked.column, row);
        static_cast<Value *>(out)[row] = values[asked.vertices ? asked.vertices[position] : position];
    }
}

// The next rows of all columns. written, room: registers, how many rows have been written, and how many find room besides.
struct Gather {
    Given given;
    const Gathered *columns;
    int64 column_count, written, room;
};

APART void perform(const Gather &gathering, int64 *registers) {
    Frontier frontier = gathering.given.now(registers);
    Share share = share_of(frontier.count);
    int64 before = registers[gathering.written];
    for (int64 i = 0; i < gathering.column_count; i++) {
        const Gathered &asked = gathering.columns[i];
        byte *out = reinterpret_cast<byte *>(registers[asked.out]) + before * asked.width;
        switch (asked.width) {
            case 1: gather<byte>(asked, frontier, share, out); break;
            case 2: gather<unsigned short>(asked, frontier, share, out); break;
            case 4: gather<unsigned>(asked, frontier, share, out); break;
            default: gather<uint64>(asked, frontier, share, out);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        registers[gathering.written] = before + frontier.count;
        registers[gathering.room] -= frontier.count;
    }
}
