"""How unlikely counts are among those of random graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.records import record

_AT_ONCE = 1 << 20  # counts: there may be more than memory has room for

Numbers = NDArray[np.float64]


@record(frozen=True, slots=True)
class Significance:
    """By class, float64; NaN where random graphs tell nothing. mean, deviation (of a sample, divisor n - 1); z: the
    distance from the mean in deviations, NaN where that is 0; p: (r + 1) / (n + 1) where r of n random graphs have as
    many or more (North, Curtis and Sham, Am. J. Hum. Genet. 71, 2002); adjusted: p for as many tests as classes
    (Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995)."""

    mean: Numbers
    deviation: Numbers
    z: Numbers
    p: Numbers
    adjusted: Numbers


def significance(counts: NDArray[np.int64], random: NDArray[np.int64]) -> Significance:
    """counts int64[classes]; random int64[graphs, classes]."""
    graphs = len(random)
    unknown = np.full(len(counts), np.nan)
    if not graphs:
        return Significance(unknown, unknown, unknown, unknown, unknown)
    mean, deviation, p = np.empty_like(unknown), unknown.copy(), np.empty_like(unknown)
    step = max(1, _AT_ONCE // graphs)
    for part in (slice(begin, begin + step) for begin in range(0, len(counts), step)):
        chance = random[:, part]
        mean[part] = chance.mean(axis=0)
        if graphs > 1:
            deviation[part] = chance.std(axis=0, ddof=1)
        p[part] = ((chance >= counts[part]).sum(axis=0) + 1) / (graphs + 1)
    z = np.divide(counts - mean, deviation, out=unknown, where=deviation > 0)
    return Significance(mean, deviation, z, p, adjusted(p))


def adjusted(p: Numbers) -> Numbers:
    """The share of false discoveries to expect if all of this p or less were called significant."""
    order = np.argsort(p)[::-1]
    shares = p[order] * len(p) / np.arange(len(p), 0, -1)
    result = np.empty(len(p))
    result[order] = np.minimum.accumulate(shares) if len(p) else shares
    return result
