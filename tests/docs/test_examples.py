"""The examples run as a newcomer would run them, and print what their stories promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(name: str, folder: Path) -> str:
    """What an example prints, run in an empty folder."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(table: str) -> list[list[str]]:
    """The cells of a printed table, without its two header lines."""
    lines = [line for line in table.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines[2:]]


def test_fraud_rings(tmp_path: Path) -> None:
    text = run("fraud_rings.py", tmp_path)
    threes, fours, devices = (rows(part) for part in re.split(r"Rings of four|Devices by", text))
    assert len(threes) >= 6  # the planted ones, and maybe one by chance
    assert len(fours) >= 6
    assert {row[0] for row in devices} & {row[0] for row in fours}
    assert all(int(sent) > int(back) for *_, sent, back in threes)


def test_payment_rings(tmp_path: Path) -> None:
    text = run("payment_rings.py", tmp_path)
    closed, opened = map(int, re.findall(r"(\d+) rings have closed, (\d+)", text)[0])
    new, before, now = map(int, re.findall(r"(\d+) new rings; there were (\d+), and there are (\d+)", text)[0])
    assert closed > opened > 0
    assert text.count("version ") > 3
    assert now - before == new == closed - opened


def test_recommendations(tmp_path: Path) -> None:
    text = run("recommendations.py", tmp_path)
    together, suggested, friends = (rows(part) for part in re.split(r"For customer 42|Pairs of friends", text))
    assert len(together) == len(suggested) == len(friends) == 5
    assert all(float(price) < 40 for *_, price in suggested)
    assert all(one < two for one, two, *_ in together)


def test_protein_motifs(tmp_path: Path) -> None:
    text = run("protein_motifs.py", tmp_path)
    parts = re.split(r"Whose genes|Patterns of three with|The genes that most|Chains of three", text)
    motifs, loops, coloured, reached, modes = (rows(part) for part in parts)
    assert "connected subgraphs of" in text
    assert len(motifs) == 4
    assert all(float(count) > 2 * float(mean) for _, count, mean, *_ in motifs)
    assert [int(genes) for *_, genes in loops] == sorted((int(genes) for *_, genes in loops), reverse=True)
    assert int(loops[0][2]) >= 3  # master and helper were given four genes together, of which some are the same
    assert coloured[0][0] == "[Factor, Factor, Gene]"
    assert len(reached) == 5
    assert (tmp_path / "motifs.html").read_text(encoding="utf-8").count("<svg") > 2
    counts = [int(count) for *_, count in modes]
    assert counts == sorted(counts, reverse=True)  # each mode allows less than the one before
    assert len(set(counts)) == 4


def test_demo(tmp_path: Path) -> None:
    text = run("demo.py", tmp_path)
    assert re.search("labels: .*Actor", text)
    assert "Scan (" in text
    assert "opened in" in text
    assert (tmp_path / "demo_data" / "films.gq" / "gquery.json").is_file()


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_every_example_is_listed(script: str) -> None:
    assert f"({script})" in (EXAMPLES / "README.md").read_text()
