"""The one cost model: what a backend's work costs, what is guessed of data, and how far planning itself goes.

Costs are in *looks at neighbours*: one step along a row of an adjacency that is intersected with others, which takes a
core of the CPU some ten nanoseconds, waiting for memory included (`python -m benchmarks.calibrate` measures). Only
their ratios decide between plans; thresholds, in looks too, say from when on a better plan is worth looking for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gquery.records import record, replace


@record(frozen=True, slots=True)
class Guesses:
    """What is thought of data where statistics say nothing: shares unless something else is said."""

    equality: float = 0.1  # elements that an `=` keeps
    range: float = 0.3  # that an order, a beginning or a list keeps
    predicate: float = 0.5  # that any other predicate keeps
    closing: float = 0.3  # partial matches that a further backward edge keeps at least
    least: float = 0.001  # vertices that a filter keeps at least
    most: float = 0.99  # and at most, unless every vertex is known to pass
    seeds: float = 100.0  # seeds that a run begins with, before it does
    values: float = 0.1  # different values, of the vertices that are compared by them


GUESSES = Guesses()


@record(frozen=True, slots=True)
class Effort:
    """How far planning goes, in counted steps, so that plans do not depend on the machine."""

    ordered: int = 7  # query vertices up to which all connected orders are weighed
    trusted: int = 7  # query vertices up to which estimates without a candidate graph are believed
    roots: int = 3  # first vertices that are looked at more closely
    context: int = 16  # vertices of a context; larger ones hardly come twice, and are not estimated
    permutations: int = 720  # matches that one is turned into, at most, when they are listed

    # Walks through the candidate graph.
    walked: int = 128  # partial matches of a level
    confirmed: int = 512  # of what looks best in a few
    invested: float = 0.03  # share of the cost of a plan that looking for better ones may take
    changes: int = 200  # of an order, tried at most

    # Inclusion and exclusion.
    gain: float = 0.7  # share of the cost that must be left at most
    plenty: float = 0.05  # share of the cost that is so little that no other way is looked for
    weighed: float = 0.05  # share of the cost, where walks have shown it, that weighing problems may take
    least_problems: int = 6  # weighed at most for one query, however cheap it is
    most_problems: int = 200  # however dear
    of_each: bool = True  # of what is counted for each vertex, too, whose numbers are held until all are known
    pairs: bool = True  # that others join are listed without those, which takes a counter for each vertex
    edges: bool = True  # that are compared with others may be matched as vertices, whose ends are held in memory
    problem_steps: int = 100_000  # problems times the query vertices cubed: large patterns are counted as they are
    numbered: float = 0.02  # share of the cost that weighing problems with numbered edges may take
    untied_steps: int = 240_000  # the same of problems that leave out far tests together

    def shared(self, number: int) -> Effort:
        """What each of so many problems has of it."""
        return replace(
            self,
            most_problems=self.most_problems // number,
            problem_steps=self.problem_steps // number,
            untied_steps=self.untied_steps // number,
        )


@record(frozen=True, slots=True)
class CostModel:
    """What work costs, in looks at neighbours where nothing else is said. A card's ratios are near those of the CPU."""

    # Extending partial matches.
    gallop: float  # a step of galloping in another row
    miss: float  # finding a row of a vertex of which the caches do not hold all rows
    cached: float  # candidates of which the caches hold all rows
    vain: float  # a vertex that is matched in vain
    counted_look: float  # a look of a last level whose matches are counted and not listed
    build: float  # building a candidate edge: two sweeps and one copy
    select: float  # an entry of an adjacency of some data edges alone, which is made for the query
    build_begin: float  # what is done once for each query edge, however few candidate edges it has

    # Sums.
    enter: float  # beginning the sum of a level
    recall: float  # looking a sum up, and storing it
    test: float  # correcting a set size for a vertex that must be another
    reuse: float  # visits for each context from which on remembering pays, of leaves
    remembered: float  # sums of a level that can be remembered at once
    multiplied: float  # times as much take sums where edges have several data edges: those are counted for each match
    fold_row: float  # folding a row
    fold_look: float  # each of its entries, when they are looked at
    push: float  # adding to a counter
    skew: float  # how much more pushing takes than mean degrees say: vertices that edges lead to have more neighbours
    inside_enter: float  # beginning with the neighbours of a root
    inside_number: float  # numbering one of them, for each level
    inside_word: float  # a word of a row inside a neighbourhood
    inside_look: float  # an entry of the rows that are written as bitsets for that
    inside_miss: float  # the same where caches do not hold the numbers of all vertices
    folds: float  # rows folded for each visit of the parent that would need one, up to which folding pays

    # Filters.
    filter_scan: float  # asking predicates of a vertex, where all of a table are asked
    filter_edge: float  # asking predicates of a data edge, where all are asked, and leaving those out that fail
    filter_reached: float  # where the vertex is looked up: for each entry that leads to it
    filter_row: float  # filtering a vertex by its row
    filter_look: float  # each of its entries that is tested
    filter_test: float  # and that nobody can tell at which of them a row passes
    filter_signature: float  # filtering a vertex by its signature
    filter_begin: float  # planning and calling one filter
    filters_begin: float  # what is done once for all filters, however few
    meet: float  # pairs of vertices from which on those with equal values meet there, rather than being compared
    list_ends: float  # the end of a data edge that is matched as a vertex
    compare_edges: float  # a match whose data edges are looked for, and compared afterwards
    compose: float  # edges are composed for up to so many vertices a candidate that predicates leave somewhere

    # What planning saves.
    weigh: float  # weighing one more problem, times its query vertices squared
    filters_weighed: float  # filters that cost less together are all run without planning first
    worth_improving: float  # a plan that costs less is taken as it is
    worth_excluding: float  # times as much must one of few vertices cost to be counted as a sum of others
    worth_walking: float  # and one that costs less by estimates is believed to
    dear: float  # where walks say that it costs less, no better one is looked for
    worth_confirming: float  # and one that walks have said costs more is walked again in a larger sample
    worth_trying: float  # where walks say that it costs less, no orders of partial matches are tried
    tried: float  # share of what a dear order costs for which orders of partial matches are tried, 0 for none, infinite
    # where nobody asks what one order would cost
    tried_on: float  # the same beyond `tried_long` looks, since dear orders may be improved
    tried_long: float
    walk: float  # asking for the number of a context by a walk
    change: float  # weighing one more order by a walk, times its query vertices
    effort: Effort = Effort()

    def intersection(self, rows: Iterable[float]) -> float:
        """Intersecting rows of these lengths: the shortest is walked, the others are galloped through."""
        lengths = tuple(rows)
        shortest = max(1e-9, min(lengths))
        galloped = sum(math.log2(1 + length / shortest) for length in lengths) - 1
        return shortest * (1 + self.gallop * galloped)

    def extension(self, looks: float, factor: float, backward: int, counted: bool) -> float:
        """Extending one partial match that has `factor` extensions. The last level of a count costs its set size
        only."""
        if counted:
            return 1.0 if backward == 1 else looks * self.counted_look
        return looks + factor

    def fold(self, rows: float, looks: float) -> float:
        """Folding so many rows, in each of which so many entries are looked at."""
        return rows * (self.fold_row + looks * self.fold_look)

    def worth_recalling(self, below: int) -> float:
        """How often sums must come again for remembering to pay, when so many levels are below."""
        return 1 + (self.reuse - 1) / (1 + below)

    def sums(self, evaluations: float, misses: int, each: float) -> float:
        """So many sums of a level, each of which misses the caches so often and costs something of its own."""
        return evaluations * (self.enter + misses * self.miss + each)

    def inside(self, rows: int, words: float) -> float:
        """A sum over what so many rows of so many words have in common."""
        return self.test + self.inside_word * (1 + rows) * words

    def scan(self, candidates: float) -> float:
        """What finding the first vertex of a tree is taken to cost; nothing when all is folded."""
        return self.enter + 2 * candidates

    def filtering(self, vertices: float, looks: float | None) -> float:
        """Filtering vertices by their neighbours, of which so many are looked at; None: by their signatures."""
        return vertices * (self.filter_signature if looks is None else self.filter_row + looks * self.filter_look)

    def trial(self, cost: float) -> float:
        """The looks for which an order for each partial match is tried instead of one order that costs so much."""
        if math.isinf(self.tried):
            return CARD.orders
        return min(self.tried * cost, max(self.tried_long, self.tried_on * cost))

    def weighing(self, vertices: int) -> float:
        """Weighing one more problem of so many query vertices."""
        return self.weigh * vertices**2


