"""What the reads are asked with: people of middling many friends, and tags, places and days that give some rows."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from benchmarks.ldbc.network import FIRST, Network
from benchmarks.lsqb.generate import SEED

PERSON = ("Person",)


def parameters_of(network: Network, people: int) -> list[dict[str, Any]]:
    """So many sets of all parameters, the same each time."""
    random = np.random.default_rng([SEED, people])
    knows = network.edges[PERSON, "KNOWS", PERSON]
    friends = np.bincount(np.concatenate([knows["source"].to_numpy(), knows["target"].to_numpy()]))
    low, high = np.quantile(friends, [0.5, 0.9])
    known = np.flatnonzero((friends >= low) & (friends <= high))
    return [
        {
            "personId": int(person),
            "person1Id": int(person),
            "person2Id": int(other),
            "firstName": FIRST[number % 5],
            "tagName": f"Tag {number % 5 + 1}",
            "tagClassName": f"TagClass {number % 3}",
            "countryX": f"Country {number % 4}",
            "countryY": f"Country {number % 4 + 1}",
            "countryName": f"Country {number % 4}",
            "workFromYear": 2008 + number % 4,
            "month": number % 12 + 1,
            "startDate": datetime.datetime(2011, 3, 1) + datetime.timedelta(days=40 * (number % 5)),
            "endDate": datetime.datetime(2011, 10, 1) + datetime.timedelta(days=40 * (number % 5)),
            "minDate": datetime.datetime(2011, 9, 1),
            "maxDate": datetime.datetime(2012, 1, 1) + datetime.timedelta(days=30 * (number % 5)),
        }
        for number, (person, other) in enumerate(random.choice(known, (people, 2), replace=False))
    ]
