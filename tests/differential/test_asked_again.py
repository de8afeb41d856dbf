"""Random queries asked again and again of one graph, by turns: what stands by for the next run changes no answer."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from gquery.storage import idle
from tests.differential.build import found_rows, to_gquery
from tests.differential.judged import matched
from tests.differential.test_random import FUZZ, cases

TIMES = 4


@pytest.mark.parametrize("most", [1 << 18, 1 << 26])
@pytest.mark.parametrize("chunk", range(3))
def test_by_turns(chunk: int, most: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "DEFAULT_MOST", most)
    for seed in range(chunk * 5 * FUZZ, (chunk + 1) * 5 * FUZZ):
        data, queries = matched(seed, cases)
        graphs = [to_gquery(data).with_settings(threads=threads) for threads in (1, 2)]
        graphs.append(graphs[0].with_settings(threads=2))
        turns = list(product(graphs, queries, (None, "1GB"))) * TIMES
        Random(seed).shuffle(turns)
        for graph, (query, expected), limit in turns:
            text = f"{query.body} RETURN {query.returned}"
            told = f"seed {seed}: {text} {query.parameters}\n{data}"
            asked = graph.query(text, query.parameters, mode=query.mode, device=device, memory_limit=limit)
            assert found_rows(asked) == expected, told
            query.compare_count(graph, device, told)
