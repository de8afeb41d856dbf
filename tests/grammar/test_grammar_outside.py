"""Queries written by others: the benchmark's and those of openCypher's conformance scenarios."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gquery.errors import ParseError, UnsupportedError
from gquery.grammar import parse, unparse


def test_benchmark_queries(shared_data: Path) -> None:
    files = sorted((shared_data / "lsqb" / "queries").glob("*.cypher"))
    assert len(files) == 9
    for file in files:
        tree = parse(file.read_text(encoding="utf-8"))
        assert parse(unparse(tree)) == tree


def scenarios(feature: Path) -> Iterator[tuple[str, str, bool]]:
    """Name, query and whether a syntax error is expected; an outline gives one for each row of its examples."""
    for block in re.split(r"\n\s*Scenario(?: Outline)?: ", feature.read_text(encoding="utf-8"))[1:]:
        body, _, examples = block.partition("Examples:")
        name = f"{feature.stem} {body.splitlines()[0]}"
        rows = [
            re.split(r"(?<!\\)\|", row.strip())[1:-1] for row in examples.splitlines() if row.strip().startswith("|")
        ]
        for query in re.findall(r'executing query:\s*"""(.*?)"""', body, re.DOTALL):
            for values in rows[1:] or [[]]:
                filled = query
                for title, value in zip(rows[0] if rows else [], values, strict=True):
                    filled = filled.replace(f"<{title.strip()}>", value.strip().replace("\\|", "|"))
                yield name, filled, "SyntaxError should be raised" in body


def test_conformance_queries(shared_data: Path) -> None:
    features = sorted((shared_data.parent / "tck" / "features").glob("**/*.feature"))
    if not features:
        pytest.skip("the conformance scenarios (../shared/tck) are not here")
    refused = []
    for feature in features:
        for name, query, wrong in scenarios(feature):
            try:
                tree = parse(query)
            except UnsupportedError:
                continue
            except ParseError as error:
                if not wrong:
                    refused.append(f"{name}\n{error}")
            else:
                assert parse(unparse(tree)) == tree, name
    assert not refused, "\n".join(refused)
