"""docs/life-of-a-query.md says what really happens. GQUERY_GOLDEN=write writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from tests.docs.life_of_a_query import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "life-of-a-query.md"


def test_the_page_is_up_to_date() -> None:
    found = page()
    if os.environ.get("GQUERY_GOLDEN") == "write":
        PAGE.write_text(found, encoding="utf-8")
    assert found == PAGE.read_text(encoding="utf-8")
