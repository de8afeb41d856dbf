"""docs/functions.md is what the table of functions says; its examples are true. GQUERY_GOLDEN=write writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gquery
from gquery.planner.ir.functions.scalars import SCALARS
from tests.docs.functions_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "functions.md"
EXAMPLES = sorted(scalar.example for scalar in SCALARS.values() if scalar.example)


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("GQUERY_GOLDEN") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_true(example: str) -> None:
    graph = gquery.from_arrow(vertices={"Node": {"id": [1]}}, edges={})
    assert graph.query(f"RETURN {example}").scalar() is True
