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

    // Calls `write(column, out)`, with numbers of the column's width at `out`.
    template <typename Write>
    INNER_MEMBER void write(int64 number, const int64 *registers, Write write) const {
        const Gathered asked = columns[number];
        void *out = reinterpret_cast<byte *>(registers[asked.out]) + registers[written] * asked.width;
        switch (asked.width) {
            case 1: write(asked, static_cast<byte *>(out)); break;
            case 2: write(asked, static_cast<unsigned short *>(out)); break;
            case 4: write(asked, static_cast<unsigned *>(out)); break;
            default: write(asked, static_cast<uint64 *>(out));
        }
    }

    template <typename Write>
    INNER_MEMBER void write_all(const int64 *registers, Write write_one) const {
        for (int64 i = 0; i < count; i++) write(i, registers, write_one);
    }
};

const int NO_POSITION = -1;

// The number of a position.
template <typename Value>
INNER Value number_of(const Gathered &asked, int position) {
    return static_cast<const Value *>(asked.values)[asked.vertices ? asked.vertices[position] : position];
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
    gathering.columns.write_all(registers, ColumnOfRows{frontier, share});
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

// The row of each item of a tile, where the ends of its rows have been; and numbers of these rows, each of which stands in
// many places of a column: of as many columns as find room at once, one behind the other.
struct RowsOfColumns {
    int rows[TILE];
    uint64 numbers[ROWS_AT_HAND];
};

INNER uint64 any_number_of(const Gathered &asked, int position) {
    switch (asked.width) {
        case 1: return number_of<byte>(asked, position);
        case 2: return number_of<unsigned short>(asked, position);
        case 4: return number_of<unsigned>(asked, position);
        default: return number_of<uint64>(asked, position);
    }
}

// The numbers of a tile's rows, of some columns but those of the last level: a thread looks for all of its positions
// before any number.
INNER void fetch_rows(
    const Gathered *columns, int count, int64 last_level, const Frontier frontier, const Tile &tile
) {
    uint64 *numbers = at_desk<RowsOfColumns>().numbers;
    int rows = int(tile.high - tile.low) + 1, positions[ROWS_AT_HAND / BLOCK];
    UNROLLED
    for (int k = 0; k < ROWS_AT_HAND / BLOCK; k++) {
        int i = k * BLOCK + threadIdx.x, column = i / rows;
        bool asked = column < count && columns[column].level != last_level;
        positions[k] = asked ? frontier.at(columns[column].level, tile.low + i % rows) : NO_POSITION;
    }
    UNROLLED
    for (int k = 0; k < ROWS_AT_HAND / BLOCK; k++) {
        int i = k * BLOCK + threadIdx.x;
        if (positions[k] != NO_POSITION) numbers[i] = any_number_of(columns[i / rows], positions[k]);
    }
}

// A column of a tile's items, of the last level. first: the item that is written first of all.
struct ColumnOfEnds {
    const Tile &tile;
    int64 first;
    const int *positions;

    template <typename Number>
    INNER_MEMBER void operator()(const Gathered &asked, Number *out) const {
        Number found[TURNS];
        UNROLLED
        for (int k = 0; k < TURNS; k++) found[k] = number_of<Number>(asked, positions[k]);
        write_items(tile, first, found, out);
    }
};

// Another one. numbers: those of the tile's rows, null where these are too many.
struct ColumnOfTile {
    const Given &given;
    const int64 *registers;
    const Tile &tile;
    int64 first;
    const uint64 *numbers;

    template <typename Number>
    INNER_MEMBER void operator()(const Gathered &asked, Number *out) const {
        const int *rows = at_desk<RowsOfColumns>().rows + threadIdx.x;
        Number found[TURNS];
        if (numbers) {
            UNROLLED
            for (int k = 0; k < TURNS; k++) found[k] = Number(numbers[rows[k * BLOCK] - tile.low]);
        } else {
            const Frontier frontier = given.now(registers);
            UNROLLED
            for (int k = 0; k < TURNS; k++)
                found[k] = number_of<Number>(asked, frontier.at(asked.level, rows[k * BLOCK]));
        }
        write_items(tile, first, found, out);
    }
};

// The columns of the last level; the rows of all items are at the desk then.
INNER void write_ends(const GatherExtended &gathering, const int64 *registers, const Tile &tile) {
    const Level &level = gathering.asked.level();
    int64 first = registers[gathering.items.first];
    TileItems items;
    items.find(level, gathering.work, tile);
    __syncthreads();
    UNROLLED
    for (int k = 0; k < TURNS; k++) at_desk<RowsOfColumns>().rows[k * BLOCK + threadIdx.x] = items.rows[k];
    for (int64 i = 0; i < gathering.columns.count; i++)
        if (gathering.columns.columns[i].level == level.index)
            gathering.columns.write(i, registers, ColumnOfEnds{tile, first, items.positions});
}

// All others.
INNER void write_others(const GatherExtended &gathering, const int64 *registers, const Tile &tile) {
    const Columns &columns = gathering.columns;
    const Given &given = gathering.asked.given;
    int64 last_level = gathering.asked.level().index, tile_rows = tile.high - tile.low + 1;
    int room = tile_rows > ROWS_AT_HAND ? 0 : ROWS_AT_HAND / int(tile_rows);
    ColumnOfTile column{given, registers, tile, registers[gathering.items.first], nullptr};
    for (int64 done = 0; done < columns.count;) {
        int64 left = columns.count - done, together = room < left ? (room ? room : 1) : left;
        if (room) {
            __syncthreads();
            fetch_rows(columns.columns + done, int(together), last_level, given.now(registers), tile);
            __syncthreads();
        }
        for (int64 i = 0; i < together; i++) {
            if (room) column.numbers = at_desk<RowsOfColumns>().numbers + i * tile_rows;
            if (columns.columns[done + i].level != last_level) columns.write(done + i, registers, column);
        }
        done += together;
    }
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
        gathering.columns.write_all(registers, NumberAt{frontier, last_level, place, row, position});
    };
    write_passing(
        gathering.asked, gathering.work, gathering.items, registers, gathering.written, registers[gathering.base], write
    );
}

APART void gather_all(const GatherExtended &gathering, int64 *registers) {
    Frontier frontier = gathering.asked.given.now(registers);
    int64 first = registers[gathering.items.first], last = registers[gathering.items.last];
    each_tile<true>(gathering.work, frontier.count, first, last, [&](const Tile &tile) {
        write_ends(gathering, registers, tile);
        write_others(gathering, registers, tile);
    });
    if (thread() == 0) atomicAdd(gathering.written, uint64(last - first));
}

INNER void perform(const GatherExtended &gathering, int64 *registers) {
    if (passes_all(gathering.asked.level())) gather_all(gathering, registers);
    else gather_passing(gathering, registers);
}
