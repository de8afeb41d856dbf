"""A small coloured graph as one number.

The vertices of a subgraph have places 0, 1, ... Each place is a word: the colour of its vertex, then the state of the
pair that it makes with every place before. The words side by side are the code. A state holds a bit for each edge type:
for directed graphs those from the earlier place to the later, and above these those back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.errors import UnsupportedError

SMALLEST, LARGEST = 3, 8  # vertices of a subgraph
_CODE_BITS = 63
_WORD_BITS = 22  # of what is known of a vertex beside a subgraph: tables have an entry for every word


class Layout(NamedTuple):
    """size: vertices of a subgraph. types: edge types. directed: 0 or 1. state_bits: of a pair. colour_bits: of a
    vertex. positions int64[size + 1]: the first bit of the word of each place, and the number of all bits."""

    size: int
    types: int
    directed: int
    state_bits: int
    colour_bits: int
    positions: NDArray[np.int64]


def layout_of(size: int, types: int, colours: int, directed: bool) -> Layout:
    """The layout of subgraphs of so many vertices. Raises UnsupportedError where they have no code of 63 bits."""
    if not SMALLEST <= size <= LARGEST:
        raise UnsupportedError(f"motifs have {SMALLEST} to {LARGEST} vertices, not {size}")
    state_bits = 2 * types if directed else types
    colour_bits = (colours - 1).bit_length()
    lengths = [colour_bits + place * state_bits for place in range(size)]
    positions = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if positions[-1] > _CODE_BITS or colour_bits + max(1, size - 2) * state_bits > _WORD_BITS:
        raise UnsupportedError(
            f"{colours} colours of vertices and {types} of edges are too many for motifs of {size} vertices",
            hint="choose fewer labels and types, leave the colours out, or make the motifs smaller",
        )
    return Layout(size, types, int(directed), state_bits, colour_bits, positions)
