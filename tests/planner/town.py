"""The graph that plans are made for: small, always the same, with everything that changes a plan."""

from __future__ import annotations

import numpy as np

from gquery import Graph, from_arrow

PEOPLE, CITIES, COMPANIES = 400, 8, 20


def town() -> Graph:
    """400 people who know each other (a simple graph), call each other (parallel edges) and live in 8 cities."""
    people = {
        "id": list(range(PEOPLE)),
        "name": [f"person {number}" for number in range(PEOPLE)],
        "age": [18 + number * 7 % 60 for number in range(PEOPLE)],
    }
    cities = {"id": list(range(CITIES)), "name": [f"city {number}" for number in range(CITIES)]}
    companies = {"id": list(range(COMPANIES)), "name": [f"company {number}" for number in range(COMPANIES)]}
    step = np.arange(PEOPLE)
    friends = [(step, (step + distance) % PEOPLE) for distance in (1, 2, 8)]
    calls = [(step, step // 10 * 10), (step, step // 10 * 10), (step, (step * 3 + 1) % PEOPLE)]
    return from_arrow(
        vertices={"Person": people, "City": cities, "Company": companies},
        edges={
            ("Person", "KNOWS", "Person"): _table(friends) | {"since": [2000 + n % 20 for n in range(3 * PEOPLE)]},
            ("Person", "CALLED", "Person"): _table(calls) | {"minutes": [n % 30 for n in range(3 * PEOPLE)]},
            ("Person", "LIVES_IN", "City"): _table([(step, step % CITIES)]),
            ("Person", "WORKS_AT", "Company"): _table([(step[::2], step[::2] % COMPANIES)]),
            ("Company", "BASED_IN", "City"): _table([(np.arange(COMPANIES), np.arange(COMPANIES) % CITIES)]),
        },
    )


def _table(parts: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, list[int]]:
    source, target = (np.concatenate(ends).tolist() for ends in zip(*parts, strict=True))
    return {"source": source, "target": target}
