"""What is kept for groups while values are added up."""

from __future__ import annotations

import numpy as np
import pytest

from gquery.errors import ExecutionError, Span
from gquery.executor.cpu.kernels.lists.tally import SUM
from gquery.executor.relational.codes import measured
from gquery.planner.ir.expr import INTEGER, Aggregate, Attribute, Column


def test_a_sum_of_more_than_64_bits_is_an_error() -> None:
    one = measured._Measure(SUM, "k", 0, 10, np.ones(10, np.int64), 1 << 40)
    kept = measured._Kept([one], 1)
    kept.counts[0], kept.high[0, 0] = 1, 1 << 31
    argument = Column(INTEGER, Span(0, 1), "k", Attribute.PROPERTY, "w")
    total = Aggregate(INTEGER, Span(0, 1), "sum", argument, False)
    with pytest.raises(ExecutionError, match="more than 64 bits"):
        kept.value(total, 0, np.array([0]))
