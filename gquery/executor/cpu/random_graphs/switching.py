"""Random graphs by switching: a chain of small changes, of which each leaves every vertex its degrees.

An attempt picks a link, and another of its group: a->b and c->d become a->d and c->b. Where one leads to where the
other begins and a third closes a triangle of arcs, the triangle is turned round instead: without that, some graphs are
never reached (Rao, Jana and Bandyopadhyay, Sankhya A 58, 1996). An attempt that is not allowed leaves the graph as it
is and counts: only so are all graphs equally likely in the end. Each change is as likely as the one that undoes it.
"""

from __future__ import annotations

from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.random_graphs.chance import below
from gquery.executor.cpu.random_graphs.links import drop_link, find, is_free, put_link


@kernel
def switch(links, places, chance, attempts):  # type: ignore[no-untyped-def]
    """Makes so many attempts. Returns how many changed the graph."""
    changed = 0
    for _ in range(attempts):
        one = below(chance, len(links.tails))
        group = links.groups[one]
        begin = links.begins[group]
        other = begin + below(chance, links.begins[group + 1] - begin)
        if one == other:
            continue
        a, b, c, d = links.tails[one], links.heads[one], links.tails[other], links.heads[other]
        if links.turnable[group] and below(chance, 2):
            c, d = d, c
        if b == c and not links.symmetric[group]:
            changed += turn_triangle(links, places, one, other)
            continue
        type = links.types[one]
        if a == c or b == d or not is_free(links, places, type, a, d) or not is_free(links, places, type, c, b):
            continue
        drop_link(links, places, one)
        drop_link(links, places, other)
        links.heads[one] = d
        links.tails[other], links.heads[other] = c, b
        put_link(links, places, one)
        put_link(links, places, other)
        changed += 1
    return changed


@inlined
def turn_triangle(links, places, one, other):  # type: ignore[no-untyped-def]
    """Turns a->b, b->c, c->a round where the third is an arc of the same group and nothing is in the way: 1 or 0."""
    a, b, c, type = links.tails[one], links.heads[one], links.heads[other], links.types[one]
    third = find(links, places, type, c, a)
    if third < 0 or links.groups[third] != links.groups[one]:
        return 0
    for tail, head in ((b, a), (c, b), (a, c)):
        if find(links, places, type, tail, head) >= 0:
            return 0
    for link in (one, other, third):
        drop_link(links, places, link)
    for link in (one, other, third):
        links.tails[link], links.heads[link] = links.heads[link], links.tails[link]
        put_link(links, places, link)
    return 1
