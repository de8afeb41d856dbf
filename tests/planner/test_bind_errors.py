"""What a user reads when a name or a clause cannot be bound: `bind_errors.golden` holds each query and its error.

Run this file as a module to write the golden file anew from the queries in it; a new query is added as a `>` line.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gquery.errors import GQueryError
from gquery.grammar import parse
from gquery.planner.binding.clauses import bind
from gquery.storage.schema import Schema
from tests.planner.town import town

GOLDEN = Path(__file__).with_name("bind_errors.golden")


@cache
def schema() -> Schema:
    return town().schema


def error_of(query: str) -> GQueryError:
    with pytest.raises(GQueryError) as caught:
        bind(parse(query), schema(), {}, "different edges")
    return caught.value.with_text(query)


def golden() -> list[tuple[str, str]]:
    blocks = GOLDEN.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return [(query.removeprefix("> "), message) for query, _, message in (block.partition("\n") for block in blocks)]


@pytest.mark.parametrize(("query", "message"), golden())
def test_golden(query: str, message: str) -> None:
    error = error_of(query)
    assert str(error) == message
    assert error.span is not None


if __name__ == "__main__":
    GOLDEN.write_text("\n\n".join(f"> {q}\n{error_of(q)}" for q, _ in golden()) + "\n", encoding="utf-8")
