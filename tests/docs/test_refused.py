"""What `docs/differences.md` says is refused: each example is, in those words, and the code refuses nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gquery
from gquery.grammar.refused import unsupported
from tests.planner.town import town

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("grammar", "planner", "executor/relational", "store")
_ROW = re.compile(r"^\| (?P<words>[^|]+?) \| (?:`(?P<example>.+)` )?\|$")


def _rows() -> list[tuple[str, str | None]]:
    text = (ROOT / "docs" / "differences.md").read_text()
    table = text.partition("## What is refused")[2].partition("\nBesides ")[0]
    found = (_ROW.match(line) for line in table.splitlines())
    return [(row["words"], row["example"]) for row in found if row is not None and row["words"] != "refused"]


@pytest.mark.parametrize(("words", "example"), [row for row in _rows() if row[1] is not None])
def test_examples_are_refused(words: str, example: str) -> None:
    store = gquery.Store(town())
    with pytest.raises(gquery.UnsupportedError) as caught:
        store.execute(example)
    assert caught.value.message.startswith(words)


def test_nothing_else_is_refused() -> None:
    listed = [words for words, _ in _rows()]
    unknown = [message for message in _refused() if not any(_are_alike(words, message) for words in listed)]
    assert not unknown
    assert all(any(_are_alike(words, message) for message in _refused()) for words in listed)


def _are_alike(words: str, message: str) -> bool:
    """Whether a message, in which an empty text stands for what is put in, begins with the words."""
    fixed = [re.escape(part) for part in message.split("\0")]
    whole = re.match(".*?".join(fixed), words)
    return whole is not None or message.replace("\0", "").startswith(words)


def _refused() -> Iterator[str]:
    """The messages in the code, with a zero for each part that is put in."""
    yield from (*unsupported._CLAUSES.values(), *unsupported._FUNCTIONS.values(), *unsupported._MADE.values())
    yield from (unsupported._SUBQUERY, unsupported._BRACKETED_PATH)
    for room in ROOMS:
        for path in sorted((ROOT / "gquery" / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UnsupportedError":
                    yield from _written(node.args[0])


def _written(message: ast.expr) -> Iterator[str]:
    if isinstance(message, ast.Constant):
        yield str(message.value)
    elif isinstance(message, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in message.values)
