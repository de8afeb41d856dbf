"""A small reader of Gherkin: the feature files of the TCK as scenarios, outlines written out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Step:
    """`text` without Given/When/Then/And; `block` is the text between triple quotes; `table` has the header first."""

    text: str
    block: str = ""
    table: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Scenario:
    """`name` is `folder/Feature [number]`, with `#i` for row i of an outline's examples."""

    name: str
    steps: tuple[Step, ...]


def read_scenarios(folder: Path) -> Iterator[Scenario]:
    """All scenarios under `folder`, ordered by file."""
    for file in sorted(folder.rglob("*.feature")):
        yield from _read_feature(file, f"{file.parent.name}/{file.stem}")


def _read_feature(file: Path, prefix: str) -> Iterator[Scenario]:
    lines = file.read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(r"\s*Scenario( Outline)?:", line)]
    background = tuple(_read_steps(lines[: starts[0]]))
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        title = lines[start].split(":", 1)[1].strip()
        number = re.match(r"\[\d+\]", title)
        body, *examples = _split_examples(lines[start + 1 : end])
        scenario = Scenario(f"{prefix} {number[0] if number else title}", (*background, *_read_steps(body)))
        if not examples:
            yield scenario
        for index, values in enumerate(row for example in examples for row in _example_rows(example)):
            steps = tuple(_fill(step, values) for step in scenario.steps)
            yield Scenario(f"{scenario.name} #{index + 1}", steps)


def _split_examples(lines: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if re.match(r"\s*Examples:", line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _example_rows(lines: list[str]) -> Iterator[dict[str, str]]:
    header, *rows = [_cells(line) for line in lines if line.strip().startswith("|")]
    yield from (dict(zip(header, row, strict=True)) for row in rows)


def _read_steps(lines: list[str]) -> Iterator[Step]:
    step: Step | None = None
    block: list[str] | None = None
    for line in lines:
        text = line.strip()
        if text == '"""':
            if block is not None and step is not None:
                step = replace(step, block="\n".join(block))
            block = [] if block is None else None
        elif block is not None:
            block.append(line)
        elif text.startswith("|") and step is not None:
            step = replace(step, table=(*step.table, _cells(text)))
        elif keyword := re.match(r"(Given|When|Then|And|But) ", text):
            if step is not None:
                yield step
            step = Step(text[keyword.end() :])
    if step is not None:
        yield step


def _cells(line: str) -> tuple[str, ...]:
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def _fill(step: Step, values: dict[str, str]) -> Step:
    def fill(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda match: values.get(match[1], match[0]), text)

    table = tuple(tuple(fill(cell) for cell in row) for row in step.table)
    return Step(fill(step.text), fill(step.block), table)
