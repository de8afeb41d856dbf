"""Every Python block of README.md and of the pages in docs/ runs: those of one page in turn, in one namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gquery.integrations.duckdb.native import extension

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if page.is_file()]

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": page.stem}
    for line, code in snippets(page):
        if "gquery.connect(" in code and not extension.LIBRARY.exists():
            pytest.skip("from here on the page needs the native DuckDB function, which was not built")
        # Empty lines before the code: a traceback then shows the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


def snippets(page: Path) -> Iterator[tuple[int, str]]:
    """(line before the code, code) of every Python block."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        yield text.count("\n", 0, block.start(1)), block[1]
