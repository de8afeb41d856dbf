"""Problems that differ in the numbers of their vertices only have as many matches, and are counted once for all.

Inclusion and exclusion makes many of them: of the ways in which two vertices of a bow tie can be one, most are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from gquery.planner.ir.problem import Constraints, Problem
from gquery.planner.search.alike.asked import Asked, asked_of
from gquery.planner.search.alike.automorphisms import Automorphism
from gquery.planner.search.alike.symmetry import Symmetry
from gquery.records import replace
from gquery.stopping import Check


def combined(problems: Sequence[Problem], asked: Asked, kept: frozenset[int], check: Check) -> Sequence[Problem]:
    """Of problems that are alike the first, with the coefficients of all; none whose coefficients cancel each other.
    asked: by filters of the query's vertices; those of which not the same was asked have other candidates. kept: the
    query's vertices that are listed, which are alike only each other."""
    sizes = Counter(map(_size, problems))
    if len(sizes) == len(problems):
        return problems
    found: dict[Hashable, list[Problem]] = {}
    for problem in problems:
        check()
        size = _size(problem)
        alike = found.setdefault((size, _look(problem, asked, kept) if sizes[size] > 1 else None), [])
        for place, other in enumerate(alike):
            if problem.key == other.key or _are_alike(other, problem, asked, kept, check):
                alike[place] = replace(other, coefficient=other.coefficient + problem.coefficient)
                break
        else:
            alike.append(problem)
    return tuple(problem for alike in found.values() for problem in alike if problem.coefficient)


def _size(problem: Problem) -> Hashable:
    graph, constraints = problem.graph, problem.constraints
    tests = len(constraints.different), len(constraints.different_pairs), len(constraints.absent)
    return len(graph.vertices), len(graph.edges), tests


def _look(problem: Problem, asked: Asked, kept: frozenset[int]) -> Hashable:
    """What the vertices of problems have in common that are alike."""
    graph = problem.graph
    vertices = Counter(
        (
            vertex.tables,
            asked_of(problem.merged[vertex.index], asked),
            kept.intersection(problem.merged[vertex.index]),
            frozenset(Counter((edge.relation, edge.direction(vertex.index)) for edge in edges).items()),
        )
        for vertex, edges in zip(graph.vertices, graph.incident, strict=True)
    )
    return frozenset(vertices.items())


def _are_alike(one: Problem, other: Problem, asked: Asked, kept: frozenset[int], check: Check) -> bool:
    """Whether an automorphism of both side by side makes one of the other. Where one is too hard to find, and where
    parts or comparisons tell vertices apart, they are taken to be different."""
    if any(problem.comparisons or problem.graph.parts for problem in (one, other)):
        return False
    both = _side_by_side(one, other)
    symmetry = Symmetry(both, check, [(asked_of(group, asked), kept.intersection(group)) for group in both.merged])
    size = len(one.graph.vertices)
    first, second = symmetry.colours[:size], symmetry.colours[size:]
    if symmetry.is_trivial or sorted(first) != sorted(second):
        return False
    images = (size + place for place, colour in enumerate(second) if colour == first[0])
    return any(_leads_over(symmetry.taking(0, image, check), size) for image in images)


def _leads_over(found: Automorphism | None, size: int) -> bool:
    """Whether all the vertices of the first problem go to those of the second."""
    return found is not None and all(found.get(vertex, vertex) >= size for vertex in range(size))


def _side_by_side(one: Problem, other: Problem) -> Problem:
    """Two problems of one query as one."""
    size, count = len(one.graph.vertices), len(one.graph.edges)
    vertices = (replace(vertex, index=vertex.index + size) for vertex in other.graph.vertices)
    edges = (
        replace(edge, index=edge.index + count, source=edge.source + size, target=edge.target + size)
        for edge in other.graph.edges
    )
    graph = replace(one.graph, vertices=(*one.graph.vertices, *vertices), edges=(*one.graph.edges, *edges))
    moved = other.constraints.renumbered(_shifted(other.graph.vertices, size), _shifted(other.graph.edges, count))
    assert moved is not None, "different vertices stay different"
    return Problem(
        graph,
        _joined(one.constraints, moved),
        (),
        (*one.merged, *other.merged),
        (*one.edges, *other.edges),
    )


def _shifted(elements: Sequence[object], by: int) -> dict[int, int]:
    return {number: number + by for number in range(len(elements))}


def _joined(one: Constraints, other: Constraints) -> Constraints:
    return Constraints(
        one.different | other.different,
        one.apart | other.apart,
        (*one.different_pairs, *other.different_pairs),
        (*one.absent, *other.absent),
        (*one.loopless, *other.loopless),
        (*one.choices, *other.choices),
    )
