"""An integer column is one whose texts are as they would be printed, however else they may be read."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

from gquery.storage.load.text.values import canonical_integers

PRINTED = [
    "0",
    "7",
    "-7",
    "10",
    "99",
    "100",
    "-10",
    "999999999999999999",
    "1000000000000000000",
    str(2**63 - 1),
    str(-(2**63)),
    None,
]
OTHERS = [
    "-0",
    "00",
    "+7",
    "0x7",
    "0xFF",
    "0X1f",
    "0x7fffffffffffffff",
    "010",
    "-010",
    str(2**63),
    " 1",
    "1 ",
    "",
    "a",
    "1.0",
]


@pytest.mark.parametrize("texts", [*itertools.product(PRINTED, repeat=2)])
def test_printed(texts: tuple[str | None, ...]) -> None:
    found = canonical_integers(pa.chunked_array([pa.array(["x", *texts], pa.string()).slice(1), []], pa.string()))
    assert found is not None
    assert found.to_pylist() == [None if text is None else int(text) for text in texts]


@pytest.mark.parametrize("others", [*itertools.product(OTHERS, [None, *OTHERS])])
def test_others(others: tuple[str | None, ...]) -> None:
    for printed in (["1234567890"], ["-7", "10"], []):
        texts = [*printed, *others, *printed]
        assert canonical_integers(pa.chunked_array([pa.array(texts, pa.string())])) is None


def test_words_for_missing_values_do_not_count() -> None:
    """The bytes of a word stay where it has become null: such a column of an edge list was one of floats."""
    given = pa.array(["150", "NA", "7"])
    validity = pa.py_buffer(bytes([0b101]))
    masked = pa.StringArray.from_buffers(3, given.buffers()[1], given.buffers()[2], validity)
    found = canonical_integers(pa.chunked_array([masked, masked.slice(1)]))
    assert found is not None
    assert found.to_pylist() == [150, None, 7, None, 7]
