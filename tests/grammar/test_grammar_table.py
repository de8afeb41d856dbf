"""The table of the parser is made once and kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gquery.grammar import table

ASK = """
import sys
from gquery.grammar.parser import parse
parse("MATCH (a)-->(b) RETURN a, b")
print("lark" in sys.modules)
"""


def test_the_kept_table_is_the_one_that_lark_makes() -> None:
    """But for the numbers that Lark gives to states and rules, which are others in every process."""
    kept, made = table.read_table(), json.loads(json.dumps(table.make_table()))
    for part in ("rules", "symbols", "terminals", "ignored"):
        assert sorted(kept[part], key=repr) == sorted(made[part], key=repr)
    assert sorted(sorted(row) for row in _named(kept)) == sorted(sorted(row) for row in _named(made))


def _named(found: table.Table) -> list[list[str]]:
    """What can come in each state."""
    return [[found["symbols"][int(symbol)] for symbol in row] for row in found["states"]]


def test_a_later_process_needs_no_lark() -> None:
    table.read_table()
    answer = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe"])
def test_a_damaged_table_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    monkeypatch.setattr(table, "folder_for", lambda _: tmp_path / "kept")
    table.read_table()
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(damage)
    made = json.loads(json.dumps(table.read_table()))
    assert table.read_table() == json.loads(kept.read_bytes()) == made


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(table, "folder_for", lambda _: tmp_path / "file")
    assert len(table.read_table()["states"]) == len(table.read_table()["states"])
