"""Counts connected subgraphs without visiting them.

Connected vertex sets of two vertices less are enumerated, each once: ESU (Wernicke, IEEE/ACM TCBB 3(4), 2006), which
extends a set by vertices that are numbered behind its first and that no earlier vertex of it could have brought. What
two vertices more can be beside such a set is counted, not listed (as acc-Motif does: Meira et al., IEEE/ACM TCBB
11(5), 2014):

- both are beside the set: the number of vertices beside it in each way, multiplied;
- one is, the other is beside that one alone: degrees.

Both are as if the two had no edge in common or the second none with the set. Edges inside the neighbourhood are
therefore counted each by itself, and `classes.py` takes from what was counted too much as often. A subgraph is found
from each of its connected sets of two vertices less: the last step divides by their number.

Sets come in any order of their vertices. Codes are those of their canonical order, so that there are fewer of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import canonical
from gquery.executor.cpu.census.pairs import Pairs, turned
from gquery.executor.cpu.census.tally import ODD, add
from gquery.executor.cpu.machine.compile import inlined, inner, kernel

DONE, MORE, FULL = range(3)  # nothing is left; the budget is spent; the tally lacks room
# In a walk's state: vertices in the set, the next root, the end of the roots, looks at neighbours so far, free slots
# that the tally needs, words.
DEPTH, ROOT, ROOT_END, LOOKS, WANTED, MET = range(6)
_KNOWN = 12  # bits: so many sets are known
_PLACE = 3  # bits of a place in an order
MEMBER = np.int32(1 << 30)  # in a mark: the vertex is of the set


class Walk(NamedTuple):
    """Where an enumeration is. sets have `size` - 2 vertices, s.

    marks int32[n]: by vertex its states beside the set, those of place i from bit i * state_bits on. beside int32[n]:
    the vertices with a mark, in the order of their discovery. ends int64[s + 1]: how many there were with so many
    vertices. cursors int64[s + 1]: the next of them to add. members int32[s]; bases int64[s + 1]: codes of the set's
    beginnings. state int64[6]: see above.
    Of one neighbourhood: slots int32[2^bits], by word its place, -1 for none; words, forms, sizes int64[p]: the words
    that occur, the same for the canonical order of the set, and how often they do; sums int64[p, kinds]: degrees.
    bound float64[1]: what all counts add up to at most.
    Of sets met lately: known int64[3, 2^n]: a code, the canonical one, and its order, three bits a place.
    """

    marks: NDArray[np.int32]
    beside: NDArray[np.int32]
    ends: NDArray[np.int64]
    cursors: NDArray[np.int64]
    members: NDArray[np.int32]
    bases: NDArray[np.int64]
    state: NDArray[np.int64]
    slots: NDArray[np.int32]
    words: NDArray[np.int64]
    forms: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sums: NDArray[np.int64]
    bound: NDArray[np.float64]
    known: NDArray[np.int64]


def new_walk(layout: Layout, pairs: Pairs) -> Walk:
    """The memory of a walk through pairs."""
    vertices, places = len(pairs.colours), layout.size - 2
    bits = layout.colour_bits + places * layout.state_bits
    words = min(1 << bits, vertices)
    return Walk(
        np.zeros(vertices, np.int32),
        np.zeros(vertices, np.int32),
        np.zeros(places + 1, np.int64),
        np.zeros(places + 1, np.int64),
        np.zeros(places, np.int32),
        np.zeros(places + 1, np.int64),
        np.zeros(6, np.int64),
        np.full(1 << bits, -1, np.int32),
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
        np.zeros((words, len(pairs.kinds)), np.int64),
        np.zeros(1),
        np.full((3, 1 << min(_KNOWN, int(layout.positions[places]))), -1, np.int64),
    )


@kernel
def advance(pairs, layout, walk, tally, search, budget):  # type: ignore[no-untyped-def]
    """Goes on with the roots that `walk.state` names, for about so many looks at neighbours. Returns how it ended."""
    places = layout.size - 2
    state = walk.state
    left, outcome = budget, MORE
    while left > 0 and outcome == MORE:
        if state[DEPTH] < places:
            looks = step(pairs, layout, walk)
            left -= looks
            outcome = MORE if looks else DONE
            continue
        state[WANTED] = most_codes(pairs, layout, walk)
        if len(tally.codes) - tally.used[0] < state[WANTED]:
            outcome = FULL
            continue
        at = look_up(layout, walk, search)
        state[MET] = 0
        beside = float(walk.ends[places])
        walk.bound[0] += beside * beside + len(pairs.neighbours)
        left -= gather(pairs, layout, walk, tally, at)
        left -= count_beside(pairs, layout, walk, tally, walk.known[1, at])
        left -= leave(pairs, layout, walk)
    state[LOOKS] += budget - left
    return outcome


@inlined
def step(pairs, layout, walk):  # type: ignore[no-untyped-def]
    """Adds the next vertex to a set that is not whole, or takes the last one from it. Returns how many looks that took,
    0 where no root is left."""
    state = walk.state
    depth = state[DEPTH]
    if depth == 0:
        if state[ROOT] == state[ROOT_END]:
            return 0
        vertex = np.int32(state[ROOT])
        state[ROOT] += 1
        walk.cursors[1] = 0
        return enter(pairs, layout, walk, vertex) + 1
    at, end = walk.cursors[depth], walk.ends[depth]
    while at < end and walk.beside[at] < walk.members[0]:
        at += 1
    if at == end:
        return leave(pairs, layout, walk) + 1
    walk.cursors[depth] = walk.cursors[depth + 1] = at + 1
    return enter(pairs, layout, walk, walk.beside[at]) + 1


@inlined
def enter(pairs, layout, walk, vertex):  # type: ignore[no-untyped-def]
    """Adds a vertex to the set. Returns the number of its neighbours."""
    depth = walk.state[DEPTH]
    word = np.int64(pairs.colours[vertex]) | (np.int64(walk.marks[vertex]) << layout.colour_bits)
    walk.bases[depth + 1] = walk.bases[depth] | (word << layout.positions[depth])
    walk.members[depth] = vertex
    walk.marks[vertex] |= MEMBER
    begin, stop = pairs.offsets[vertex], pairs.offsets[vertex + 1]
    shift, end = depth * layout.state_bits, walk.ends[depth]
    for index in range(begin, stop):
        neighbour = pairs.neighbours[index]
        mark = walk.marks[neighbour]
        if mark == 0:
            walk.beside[end] = neighbour
            end += 1
        walk.marks[neighbour] = mark | (pairs.states[index] << shift)
    walk.ends[depth + 1] = end
    walk.state[DEPTH] = depth + 1
    return stop - begin


@inlined
def leave(pairs, layout, walk):  # type: ignore[no-untyped-def]
    """Takes the last vertex from the set. Returns the number of its neighbours."""
    depth = walk.state[DEPTH] - 1
    vertex = walk.members[depth]
    kept = ~(((np.int32(1) << layout.state_bits) - 1) << (depth * layout.state_bits))
    begin, stop = pairs.offsets[vertex], pairs.offsets[vertex + 1]
    for index in range(begin, stop):
        walk.marks[pairs.neighbours[index]] &= kept
    walk.marks[vertex] &= ~MEMBER
    walk.state[DEPTH] = depth
    return stop - begin


@inlined
def most_codes(pairs, layout, walk):  # type: ignore[no-untyped-def]
    """How many codes the two vertices beside the set make at most."""
    words = min(walk.ends[layout.size - 2], np.int64(len(walk.words)))
    both = words * (words + 1) // 2
    edges = np.int64(len(pairs.neighbours) // 2)
    return both + min(edges, both << layout.state_bits) + words * pairs.kinds_met[0]


@inlined
def look_up(layout, walk, search):  # type: ignore[no-untyped-def]
    """Where the canonical code of the set, and its order, are known."""
    places = layout.size - 2
    code = walk.bases[places]
    at = ((code * ODD) >> 32) & (walk.known.shape[1] - 1)
    if walk.known[0, at] != code:
        walk.known[0, at], walk.known[1, at] = code, canonical(code, layout, places, search)
        order = np.int64(0)
        for place in range(places):
            order |= search.best[place] << (_PLACE * place)
        walk.known[2, at] = order
    return at


@inner
def gather(pairs, layout, walk, tally, known):  # type: ignore[no-untyped-def]
    """Counts the vertices beside the set by word, adds up their degrees, and counts the edges between them, each by
    itself. Returns how many looks that took."""
    places = layout.size - 2
    base, order = walk.known[1, known], walk.known[2, known]
    first, second = layout.positions[places], layout.positions[places + 1]
    top = second + layout.colour_bits + places * layout.state_bits
    looks = walk.ends[places]
    for index in range(walk.ends[places]):
        vertex = walk.beside[index]
        mark = walk.marks[vertex]
        if mark >= MEMBER:
            continue
        place = place_of(layout, walk, pairs.colours[vertex] | (mark << layout.colour_bits), order)
        walk.sizes[place] += 1
        for entry in range(pairs.degree_offsets[vertex], pairs.degree_offsets[vertex + 1]):
            walk.sums[place, pairs.degree_kinds[entry]] += pairs.degrees[entry]
        for entry in range(pairs.offsets[vertex], pairs.offsets[vertex + 1]):
            other = pairs.neighbours[entry]
            if other >= vertex:
                break
            looks += 1
            mark = walk.marks[other]
            if mark > 0 and mark < MEMBER:
                second_place = place_of(layout, walk, pairs.colours[other] | (mark << layout.colour_bits), order)
                low, high, state = walk.forms[place], walk.forms[second_place], np.int64(pairs.states[entry])
                if low > high:
                    low, high, state = high, low, np.int64(turned(layout, state))
                add(tally, base | (low << first) | (high << second) | (state << top), 1)
    return looks


@inlined
def place_of(layout, walk, word, order):  # type: ignore[no-untyped-def]
    """The place of a word, which gets one where it has none."""
    place = np.int64(walk.slots[word])
    if place < 0:
        place = walk.state[MET]
        walk.state[MET] = place + 1
        walk.slots[word], walk.words[place], walk.sizes[place] = place, word, 0
        walk.forms[place] = in_order(layout, np.int64(word), order)
    return place


@inlined
def in_order(layout, word, order):  # type: ignore[no-untyped-def]
    """A word as it is beside the set in another order."""
    full = (np.int64(1) << layout.state_bits) - 1
    form, states = word & ((np.int64(1) << layout.colour_bits) - 1), word >> layout.colour_bits
    for place in range(layout.size - 2):
        own = (order >> (_PLACE * place)) & ((1 << _PLACE) - 1)
        form |= ((states >> (own * layout.state_bits)) & full) << (layout.colour_bits + place * layout.state_bits)
    return form


@inner
def count_beside(pairs, layout, walk, tally, base):  # type: ignore[no-untyped-def]
    """Counts what two vertices beside the set make with it, as if they had no edge, and one with another behind it;
    clears what was gathered. Returns how many looks that took."""
    met = walk.state[MET]
    first, second = layout.positions[layout.size - 2], layout.positions[layout.size - 1]
    for one in range(met):
        form, size = walk.forms[one], walk.sizes[one]
        walk.slots[walk.words[one]] = -1
        if size > 1:
            add(tally, base | (form << first) | (form << second), size * (size - 1) // 2)
        for other in range(one):
            low, high = min(form, walk.forms[other]), max(form, walk.forms[other])
            add(tally, base | (low << first) | (high << second), size * walk.sizes[other])
        count_behind(pairs, layout, walk, tally, one, base)
    return met * met


@inlined
def count_behind(pairs, layout, walk, tally, one, base):  # type: ignore[no-untyped-def]
    """Counts the vertices that are beside those of a word, and not of the set; clears their sums."""
    places = layout.size - 2
    word = walk.words[one]
    code = base | (walk.forms[one] << layout.positions[places])
    full, second = (np.int64(1) << layout.state_bits) - 1, layout.positions[places + 1]
    top = second + layout.colour_bits + places * layout.state_bits
    for place in range(places):  # their edges to the set itself
        state = (word >> (layout.colour_bits + place * layout.state_bits)) & full
        if state:
            colour = np.int64(pairs.colours[walk.members[place]])
            kind = pairs.kind_of[colour | (turned(layout, state) << layout.colour_bits)]
            walk.sums[one, kind] -= walk.sizes[one]
    for kind in range(pairs.kinds_met[0]):
        number = walk.sums[one, kind]
        if number:
            colour = np.int64(pairs.kinds[kind]) & ((np.int64(1) << layout.colour_bits) - 1)
            state = np.int64(pairs.kinds[kind]) >> layout.colour_bits
            add(tally, code | (colour << second) | (state << top), number)
            walk.sums[one, kind] = 0
