"""Slices and rooms of the CPU backend do not change what is summed inside of neighbourhoods, or pushed."""

from __future__ import annotations

from typing import Any

import pytest

from gquery.executor.cpu.search import pack, packed
from gquery.executor.cpu.search.frames import memory
from tests.differential.test_neighbourhoods import PUSHED, WAYS, compare_near

CPU_WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "short slices": [*WAYS["inside, every order"], (memory, "_SLICE", 2)],
    "no room for most": [
        *WAYS["inside, every order"],
        (pack, "_INSIDE", 8 * (24 + packed.PLANES)),
        (memory, "_SLICE", 5),
    ],
    "pushed in short slices": [*PUSHED, (memory, "_SLICE", 2)],
    "no room for counters": [*PUSHED, (pack, "_counters", lambda *_: 0)],
    "no room": [*WAYS["inside, every order"], (pack, "_INSIDE", 0)],
}


@pytest.mark.parametrize("way", CPU_WAYS)
def test_rooms_and_slices_do_not_matter(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in CPU_WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    compare_near(way, "cpu")
