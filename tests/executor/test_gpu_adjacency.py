"""Adjacencies that a card sorts itself, as long as the host has not built them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import gquery
from gquery.executor.gpu.resident import ResidentGraph, _arrays
from gquery.executor.memory import Budget
from gquery.planner.ir.relations import Types
from gquery.storage.schema import Direction
from tests.emulated.device import COMPILER, emulated_device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("count", [0, 1, 90])
def test_as_the_host_builds_it(direction: Direction, count: int) -> None:
    random = Random(count)
    ends = {name: [[random.randrange(3, 30) for _ in range(count)] for _ in range(2)] for name in "EF"}
    edges = {("V", name, "V"): {"source": one, "target": other} for name, (one, other) in ends.items()}
    snapshot = gquery.from_arrow(vertices={"V": {"id": list(range(40))}}, edges=edges).snapshot
    asked = Types(("E", "F")), direction, snapshot, Budget(None)
    assert not snapshot.has_adjacency(("E", "F"), direction)
    found = ResidentGraph(emulated_device(), lambda *_: None).adjacency(*asked)
    assert snapshot.has_adjacency(("E", "F"), direction) == (count == 0)
    built = snapshot.adjacency(("E", "F"), direction)
    copied = ResidentGraph(emulated_device(), lambda *_: None).adjacency(*asked)
    for rows in (found, copied):
        offsets, neighbours = _arrays(rows)
        assert (rows.first, rows.simple, rows.longest) == (built.first, built.simple, built.longest)
        for own, other in ((offsets, built.offsets), (neighbours, built.neighbours)):
            np.testing.assert_array_equal(own, other, strict=True)
