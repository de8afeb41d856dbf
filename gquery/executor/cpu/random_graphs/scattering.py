"""Random graphs that begin from nothing: ends joined at random, and links put anywhere."""

from __future__ import annotations

from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.random_graphs.chance import below
from gquery.executor.cpu.random_graphs.links import is_free, put_link


@kernel
def join_stubs(links, places, chance):  # type: ignore[no-untyped-def]
    """Joins all ends of a group at random. A loop or a link beside another is left out; returns how many are left:
    these are the first. The table must be empty."""
    for group in range(len(links.symmetric)):
        begin, end = links.begins[group], links.begins[group + 1]
        turnable = links.turnable[group]
        stubs = 2 * (end - begin) if turnable else end - begin
        for left in range(stubs, 1, -1):
            exchange(links, begin, left - 1, below(chance, left), turnable)
    kept = 0
    for link in range(len(links.tails)):
        tail, head, type = links.tails[link], links.heads[link], links.types[link]
        if is_free(links, places, type, tail, head):
            links.tails[kept], links.heads[kept], links.types[kept] = tail, head, type
            links.groups[kept] = links.groups[link]
            put_link(links, places, kept)
            kept += 1
    return kept


@inlined
def exchange(links, begin, one, other, turnable):  # type: ignore[no-untyped-def]
    """Exchanges two ends of a group: heads, or where links may be turned any, tails being the odd ones."""
    if not turnable:
        one, other = 2 * one, 2 * other
    first, second = begin + (one >> 1), begin + (other >> 1)
    here = links.tails[first] if one & 1 else links.heads[first]
    there = links.tails[second] if other & 1 else links.heads[second]
    if one & 1:
        links.tails[first] = there
    else:
        links.heads[first] = there
    if other & 1:
        links.tails[second] = here
    else:
        links.heads[second] = here


@kernel
def scatter(links, places, chance, painted):  # type: ignore[no-untyped-def]
    """Puts each link between any two vertices of its colours where none is. The table must be empty."""
    for group in range(len(links.symmetric)):
        begin, end = links.begins[group], links.begins[group + 1]
        tail_colour, head_colour = painted.colours[links.tails[begin]], painted.colours[links.heads[begin]]
        for link in range(begin, end):
            tail, head = any_of(chance, painted, tail_colour), any_of(chance, painted, head_colour)
            while not is_free(links, places, links.types[link], tail, head):
                tail, head = any_of(chance, painted, tail_colour), any_of(chance, painted, head_colour)
            links.tails[link], links.heads[link] = tail, head
            put_link(links, places, link)


@inlined
def any_of(chance, painted, colour):  # type: ignore[no-untyped-def]
    """A vertex of a colour."""
    begin, end = painted.begins[colour], painted.begins[colour + 1]
    return painted.vertices[begin + below(chance, end - begin)]
