"""Odd query texts for some seconds. The long version is `make fuzz`."""

from __future__ import annotations

import os

import pytest

from tests.conftest import patience
from tests.fuzz.queries import LONGEST, Worker, wrong_texts
from tests.fuzz.texts import Text, text_at

SEED = 1
SECONDS = 600.0 if os.environ.get("GQUERY_SLOW") else 6.0


def test_odd_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.queries.LONGEST", LONGEST * patience())
    print(f"seed {SEED}")
    found = list(wrong_texts(SEED, 200_000, 1, SECONDS))
    assert not found, "\n".join(f"{wrong.what}: {repr(wrong.text)[:500]}" for wrong in found)


def test_texts_depend_on_the_seed_alone() -> None:
    one, again, other = ([text_at(seed, number).text for number in range(50)] for seed in (SEED, SEED, SEED + 1))
    assert one == again
    assert one != other


def test_a_process_that_dies_or_hangs_names_its_text_and_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker()
    try:
        worker.process.kill()
        died = worker.ask(Text("RETURN 1"))
        assert worker.ask(Text("RETURN 1")) is None
        monkeypatch.setattr("tests.fuzz.queries.LONGEST", 0.0)
        hung = worker.ask(Text("UNWIND range(1, 1000000) AS x RETURN sum(x * x)"))
    finally:
        worker.end()
    assert died is not None
    assert died.text.text == "RETURN 1"
    assert "died" in died.what
    assert hung is not None
    assert "no answer" in hung.what
