"""What statements are refused for before anything is written, in errors.golden: `>` a statement, then the error."""

from __future__ import annotations

from pathlib import Path

import pytest

import gquery
from tests.writing.test_statements import store

GOLDEN = Path(__file__).with_name("errors.golden")


def error_of(statement: str) -> gquery.GQueryError:
    written = store()
    with pytest.raises(gquery.GQueryError) as caught:
        written.execute(statement)
    assert written.version == 0
    return caught.value


def golden() -> list[tuple[str, str]]:
    blocks = GOLDEN.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return [(query.removeprefix("> "), message) for query, _, message in (block.partition("\n") for block in blocks)]


@pytest.mark.parametrize(("statement", "message"), golden())
def test_golden(statement: str, message: str) -> None:
    assert str(error_of(statement)) == message


if __name__ == "__main__":
    GOLDEN.write_text("\n\n".join(f"> {q}\n{error_of(q)}" for q, _ in golden()) + "\n", encoding="utf-8")
