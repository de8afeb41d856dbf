"""Some of the broken files of every run; `make fuzz` tries many more."""

from __future__ import annotations

import os

from tests.conftest import patience
from tests.fuzz.files import FIRST, SECONDS, run_cases

COUNT = 5000 if os.environ.get("GQUERY_SLOW") else 400


def test_broken_files() -> None:
    print(f"{COUNT} broken files from seed {FIRST}")
    wrong = run_cases(FIRST, COUNT, 4 * SECONDS * patience())
    assert not wrong, "\n".join(wrong)