CPU = CostModel(
    gallop=0.3,
    miss=2.5,
    cached=50_000.0,
    vain=2.5,
    counted_look=0.4,
    build=3.0,
    select=3.0,
    build_begin=20_000.0,
    enter=1.5,
    recall=2.0,
    test=0.5,
    reuse=1.3,
    remembered=300_000.0,
    multiplied=4.0,
    fold_row=0.1,
    fold_look=0.15,
    push=0.2,
    skew=1.2,
    inside_enter=60.0,
    inside_number=2.0,
    inside_word=0.1,
    inside_look=0.15,
    inside_miss=1.5,
    folds=10.0,
    filter_scan=0.5,
    filter_edge=1.25,
    filter_reached=3.0,
    filter_row=0.15,
    filter_look=0.05,
    filter_test=1.0,
    filter_signature=0.05,
    filter_begin=2_000.0,
    filters_begin=0.0,
    meet=0.0,
    list_ends=2.0,
    compare_edges=10.0,
    compose=1000.0,
    weigh=1250.0,
    filters_weighed=12_000.0,
    worth_improving=50_000.0,
    worth_excluding=1.0,
    worth_walking=5_000.0,
    dear=8_000_000.0,
    worth_confirming=4_000_000.0,
    worth_trying=8_000_000.0,
    tried=0.05,
    tried_on=1e-4,
    tried_long=1e8,
    walk=160_000.0,
    change=56_000.0,
)


