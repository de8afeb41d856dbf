"""From a program and candidate sets to the packed plan of the CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gquery.executor.backend import Ranks
from gquery.executor.cpu.candidates.addresses import rows_of
from gquery.executor.cpu.candidates.candidate_graph import Wanted, candidate_edges
from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.row_bitmaps import Bitsets, Columns
from gquery.executor.cpu.candidates.row_signatures import signatures
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels.blocks import Blocks
from gquery.executor.cpu.kernels.sums.push import counter_bytes
from gquery.executor.cpu.kernels.sums.remembered import ENTRY
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import packed
from gquery.executor.cpu.search.adapting import adapting
from gquery.executor.cpu.search.folding import CAPS, Folding
from gquery.executor.cpu.search.link import link, link_chain, link_counters
from gquery.executor.cpu.search.packed import InsideRoom, PackedPlan, joined
from gquery.executor.lowering.program import Level, Program, Rows, may_enumerate
from gquery.executor.lowering.sums.pushed import chains, pushed, searched
from gquery.executor.lowering.sums.tallied import prepared_levels, tallied_levels
from gquery.executor.progress import OrdersGivenUp
from gquery.storage.adjacency import Adjacency

_OPERATORS = {"=": packed.EQUAL, "<>": packed.NOT_EQUAL, "<": packed.LESS, "<=": packed.LESS_EQUAL}

_MEMORY = 1 << 28  # bytes for remembered sums of all workers, when no limit is set
_SMALLEST_MEMORY = 64  # slots
_ENTRY = 8 * ENTRY  # bytes of a remembered sum
_INSIDE = 1 << 23  # bytes for one neighbourhood as bitsets
_ROOM, _SMALLEST_ROOM = 1 << 10, 1 << 6  # partial matches in a block: those of a few levels stay in the caches
_MOST = 0.9  # of all vertices: cutting rows to so many does not pay


class _Packer:
    def __init__(self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks]) -> None:
        self.counters = _counters(program, candidates)
        if program.strategy == "push":
            program = pushed(program) if self.counters else searched(program)
        self.program = program
        self.candidates = candidates
        self.memory = candidates.control.memory
        self.threads = candidates.threads
        self.sets = [candidates.common(level.candidates) for level in program.levels]
        self.children = program.children()
        self.leaves = dict.fromkeys(tallied_levels(program), packed.TALLIED)
        self.leaves |= dict.fromkeys(prepared_levels(program), packed.PREPARED)
        self.ranks = ranks
        self.from_root: dict[int, Adjacency] = {}  # rows of the first level, by their number
        self.among: dict[int, int] = {}  # and kinds of the others
        self.keep: list[object] = [self.sets, ranks]
        self.backward: list[tuple[int, ...]] = []
        self.different: list[int] = []
        self.smaller: list[int] = []
        self.pairs: list[tuple[int, ...]] = []
        self.compare: list[tuple[int, ...]] = []
        self.absent: list[tuple[int, ...]] = []
        self.context: list[tuple[int, ...]] = []
        self.bitsets = Bitsets(self.memory, self.threads, candidates.sliced, candidates.cache_of)
        self.slots = 0
        self.adjacencies: dict[tuple[Rows, int], Adjacency] = {}
        self.folding = Folding(program, candidates, self.sets, self._edges_to)

    def pack(self) -> PackedPlan:
        program = self.program
        if program.strategy == "adaptive":
            return self._adaptive()
        if program.space == "candidates":
            self.adjacencies = self._candidate_graph()
        choices, collides = self._choices()
        folds = self.folding.folds()
        steps = [self._step(number, level) for number, level in enumerate(program.levels)]
        link(steps, program)
        if self.counters:
            link_counters(steps, program, self.counters)
        is_chain = program.strategy == "chain"
        # What is listed and what is summed have a block each for the level between them.
        room = self._room(len(steps) + 2) if is_chain or program.listed > 1 else 0
        is_chain = is_chain and room >= _SMALLEST_ROOM
        if is_chain:
            link_chain(steps, program)
            self._sign(steps)
        self.memory.reserve(_ENTRY * self.slots + 8 * self.threads * self.bitsets.marks, "remembered sums")
        tests = (self.different, self.smaller, self.pairs, self.compare, self.absent)
        return PackedPlan(
            joined([steps, self.backward, *tests, self.context, choices, collides]),
            len(steps),
            len(self.backward),
            len(choices),
            self.slots,
            self.bitsets.marks,
            self.bitsets.rows,
            folds,
            self.folding.is_whole,
            room,
            is_chain,
            self._inside(),
            self.counters,
            None,
            may_enumerate(program.weights),
            self.candidates.universe,
            (*self.keep, *self.bitsets.matrices.values()),
        )

    def _adaptive(self) -> PackedPlan:
        """A plan without tables: levels are matched in any order."""
        adapts = adapting(self.program, self.candidates, self.sets)
        if adapts is None:
            raise OrdersGivenUp
        width, universe = len(self.sets), self.candidates.universe
        nothing = joined([()] * packed.TABLES)
        return PackedPlan(nothing, width, 0, 0, 0, 0, 0, (), False, 0, False, None, 0, adapts, False, universe, ())

    def _room(self, width: int) -> int:
        """Partial matches in a block, as many as there is space for."""
        row = self.threads * Blocks.bytes_of(width)
        available = self.memory.available
        room = _ROOM if available is None else max(1, min(_ROOM, available // 8 // row))
        self.memory.reserve(room * row, "blocks of partial matches")
        return room

    def _step(self, number: int, level: Level) -> list[int]:
        self.candidates.control.check()
        row = [0] * packed.STEP_COLUMNS
        if level.folded:
            return row
        rows = [self._edges_to(number, each) for each in level.backward]
        self._place(row, number)
        missed = self._absent(row, number, rows)
        row[packed.BACKWARD_BEGIN] = len(self.backward)
        self._backward(row, number, rows)
        row[packed.BACKWARD_END] = len(self.backward)
        row[packed.DIFFERENT_BEGIN] = len(self.different)
        self.different.extend(level.different)
        row[packed.DIFFERENT_END] = len(self.different)
        row[packed.SMALLER_BEGIN] = len(self.smaller)
        self.smaller.extend(level.smaller)
        row[packed.SMALLER_END] = len(self.smaller)
        row[packed.PAIRS_BEGIN] = len(self.pairs)
        self.pairs.extend(level.pairs)
        row[packed.PAIRS_END] = len(self.pairs)
        row[packed.COMPARE_BEGIN] = len(self.compare)
        for each in level.comparisons:
            left, right = self.ranks[each.pair]
            self.compare.append((each.left, each.right, _OPERATORS[each.operator], address(left), address(right)))
        row[packed.COMPARE_END] = len(self.compare)
        if level.weights:
            row[packed.WEIGHTS_BEGIN], row[packed.WEIGHTS_END] = level.weights[0], level.weights[-1] + 1
        row[packed.SIMPLE] = all(adjacency.simple for adjacency in rows)
        factors = self.folding.factors.get(number)
        if factors:
            row[packed.FACTORS], row[packed.FACTOR_SIZES] = address(factors.sums), address(factors.sizes)
            row[packed.FACTOR_BASE] = factors.base
        rare = bool(level.pairs or level.comparisons or level.absent)
        row[packed.TESTED] = 2 if rare else int(bool(level.different))
        leaf = number >= self.program.listed and not self.children[number]
        if leaf and level.backward and not (level.weights or level.pairs):
            self._set_size(row, level, all(adjacency.simple for adjacency in missed))
        assert row[packed.SET_COUNT] or level.like >= 0 or not level.minus
        row[packed.MINUS] = level.minus
        row[packed.LEAF] = self.leaves.get(number, packed.ANEW)
        row[packed.CAP] = CAPS[level.cap]
        self._remember(row, level)
        return row

    def _place(self, row: list[int], number: int) -> None:
        """Where the positions of a level are taken from."""
        level, candidate_set = self.program.levels[number], self.sets[number]
        if self.program.space == "candidates":
            row[packed.SIZE] = len(candidate_set.vertices)
            row[packed.WORDS] = candidate_set.words_address
            row[packed.VERTICES] = 0 if candidate_set.everything else candidate_set.vertices_address
            row[packed.RANKS] = candidate_set.ranks_address
            return
        row[packed.SIZE] = candidate_set.universe
        if number > 0 and not level.backward and not candidate_set.everything:
            size = len(candidate_set.vertices)
            row[packed.CUT_BEGIN] = int(candidate_set.vertices[0]) if size else 0
            row[packed.SIZE] = int(candidate_set.vertices[-1]) + 1 if size else 0
        implied = any(self.candidates.implies(rows, candidate_set) for rows in level.backward)
        if number > 0 and not implied and not (level.backward and self._cut(row, candidate_set)):
            row[packed.WORDS] = candidate_set.words_address

    def _backward(self, row: list[int], number: int, rows: list[Adjacency]) -> None:
        """The rows that are intersected. That of the deepest level is another one every time: it is walked."""
        among, looks, universe = self._range(row, number), self._looks(number, rows), self._universe(number)
        levels = [each.level for each in self.program.levels[number].backward]
        found = {}
        for index in sorted(range(len(levels)), key=lambda each: levels[each]):
            if levels[index] < max(levels):
                found[index] = self.bitsets.looked_into(rows[index], *among, universe, looks, levels[index] == 0)
            else:
                found[index] = self.bitsets.walked(rows[index], *among)
        for index in sorted(found):
            kind = self._among(levels[index], rows[index])
            self.backward.append(self._adjacency_row(levels[index], rows[index], found[index], kind))

    def _sign(self, steps: list[list[int]]) -> None:
        """Lets the two rows that decide the last level of a chain be told apart by their signatures, where no row is a
        bitset."""
        number = next((number for number, row in enumerate(steps) if row[packed.SPANS] == 2), None)
        if number is None:
            return
        level, row = self.program.levels[number], steps[number]
        places = [(self.backward, place) for place in range(row[packed.BACKWARD_BEGIN], row[packed.BACKWARD_END])]
        places += [(self.absent, place) for place in range(row[packed.ABSENT_BEGIN], row[packed.ABSENT_END])]
        if any(table[place][packed.MATRIX] for table, place in places):
            return
        adjacencies = [self._edges_to(number, rows) for rows in level.backward]
        adjacencies += [self.candidates.adjacency(rows) for rows in level.absent]
        pairs = self.program.levels[level.parent].rows
        for (table, place), signed in zip(places, signatures(adjacencies, pairs, self.candidates), strict=False):
            table[place] = (*table[place][:-1], address(signed.words))
            self.keep.append(signed)

    def _among(self, level: int, adjacency: Adjacency) -> int:
        """Which kind of rows these are inside the neighbourhood of a root."""
        if level == 0:
            known = id(adjacency) in self.from_root
            self.from_root[id(adjacency)] = adjacency
            return packed.AGAIN if known else packed.FROM_ROOT
        return self.among.setdefault(id(adjacency), len(self.among))

    def _inside(self) -> InsideRoom | None:
        """Room for neighbourhoods, when the sum goes inside of them; None when there is not enough."""
        if self.program.strategy != "inside":
            return None
        universe, width, kinds = self.candidates.snapshot.vertex_count, len(self.sets), len(self.among)
        longest = sum(each.longest for each in self.from_root.values())
        available = self.memory.available
        most = _INSIDE if available is None else min(_INSIDE, available // 8 // self.threads)
        words = (longest + 63) // 64
        room = InsideRoom(universe, longest, min(most // 8, (2 * width + packed.PLANES + kinds * longest) * words))
        if available is not None and room.nbytes > available // 4 // self.threads:
            return None
        self.memory.reserve(self.threads * room.nbytes, "neighbourhoods")
        return room

    def _looks(self, number: int, rows: list[Adjacency]) -> float:
        """About how often a row of a level is looked into while another is walked. Inside of neighbourhoods rows are
        written for each of these."""
        if self.program.strategy == "inside":
            return 0.0
        walked = min((adjacency.entries / max(1, adjacency.rows) for adjacency in rows), default=0.0)
        return self.program.levels[self.program.levels[number].parent].rows * max(1.0, walked)

    def _absent(self, row: list[int], number: int, rows: list[Adjacency]) -> list[Adjacency]:
        """The rows that must be missed; they are looked up by vertex, in either space."""
        universe = self.candidates.snapshot.vertex_count
        among = self._range(row, number) if self.program.space == "vertices" else (0, universe)
        missed = []
        row[packed.ABSENT_BEGIN] = len(self.absent)
        for each in self.program.levels[number].absent:
            missed.append(self.candidates.adjacency(each))
            looks, stays = self._looks(number, rows), each.level == 0
            bitsets = self.bitsets.looked_into(missed[-1], *among, universe, looks, stays)
            self.absent.append(self._adjacency_row(each.level, missed[-1], bitsets))
        row[packed.ABSENT_END] = len(self.absent)
        return missed

    def _cut(self, row: list[int], candidate_set: CandidateSet) -> bool:
        """Cuts the rows of a level to the range that its candidates lie in: those of one label are side by side.
        Returns whether there are no other vertices in that range."""
        size = len(candidate_set.vertices)
        if size == 0:
            return False
        begin, end = int(candidate_set.vertices[0]), int(candidate_set.vertices[-1]) + 1
        if size == end - begin or end - begin <= _MOST * candidate_set.universe:
            row[packed.CUT_BEGIN], row[packed.CUT_END] = begin, end
        return size == end - begin

    def _set_size(self, row: list[int], level: Level, simple: bool) -> None:
        """Lets the size of a leaf be that of a set, if its tests allow that. simple: no row that it must miss repeats a
        neighbour, which would be taken away once for each repetition."""
        rows = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN]
        countable = self.program.space == "vertices" and rows + len(level.absent) <= 2 and row[packed.SIMPLE] and simple
        if level.absent and (level.comparisons or not countable):
            return
        row[packed.SET_COUNT] = 1
        masked = row[packed.CUT_END] > 0 or (row[packed.VERTICES] == 0 and row[packed.WORDS] != 0)
        tested = level.absent or level.different or level.smaller or level.comparisons
        if rows == 1 and row[packed.SIMPLE] and not (masked or tested):
            row[packed.LENGTH] = 1

    def _remember(self, row: list[int], level: Level) -> None:
        """Gives a level its part of the memory of sums: room for all its contexts, or for as many as there is space."""
        if not level.contexts:
            return
        sizes = [self._universe(number) for number in level.context]
        keys = math.prod(sizes)
        if keys >= 2**62:
            return
        available = self.memory.available
        budget = _MEMORY if available is None else min(_MEMORY, available // 4)
        most = budget // (_ENTRY * len(self.sets))
        if most < _SMALLEST_MEMORY:
            return
        wanted = 1 << max(4, math.ceil(math.log2(2 * level.contexts + 1)))
        slots = min(wanted, 1 << (most.bit_length() - 1))
        row[packed.DIRECT] = int(keys <= max(slots, min(most, 4 * wanted)))
        if row[packed.DIRECT]:
            slots = keys
        row[packed.SLOTS_BEGIN], row[packed.SLOTS] = self.slots, slots
        self.slots += slots
        row[packed.CONTEXT_BEGIN] = len(self.context)
        factor = 1
        for number, size in zip(level.context, sizes, strict=True):
            self.context.append((number, factor))
            factor *= size
        row[packed.CONTEXT_END] = len(self.context)

    def _universe(self, number: int) -> int:
        """Number of positions of a level."""
        candidate_set = self.sets[number]
        return len(candidate_set.vertices) if self.program.space == "candidates" else candidate_set.universe

    def _edges_to(self, number: int, rows: Rows) -> Adjacency:
        """The rows that lead to a level, in positions."""
        if self.program.space == "vertices":
            return self.candidates.adjacency(rows)
        return self.adjacencies[rows, number]

    def _candidate_graph(self) -> dict[tuple[Rows, int], Adjacency]:
        """The candidate edges of all rows that lead to a level."""
        program = self.program
        weighed = {(choice.rows.level, choice.to) for choice in program.weights}
        backward = [(rows, number) for number, level in enumerate(program.levels) for rows in level.backward]
        chosen = [(choice.rows, choice.to) for choice in program.weights]
        wanted = {
            (rows, number): Wanted(rows, self.sets[rows.level], self.sets[number], (rows.level, number) in weighed)
            for rows, number in (*backward, *chosen)
        }
        return dict(zip(wanted, candidate_edges(self.candidates, list(wanted.values())), strict=True))

    def _adjacency_row(
        self, level: int, adjacency: Adjacency, bitsets: Columns, kind: int = packed.AGAIN
    ) -> tuple[int, ...]:
        self.keep.append(adjacency)
        return (level, *rows_of(adjacency), address(adjacency.neighbours), *bitsets, kind, 0)

    def _range(self, row: list[int], number: int) -> tuple[int, int]:
        """The positions that are looked for in the rows of a level lie in [begin, end)."""
        if row[packed.CUT_END]:
            return row[packed.CUT_BEGIN], row[packed.CUT_END]
        backward = self.program.levels[number].backward
        if self.program.space == "candidates" or not backward:
            return 0, self._universe(number)
        ranges = [self.candidates.reach(rows, self.sets[number]) for rows in backward]
        return min(begin for begin, _ in ranges), max(end for _, end in ranges)

    def _choices(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """The choices that are weights, and the earlier ones that each collides with."""
        rows: list[tuple[int, ...]] = []
        collides: list[int] = []
        for index, choice in enumerate(self.program.weights):
            self.candidates.control.check()
            adjacency = self._edges_to(choice.to, choice.rows)
            self.keep.append(adjacency)
            begin = len(collides)
            collides.extend(other for other in choice.collides if other < index)
            rows.append(
                (
                    choice.rows.level,
                    choice.to,
                    *rows_of(adjacency),
                    address(adjacency.neighbours),
                    address(adjacency.edges),
                    begin,
                    len(collides),
                    int(not choice.collides),
                    int(choice.clique),
                )
            )
        return rows, collides


def _counters(program: Program, candidates: CandidateSets) -> int:
    """How many kinds of counters sums are pushed into; 0 when they are not, or there is no space for them."""
    if program.strategy != "push":
        return 0
    kinds = sum(program.levels[chain[0]].like < 0 for chain in chains(program))
    memory = candidates.control.memory
    size = candidates.threads * kinds * counter_bytes(candidates.universe)
    if memory.available is not None and size > memory.available // 2:
        return 0
    memory.reserve(size, "counters")
    return kinds


def pack(program: Program, candidates: CandidateSets, ranks: Sequence[Ranks]) -> PackedPlan:
    """The packed plan; builds the candidate graph when the program enumerates on it."""
    return _Packer(program, candidates, ranks).pack()
