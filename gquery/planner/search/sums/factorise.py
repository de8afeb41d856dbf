"""Decides what is listed and what is summed out, and in which tree.

Summing query vertices out one by one is variable elimination: the sum over a vertex depends on the vertices that it is
tied to by an edge or a test, directly or through vertices summed out before. They are its *context*; the last of them
to be matched is its parent. Read from the top this is a search over an AND/OR tree, where different children of a
vertex do not depend on each other, and each sum is computed once for each context that occurs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from gquery.planner.ir.match_plan import Strategy
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import Part
from gquery.planner.search.cardinality import ENDLESS, PrefixModel
from gquery.planner.search.sampling import Seen
from gquery.planner.search.sums.ties import Ties
from gquery.stopping import Check

EMPTY: Mapping[int, tuple[int, ...]] = {}


class Level(NamedTuple):
    """One level of the tree: `parent` is a level, -1 for the first; `context` query vertices; `contexts` how many
    different contexts are expected when their sums are to be remembered, else 0; rows: estimated matches down to it;
    folded: its sums are computed for all candidates of its parent at once. constants: vertices, matched anywhere, each
    of which takes exactly one of its candidates away. like: a leaf under the same parent that has the same candidates,
    a level; -1 for none."""

    vertex: int
    parent: int
    context: tuple[int, ...]
    contexts: float
    rows: float
    folded: bool
    constants: tuple[int, ...]
    like: int = -1


class Tree(NamedTuple):
    """Levels in matching order, every one after its parent and directly followed by its own subtree. `cost`: estimated
    neighbours looked at. strategy: one that the cost stands for, None for what the levels alone decide."""

    levels: tuple[Level, ...]
    cost: float
    strategy: Strategy | None = None

    @property
    def order(self) -> tuple[int, ...]:
        return tuple(level.vertex for level in self.levels)

    @property
    def is_folded(self) -> bool:
        """Whether nothing is left to search below the first vertex."""
        return len(self.levels) > 1 and all(level.folded for level in self.levels[1:])


def folds_whole(problem: Problem, kept: Collection[int]) -> bool:
    """Whether all is folded along every order that stays connected: nothing is listed, and the query graph is a tree
    without tests."""
    return not (kept or problem.graph.parts or any(problem.tests())) and problem.graph.is_tree()


class Factoriser:
    """Trees over the vertices of one query graph.

    `kept`: vertices that must be listed. `parts`: sub-patterns; the vertices of each are summed out together, below all
    that it hangs on.
    """

    def __init__(
        self, model: PrefixModel, ties: Ties, kept: frozenset[int], parts: tuple[Part, ...], check: Check
    ) -> None:
        self.model = model
        self.costs = model.costs
        self.ties = ties
        self.kept = kept
        self.parts = parts
        self.check = check
        self.part_of = {vertex: number for number, part in enumerate(parts) for vertex in part.vertices}
        self._uncached = _mask(vertex for vertex, size in enumerate(model.sizes) if size > self.costs.cached)
        self._ranked = sorted(range(len(model.sizes)), key=model.sizes.__getitem__)
        self._rank = [0] * len(model.sizes)
        for rank, vertex in enumerate(self._ranked):
            self._rank[vertex] = 1 << rank
        self._near_ranks = [self._ranks(near) for near in model.near]
        self._sizes: dict[int, float] = {0: 1.0}
        self._eliminations: dict[tuple[int, int], float] = {}

    def tied(self, ties: Ties) -> Factoriser:
        """The same with other ties."""
        return Factoriser(self.model, ties, self.kept, self.parts, self.check)

    def folded(self) -> tuple[int, ...]:
        """The order of the cheapest tree where all can be folded; of large ones only some are looked at."""
        sizes, effort = self.model.sizes, self.costs.effort
        roots: Iterable[int] = range(len(sizes))
        if len(sizes) > effort.context:
            roots = sorted(roots, key=sizes.__getitem__)[: effort.roots]
        return min(map(self._rooted, roots))[1]

    def _rooted(self, root: int) -> tuple[float, tuple[int, ...]]:
        """What folding towards a vertex costs, and the order."""
        model, costs = self.model, self.costs
        cost, order, parents = 0.0, [root], {root: -1}
        for vertex in order:  # which grows
            below = [other for other in model.neighbours[vertex] if other != parents[vertex]]
            for other in below:
                parents[other] = vertex
                leaf = len(model.neighbours[other]) == 1
                looks = 0.0 if leaf else model.extension(other, 1 << vertex)[1]
                cost += costs.fold(model.sizes[vertex], looks)
            order += below
        return cost, tuple(order)

    def eliminated(self) -> tuple[int, ...]:
        """A matching order from greedy elimination: always the vertex whose sums are cheapest to compute goes next, and
        those of inner parts before those of outer ones. What a vertex costs is only worked out once nothing else can be
        cheaper."""
        near = list(self.ties.near)
        left = _mask(range(len(near)))
        by_depth: dict[int, list[int]] = {}
        for vertex in range(len(near)):
            if vertex not in self.kept:
                by_depth.setdefault(self._depth(vertex), []).append(vertex)
        last: list[int] = []
        inner = 0  # vertices that sums depend on
        for depth in sorted(by_depth, reverse=True):
            contexts = {vertex: near[vertex] & left for vertex in by_depth[depth]}
            queue = [(self._least_cost(vertex, context), vertex, context) for vertex, context in contexts.items()]
            heapify(queue)
            while queue:
                least, chosen, context = heappop(queue)
                if contexts.get(chosen) != context:
                    continue
                cost = self._elimination_cost(chosen, context)
                if least < cost:
                    heappush(queue, (cost, chosen, context))
                    continue
                self.check()
                del contexts[chosen]
                last.append(chosen)
                left &= ~(1 << chosen)
                around = near[chosen] & left
                if not inner >> chosen & 1:
                    around &= ~self.ties.constants(chosen, left)
                inner |= around
                if (
                    around == left and left.bit_count() > self.costs.effort.context
                ):  # all that are left are tied to each other
                    rest = sorted(contexts, key=lambda vertex: (-self.model.sizes[vertex], vertex))
                    last += rest
                    left &= ~_mask(rest)
                    break
                for vertex in _members(around):
                    near[vertex] |= around & ~(1 << vertex)
                    context = near[vertex] & left
                    if contexts.get(vertex, context) != context:
                        contexts[vertex] = context
                        heappush(queue, (self._least_cost(vertex, context), vertex, context))
        return tuple(reversed(last))

    def extended(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """An order with what it lacks behind it: always the connected vertex that leaves the fewest partial matches,
        those of inner parts after those of outer ones."""
        result, matched = list(order), _mask(order)
        left = sorted(set(range(len(self.ties.near))).difference(order))
        while left:
            self.check()
            depth = min(self._depth(vertex) for vertex in left)
            outer = [vertex for vertex in left if self._depth(vertex) == depth]
            connected = [vertex for vertex in outer if self.model.near[vertex] & matched] or outer
            vertex = min(connected, key=lambda v: (self.model.extension(v, matched)[0], v))
            left.remove(vertex)
            result.append(vertex)
            matched |= 1 << vertex
        return tuple(result)

    def tree(
        self,
        order: tuple[int, ...],
        kept: int,
        above: Mapping[int, tuple[int, ...]] = EMPTY,
        seen: Seen | None = None,
    ) -> Tree:
        """The tree of a matching order whose first `kept` vertices are listed. A vertex may move up in the order, next
        to what it hangs on. `above`: vertices that must be smaller, which thins the candidates out. `seen`: by a walk
        down the same tree, instead of estimates."""
        parents, contexts, constants = self._parents(order, kept)
        children: dict[int, list[int]] = {}
        for vertex in order[max(1, kept) :]:
            children.setdefault(parents[vertex], []).append(vertex)
        foldable = self._foldable(order, parents, contexts, children)
        below = dict.fromkeys(order, 0)  # vertices that a sum goes on to
        for vertex in reversed(order[max(1, kept) :]):
            below[parents[vertex]] += 1 + below[vertex]
        levels: list[Level] = []
        accepted: list[float] = []  # estimated candidates accepted at each level, over all visits
        placed: dict[int, int] = {}
        leaves: dict[tuple[int, int], list[int]] = {}  # levels, by parent and context
        matched = 0
        cost, costs = 0.0, self.costs
        for vertex in _preorder(order, children, kept):
            self.check()
            parent = placed[parents[vertex]] if vertex in parents else len(levels) - 1
            listed = len(levels) < max(1, kept)
            visits = accepted[parent] if levels else 1.0
            context = matched if listed else contexts[vertex]
            placed[vertex] = len(levels)
            matched |= 1 << vertex
            factor, looks, backward = self.model.extension(vertex, context)
            measured = seen.extension(len(levels)) if seen else None
            if measured is not None:
                factor, looks = measured
            else:  # fewer candidates, but hardly fewer looks: finding where the rest of a row begins takes some, too
                factor /= 1 + len(above.get(vertex, ()))
            leaf = not listed and vertex not in children
            if vertex in foldable:
                above_all = self.model.sizes[parents[vertex]]
                if levels[parent].folded or above_all <= costs.folds * visits:
                    cost += costs.fold(above_all, 0.0 if leaf else looks)
                    accepted.append(above_all)
                    fixed = _members(constants[vertex])
                    levels.append(Level(vertex, parent, _members(context), 0.0, max(1.0, above_all), True, fixed))
                    continue
            evaluations = visits
            remembered = 0.0
            like = -1
            if leaf:
                others = leaves.setdefault((parent, context), [])
                like = next((level for level in others if self._same(levels[level].vertex, vertex, context, above)), -1)
                others.append(placed[vertex])
            worth = costs.worth_recalling(below[vertex])
            trivial = leaf and backward == 1 and context.bit_count() == 1
            if not (listed or trivial) and like < 0 and visits > worth:  # less often no sum comes again
                if seen:
                    number, needed = seen.sums(len(levels), _members(context), visits)
                else:
                    number = needed = self._number(context)
                if needed * worth < visits:
                    evaluations, remembered = needed, number
                    cost += visits * costs.recall
            if leaf and backward == 1 and not self.ties.checked[vertex] & context:
                each = context.bit_count() * costs.test
            else:
                each = looks * costs.counted_look if leaf else looks + factor
            misses = self._misses(vertex, context, order[0])
            cost += evaluations * costs.test if like >= 0 else costs.sums(evaluations, misses, each)
            rows = min(ENDLESS, max(1.0, (visits if listed else evaluations) * factor))
            accepted.append(rows)
            own = () if listed else _members(context)
            fixed = _members(constants.get(vertex, 0))
            levels.append(Level(vertex, parent, own, remembered, rows, False, fixed, like))
        tree = Tree(tuple(levels), cost)
        scan = costs.scan(self.model.sizes[tree.levels[0].vertex])
        return tree._replace(cost=cost - scan) if tree.is_folded else tree

    def _same(self, leaf: int, other: int, context: int, above: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether two leaves have the same candidates, but for their constants."""
        ties = self.ties
        if not ties.alike[leaf] >> other & 1 or set(above.get(leaf, ())) != set(above.get(other, ())):
            return False
        return (ties.different[leaf] ^ ties.different[other]) & context == 0

    def _misses(self, vertex: int, context: int, root: int) -> int:
        """How many of the rows that have a vertex's candidates the caches lack. Those of the root are met in order."""
        return (self.model.near[vertex] & context & self._uncached & ~(1 << root)).bit_count()

    def _foldable(
        self, order: tuple[int, ...], parents: dict[int, int], contexts: dict[int, int], children: dict[int, list[int]]
    ) -> set[int]:
        """The vertices whose sums depend on their parent's vertex alone, by one edge, with all that is below them."""
        found: set[int] = set()
        for vertex in reversed(order):
            if vertex not in parents:
                continue
            parent = 1 << parents[vertex]
            alone = contexts[vertex] == parent and not self.ties.tested[vertex] & parent
            if not alone or self.model.extension(vertex, parent)[2] != 1:
                continue
            if all(child in found for child in children.get(vertex, ())):
                found.add(vertex)
        return found

    def _depth(self, vertex: int) -> int:
        """In how many parts a vertex lies: the inner ones are summed out before what they hang on."""
        depth, number = 0, self.part_of.get(vertex)
        while number is not None:
            depth, number = depth + 1, self.parts[number].within
        return depth

    def _parents(self, order: tuple[int, ...], kept: int) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
        """Parent (a vertex), context and constants (masks) of the vertices that are summed out."""
        place = {vertex: level for level, vertex in enumerate(order)}
        listed = max(1, kept)
        roots = self._roots(order)
        inherited = list(self.ties.near)
        parents: dict[int, int] = {}
        contexts: dict[int, int] = {}
        constants: dict[int, int] = {}
        inner: set[int] = set()  # vertices with others below them
        earlier = _mask(order)
        for level in range(len(order) - 1, listed - 1, -1):
            vertex = order[level]
            earlier &= ~(1 << vertex)
            constants[vertex] = 0 if vertex in inner else self.ties.constants(vertex, earlier)
            contexts[vertex] = inherited[vertex] & earlier & ~constants[vertex]
            if contexts[vertex] >> order[level - 1] & 1:
                parent = level - 1
            else:
                parent = max((place[other] for other in _members(contexts[vertex])), default=0)
            root = roots.get(vertex)
            if root is not None:
                parent = max(parent, place[root])
            parents[vertex] = order[max(parent, listed - 1)]
            inner.add(parents[vertex])
            if parent >= listed:
                inherited[order[parent]] |= contexts[vertex] & ~(1 << order[parent])
        return parents, contexts, constants

    def _roots(self, order: tuple[int, ...]) -> dict[int, int]:
        """For the vertices of parts: the vertex of the same or the enclosing part that they must be matched under. The
        first of a part to be matched is the root of all the others."""
        first: dict[int, int] = {}
        for vertex in order:
            if vertex in self.part_of:
                first.setdefault(self.part_of[vertex], vertex)
        roots = {}
        for vertex, number in self.part_of.items():
            enclosing: int | None = number
            if first[number] == vertex:
                enclosing = self.parts[number].within
            if enclosing is not None:
                roots[vertex] = first[enclosing]
        return roots

    def _elimination_cost(self, vertex: int, context: int) -> float:
        key = (vertex, context)
        if key not in self._eliminations:
            self._eliminations[key] = self._number(context) * self._least_cost(vertex, context)
        return self._eliminations[key]

    def _least_cost(self, vertex: int, context: int) -> float:
        """What the sums of a vertex cost at least: those of one context."""
        factor, looks, backward = self.model.extension(vertex, context)
        return self.costs.extension(looks, factor, 1, backward == 1 and context.bit_count() == 1)

    def _number(self, context: int) -> float:
        """About how many different assignments a context takes: the matches of the query graph among its vertices,
        always extended by the smallest connected one."""
        if context not in self._sizes:
            if context.bit_count() > self.costs.effort.context:
                return ENDLESS * context.bit_count()
            if context & (context - 1) == 0:
                return max(1.0, self.model.sizes[context.bit_length() - 1])
            rows, matched, near = 1.0, 0, 0
            left, extension = self._ranks(context), self.model.extension
            while left:
                rank = left & near or left
                rank &= -rank
                left ^= rank
                vertex = self._ranked[rank.bit_length() - 1]
                rows *= extension(vertex, matched)[0]
                if rows < 1.0:
                    rows = 1.0
                matched |= 1 << vertex
                near |= self._near_ranks[vertex]
            self._sizes[context] = rows
        return self._sizes[context]

    def _ranks(self, vertices: int) -> int:
        """The same set with the smallest vertex as bit 0."""
        return sum([self._rank[vertex] for vertex in _members(vertices)])


def _preorder(order: tuple[int, ...], children: dict[int, list[int]], kept: int) -> list[int]:
    result = list(order[: max(1, kept) - 1])
    pending = [order[max(1, kept) - 1]]
    while pending:
        vertex = pending.pop()
        result.append(vertex)
        pending.extend(reversed(children.get(vertex, [])))
    return result


def _mask(vertices: Iterable[int]) -> int:
    mask = 0
    for vertex in vertices:
        mask |= 1 << vertex
    return mask


@lru_cache(maxsize=1 << 12)
def _members(mask: int) -> tuple[int, ...]:
    members = []
    while mask:
        members.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return tuple(members)
