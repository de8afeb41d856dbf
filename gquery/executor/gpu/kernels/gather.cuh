// Numbers of the vertices of partial matches, column by column, in memory that the host hands over.

// level: whose positions, which are of `vertices`, or vertices themselves. values: `width` bytes each, by vertex; out: a
// register with the address of what is written.
struct Gathered {
    int64 level;
    const int *vertices;
    const void *values;
    int64 width, out;
};

// Matches of a thread: partial matches and positions at one more level, and the row of the columns that each becomes; none
// where it is negative.
template <int COUNT>
struct Found {
    int rows[COUNT], positions[COUNT];
    int64 places[COUNT];
};

template <typename Value, int COUNT>
INNER void gather(const Gathered &asked, const Frontier &frontier, int64 last, const Found<COUNT> &found, void *out) {
    const Value *values = static_cast<const Value *>(asked.values);
    UNROLLED
    for (int k = 0; k < COUNT; k++) {
        if (found.places[k] < 0) continue;
        int position = asked.level == last ? found.positions[k] : frontier.at(asked.level, found.rows[k]);
        static_cast<Value *>(out)[found.places[k]] = values[asked.vertices ? asked.vertices[position] : position];
    }
}

// Columns with so many rows written already, a register.
struct Columns {
    const Gathered *columns;
    int64 count, written;

    template <int COUNT>
    INNER_MEMBER void write(
        const int64 *registers, const Frontier &frontier, int64 last, const Found<COUNT> &found
    ) const {
        for (int64 i = 0; i < count; i++) {
            const Gathered asked = columns[i];
            byte *out = reinterpret_cast<byte *>(registers[asked.out]) + registers[written] * asked.width;
            switch (asked.width) {
                case 1: gather<byte>(asked, frontier, last, found, out); break;
                case 2: gather<unsigned short>(asked, frontier, last, found, out); break;
                case 4: gather<unsigned>(asked, frontier, last, found, out); break;
                default: gather<uint64>(asked, frontier, last, found, out);
            }
        }
    }
};

// Of partial matches as they are.
struct Gather {
    Given given;
    Columns columns;
};

APART void perform(const Gather &gathering, int64 *registers) {
    Frontier frontier = gathering.given.now(registers);
    Share share = share_of(frontier.count);
    for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK)
        gathering.columns.write(registers, frontier, -1, Found<1>{{int(row)}, {0}, {row}});
}

// Of partial matches with one more vertex each, which are written nowhere else. written, base: as in `Extend`.
struct GatherExtended {
    Asked asked;
    Work work;
    Items items;
    Columns columns;
    uint64 *written;
    int64 base;
};

APART void perform(const GatherExtended &gathering, int64 *registers) {
    const Level &level = gathering.asked.level();
    Frontier frontier = gathering.asked.given.now(registers);
    if (!passes_all(level)) {
        write_passing(
            gathering.asked, gathering.work, gathering.items, registers, gathering.written, registers[gathering.base],
            [&](int row, int position, int64 place) {
                gathering.columns.write(registers, frontier, level.index, Found<1>{{row}, {position}, {place}});
            }
        );
        return;
    }
    int64 first = registers[gathering.items.first], last = registers[gathering.items.last];
    each_tile(gathering.work, frontier.count, first, last, [&](const Tile &tile) {
        Found<TURNS> found;
        UNROLLED
        for (int k = 0; k < TURNS; k++) {
            int64 item = tile.begin + k * BLOCK + threadIdx.x;
            found.places[k] = item < tile.end ? item - first : -1;
            Item own{0, 0, 0};
            if (item < tile.end) own = item_of(level, gathering.work, item, tile.row_of(item));
            found.rows[k] = own.row;
            found.positions[k] = own.position;
        }
        gathering.columns.write(registers, frontier, level.index, found);
    });
    if (thread() == 0) atomicAdd(gathering.written, uint64(last - first));
}
