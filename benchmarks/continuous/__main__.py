"""Standing patterns: `python -m benchmarks.continuous [streams | feed | tenth]`.

`streams --data DATA [--graph NAME] [--stream NAME] [--cut N] [--device gpu]`, which is what is done where nothing is
named: two graphs that change, beside the times of RapidFlow; the exit code is 1 where a count is wrong.
`feed [--scale 1.0] [--first N]`: single edges on a graph of LiveJournal's size, from one of its edges on.
`tenth [--scale 1.0] [--queries 3] [--device gpu]`: a tenth of its edges at once, beside the times that GAMMA has
published.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.continuous import feed, streams, tenth

_DEVICES = ("cpu", "gpu", "auto")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    of_streams = kinds.add_parser("streams")
    of_streams.add_argument("--data", type=Path, required=True)
    of_streams.add_argument("--graph", choices=streams.GRAPHS, action="append")
    of_streams.add_argument("--stream", choices=streams.STREAMS, action="append")
    of_streams.add_argument("--cut", type=int, action="append")
    of_streams.add_argument("--device", choices=_DEVICES, default="cpu")
    of_feed = kinds.add_parser("feed")
    of_feed.add_argument("--scale", type=float, default=1.0)
    of_feed.add_argument("--edges", type=int, default=1000)
    of_feed.add_argument("--first", type=int, default=0)
    of_tenth = kinds.add_parser("tenth")
    of_tenth.add_argument("--scale", type=float, default=1.0)
    of_tenth.add_argument("--queries", type=int, default=3)
    of_tenth.add_argument("--device", choices=_DEVICES, default="cpu")
    given = sys.argv[1:]
    asked = parser.parse_args(given if given and not given[0].startswith("--") else ["streams", *given])
    if asked.kind == "feed":
        feed.run(asked.scale, asked.edges, asked.first)
    elif asked.kind == "tenth":
        if asked.device != "cpu":
            tenth.run(asked.scale / 50, 1, asked.device)  # for the card's kernels to be compiled
        tenth.run(asked.scale, asked.queries, asked.device)
    else:
        named = asked.graph or streams.GRAPHS, asked.stream or streams.STREAMS, asked.cut or streams.CUTS
        return 0 if streams.run(streams.Place(asked.data / "continuous", asked.device), *named) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
