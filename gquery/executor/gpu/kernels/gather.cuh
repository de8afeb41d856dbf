// Numbers of the vertices of partial matches, column by column, in memory that the host hands over.

// level: whose positions, which are of `vertices`, or vertices themselves. values: `width` bytes each, by vertex; out: a
// register with the address of what is written.
struct Gathered {
    int64 level;
    const int *vertices;
    const void *values;
    int64 width, out;
};

// Columns with so many rows written already, a register.
struct Columns {
    const Gathered *columns;
    int64 count, written;

    INNER_MEMBER void *out(const Gathered &asked, const int64 *registers) const {
        return reinterpret_cast<byte *>(registers[asked.out]) + registers[written] * asked.width;
    }
};

// The number of a position.
template <typename Value>
INNER Value number_of(const Gathered &asked, int position) {
    return static_cast<const Value *>(asked.values)[asked.vertices ? asked.vertices[position] : position];
}

// Calls `write(column, out)` for all columns, with numbers of the column's width at `out`.
template <typename Write>
INNER void each_column(const Columns &columns, const int64 *registers, Write write) {
    for (int64 i = 0; i < columns.count; i++) {
        const Gathered asked = columns.columns[i];
        void *out = columns.out(asked, registers);
        switch (asked.width) {
            case 1: write(asked, static_cast<byte *>(out)); break;
            case 2: write(asked, static_cast<unsigned short *>(out)); break;
            case 4: write(asked, static_cast<unsigned *>(out)); break;
            default: write(asked, static_cast<uint64 *>(out));
        }
    }
}

// Of partial matches as they are.
struct Gather {
    Given given;
    Columns columns;
};

// A column of some of them. Where the type of numbers is open, what is called is no lambda: some compilers take the body of
// such a one for the host's.
struct ColumnOfRows {
    const Frontier &frontier;
    Share share;

    template <typename Number>
    INNER_MEMBER void operator()(const Gathered &asked, Number *out) const {
        for (int64 row = share.begin + threadIdx.x; row < share.end; row += BLOCK)
            out[row] = number_of<Number>(asked, frontier.at(asked.level, row));
    }
};

APART void perform(const Gather &gathering, int64 *registers) {
    Frontier frontier = gathering.given.now(registers);
    Share share = share_of(frontier.count);
    each_column(gathering.columns, registers, ColumnOfRows{frontier, share});
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

// Besides the ends of a tile: numbers of its rows, each of which stands in many places of a column.
struct RowsOfColumn {
    int ends[ROWS_AT_HAND];
    uint64 numbers[ROWS_AT_HAND];
};

// A column of a tile's items, which have these rows and positions. first: the item that is written first of all.
struct ColumnOfTile {
    const Frontier &frontier;
    const Tile &tile;
    int64 last_level, first;
    const int *rows, *positions;

    template <typename Number>
    INNER_MEMBER void operator()(const Gathered &asked, Number *out) const {
        uint64 *numbers = at_desk<RowsOfColumn>().numbers;
        bool at_last = asked.level == last_level, held = !at_last && tile.high - tile.low < ROWS_AT_HAND;
        __syncthreads();
        for (int64 row = tile.low + threadIdx.x; held && row <= tile.high; row += BLOCK)
            numbers[row - tile.low] = number_of<Number>(asked, frontier.at(asked.level, row));
        __syncthreads();
        UNROLLED
        for (int k = 0; k < TURNS; k++) {
            int64 item = tile.begin + k * BLOCK + threadIdx.x;
            if (item >= tile.end) continue;
            if (held) out[item - first] = Number(numbers[rows[k] - tile.low]);
            else out[item - first] = number_of<Number>(asked, at_last ? positions[k] : frontier.at(asked.level, rows[k]));
        }
    }
};

// Writes the columns of a tile's items, each in its place; by a block.
INNER void write_tile(
    const GatherExtended &gathering, const int64 *registers, const Frontier &frontier, const Tile &tile, int64 first
) {
    const Level &level = gathering.asked.level();
    int rows[TURNS], positions[TURNS];
    UNROLLED
    for (int k = 0; k < TURNS; k++) {
        int64 item = tile.begin + k * BLOCK + threadIdx.x;
        Item own{0, 0, 0};
        if (item < tile.end) own = item_of(level, gathering.work, item, tile.row_of(item));
        rows[k] = own.row;
        positions[k] = own.position;
    }
    each_column(gathering.columns, registers, ColumnOfTile{frontier, tile, level.index, first, rows, positions});
}

// The numbers of one match.
struct NumberAt {
    const Frontier &frontier;
    int64 last_level, place;
    int row, position;

    template <typename Number>
    INNER_MEMBER void operator()(const Gathered &asked, Number *out) const {
        out[place] = number_of<Number>(asked, asked.level == last_level ? position : frontier.at(asked.level, row));
    }
};

// Where some items do not pass.
APART void gather_passing(const GatherExtended &gathering, int64 *registers) {
    Frontier frontier = gathering.asked.given.now(registers);
    int64 last_level = gathering.asked.level().index;
    auto write = [&](int row, int position, int64 place) {
        each_column(gathering.columns, registers, NumberAt{frontier, last_level, place, row, position});
    };
    write_passing(
        gathering.asked, gathering.work, gathering.items, registers, gathering.written, registers[gathering.base], write
    );
}

APART void gather_all(const GatherExtended &gathering, int64 *registers) {
    Frontier frontier = gathering.asked.given.now(registers);
    int64 first = registers[gathering.items.first], last = registers[gathering.items.last];
    each_tile(gathering.work, frontier.count, first, last, [&](const Tile &tile) {
        write_tile(gathering, registers, frontier, tile, first);
    });
    if (thread() == 0) atomicAdd(gathering.written, uint64(last - first));
}

INNER void perform(const GatherExtended &gathering, int64 *registers) {
    if (passes_all(gathering.asked.level())) gather_all(gathering, registers);
    else gather_passing(gathering, registers);
}