@record(frozen=True, slots=True)
class CardCosts:
    """A card beside the CPU, in the CPU's looks at neighbours."""

    query: float = 300_000.0  # of one query: tapes are written, launched and waited for
    start: float = 1.2e8  # of the first query of a process: CuPy and the kernels are loaded
    byte: float = 0.01  # of a graph that is not on the card yet
    look: float = 0.02  # what the card takes for a look
    little: float = 25_000.0  # looks with which the CPU is done before a card has begun, where all else stands by
    begins: float = 0.003  # seconds that it takes to begin, and back
    cores: float = 3.0  # of the CPU's cores, so many are made use of at most
    filters: float = 15_000_000.0  # looks that filters have to save for their launch: a card takes little for each
    patience: float = 20.0  # times as dear as on the CPU are plans that are worth improving, or weighing others
    orders: float = 5e8  # candidates that a sum with an order for each partial match takes, until it is given up
    excluding: float = 1000.0  # times as dear as these are those of few vertices that may be sums of others


CARD = CardCosts()


def for_card(costs: CostModel) -> CostModel:
    """What a plan goes by that is made for a card: planning takes as long as for the CPU, and counting a fraction."""
    return replace(
        costs,
        worth_improving=costs.worth_improving * CARD.patience,
        worth_excluding=CARD.excluding,
        filters_begin=CARD.filters,
        weigh=costs.weigh * CARD.patience,
        tried=0.0,
        effort=replace(costs.effort, pairs=False),
    )


_USUAL = 4.0  # threads up to which constants of planning hold


def for_threads(costs: CostModel, threads: int) -> CostModel:
    """What a plan goes by that is made for so many threads of the CPU. One of them plans, and all count: so much
    sooner is done what walks could save. Weighing problems takes several times what it is taken for, which few threads
    do not notice."""
    more = max(1.0, threads / _USUAL)
    dear, walk, change = (each * more for each in (costs.dear, costs.walk, costs.change))
    return replace(costs, dear=dear, walk=walk, change=change, weigh=costs.weigh * more**2)


_ROOM_OF_EACH = 80  # bytes for each vertex, of which its number takes 16
_ROOM = 250  # bytes for each edge that adjacencies of some data edges alone may take together


def for_memory(costs: CostModel, limit: int | None, vertices: int, edges: int) -> CostModel:
    """What a plan goes by for who may take so many bytes: where that is little beside the edges, no adjacencies of some
    data edges alone are made, and where it is little beside the vertices, none is counted by several problems. Where it
    is limited at all vertices may have no counters, and edges no lists of their ends."""
    if limit is not None:
        costs = replace(costs, effort=replace(costs.effort, pairs=False, edges=False))
    if limit is not None and limit < _ROOM_OF_EACH * vertices:
        costs = replace(costs, effort=replace(costs.effort, of_each=False))
    if limit is None or limit >= _ROOM * edges:
        return costs
    return replace(costs, select=math.inf, effort=replace(costs.effort, numbered=0.0))


def on_card(cost: float, threads: int, missing: int, started: bool) -> tuple[bool, str]:
    """Whether a count of so many looks goes to the card rather than to so many threads of the CPU, and why. missing:
    bytes of the graph that are not on the card yet."""
    alone = cost / min(threads, CARD.cores)
    overhead = CARD.query + CARD.byte * missing + (0.0 if started else CARD.start)
    pays = alone > overhead + CARD.look * cost
    before = "" if started else ", which has not begun"
    copied = f" and {missing / 1e6:,.1f} MB to copy" if missing else ""
    return pays, (
        f"{cost:,.0f} looks at neighbours {'against' if pays else 'do not outweigh'} the {overhead:,.0f} that a card"
        f"{before} would take to begin with{copied}"
    )
