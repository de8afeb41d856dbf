"""What is written on tapes: on a card all blocks of threads go through the operations together."""

from __future__ import annotations

from itertools import takewhile
from random import Random
from typing import NamedTuple

import pytest

from gquery.executor.devices import BACKENDS
from gquery.executor.gpu import tape
from gquery.executor.progress import Control
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, emulated
from tests.executor.test_gpu_orders import CLIQUES, PUSHED, skewed, written

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


class Operation(NamedTuple):
    name: str
    waits: bool
    words: list[int]


def operations(of: tape.Tape) -> list[Operation]:
    names = {number: name for name, number in tape._NAMES.items()}
    found, at = [], 0
    while at < of.here:
        name, waits, length = of._code[at : at + 3]
        found.append(Operation(names[name], bool(waits), of._code[at + 3 : at + length]))
        at += length
    return found


@pytest.mark.parametrize("way", ["pushed", "inside", "one by one", "as planned"])
def test_running_sums_are_waited_for(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks into running sums begins when all blocks have written theirs; a single block would not see it."""
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    started, seen = tape.Tape.start, []

    def start(self: tape.Tape, control: Control, modulus: int = 0) -> tape.Run:
        listed = operations(self)
        for place, each in enumerate(listed):
            if each.name == "RunningSums":
                beside = takewhile(lambda other: not other.waits, listed[place + 1 :])
                assert not [other.name for other in beside if each.words[0] in other.words]
                seen.append(each)
        return started(self, control, modulus)

    monkeypatch.setattr(tape.Tape, "start", start)
    graph = skewed(Random(3))
    for links in (CLIQUES | PUSHED).values():
        graph.query(written(links), device="gpu").scalar()
    assert seen
