"""What a card takes: python -m benchmarks.gpu --data ../shared/data [--threads 16] [--scales 20 22 24] [--out FILE]

Patterns and labelled queries on the device and end to end, beside the CPU and the times that peers were recorded with;
rows on the device and as Arrow; R-MAT graphs; long counts on all cards. Every query is asked with texts not seen before
on a graph that is on the card already, and with one that is asked again; medians count. A count that is not the
published one ends the run.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import statistics
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.counting.suites import Case, cases, loaded
from benchmarks.gpu import cards, listing, rmat
from benchmarks.gpu.timing import Stopwatch, Taken

_SEED = 20
_REGRET = 1.2
_FIRST = 5  # times the timeout
_AGAIN = ", again"
_ON_CARDS = "EGSM", "gMatch"  # peers that were recorded on a card, with what they take from reading the graph on


def patterns(data: Path) -> Iterator[Case]:
    """P1 to P9 on three graphs."""
    small = list(cases("small", data))
    yield from small
    counts = {}
    with open(data / "bench" / "peers_h100_small_patterns.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["graph"] == "blogcatalog":
                best = [float(row[each]) for each in row if each.endswith("_ms") and _is_number(row[each])]
                counts[row["pattern"]] = (row["embeddings"], min(best, default=None))
    for case in small:
        if case.graph == "enron":
            count, best = counts[case.name]
            yield replace(
                case, graph="blogcatalog", data=data / "bench" / "blogcatalog" / "data.graph.gz",
                expected=int(count) if count.isdigit() else None, peers={"best": best},
            )  # fmt: skip


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def asked(case: Case, device: str, timeout: float, again: bool, run: int) -> int:
    """The count, which has to be the published one. The first run, which is not counted, may compile kernels. again: by
    the text of the runs before."""
    timeout *= _FIRST if run == 0 else 1
    graph = loaded(case.data, os.cpu_count() or 1)
    text = f"{case.text} // {device} {'again' if again else run}"
    count: int = graph.query(text, device=device, timeout=timeout).scalar()
    if case.expected is not None and count % 2**64 != case.expected:  # others count in 64 bits
        raise SystemExit(f"{case.graph} {case.name} on {device}: {count:,}, not {case.expected:,}")
    return count


@dataclass
class Row:
    """What one query takes on each device (None: not counted in time) by a new text, or by one that is asked `again`,
    and milliseconds of the peers that count it."""

    name: str
    again: bool
    taken: dict[str, Taken | None]
    peers: dict[str, float]

    def best(self, names: Collection[str]) -> float | None:
        """Of these peers."""
        return min((each for name, each in self.peers.items() if name in names), default=None)

    @property
    def whole(self) -> dict[str, float | None]:
        """Milliseconds from text to answer on each device."""
        return {device: each.whole if each else None for device, each in self.taken.items()}

    def regret(self) -> float | None:
        """How many times as long as the better device `auto` took."""
        auto = self.whole.get("auto")
        others = [each for device, each in self.whole.items() if device != "auto" and each is not None]
        return auto / min(others) if auto is not None and others else None


class Tables:
    """The tables, line by line."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.watch = Stopwatch()
        self.data: Path = chosen.data.resolve()
        self.runs: int = chosen.runs
        self.timeout: float = chosen.timeout
        self.devices: list[str] = chosen.devices

    def counted(self, found: Iterator[Case]) -> Iterator[str]:
        asked_by = [f"{how}: {each}, ms" for how in ("from text", "asked again") for each in self.devices]
        head = ["graph", "query", "device, ms", "launches", *asked_by]
        yield f"| {' | '.join(head)} | best peer, ms |"
        yield "|---|---|" + "---:|" * (2 + len(asked_by)) + "---|"
        rows: list[Row] = []
        for case in found:
            peers = {name: each for name, each in case.peers.items() if each}
            best = min(peers, key=peers.__getitem__, default="")
            asked_of = {
                f"{each}{again}": partial(asked, case, each, self.timeout, bool(again))
                for again in ("", _AGAIN)
                for each in self.devices
            }
            taken = self.watch.in_turns(asked_of, self.runs)
            here = [
                Row(
                    f"{case.graph} {case.name}",
                    bool(again),
                    {each: taken[each + again] for each in self.devices},
                    peers,
                )
                for again in ("", _AGAIN)
            ]
            rows += here
            card = taken.get("gpu")
            device = f"{card.device:,.2f} | {card.launches}" if card else "- | -"
            times = " | ".join("-" if each is None else f"{each:,.2f}" for row in here for each in row.whole.values())
            yield f"| {case.graph} | {case.name} | {device} | {times} | {f'{best} {peers[best]:g}' if best else ''} |"
        for again in (False, True):
            yield f"\nTexts {'asked again' if again else 'not seen before'}:\n"
            yield from self._summary([row for row in rows if row.again == again])

    def _summary(self, rows: list[Row]) -> Iterator[str]:
        for device in self.devices:
            done = [row for row in rows if row.whole[device] is not None]
            text = f"{device}: {len(done)} of {len(rows)} counted in {self.timeout:g} s"
            for who, names in (
                ("best peer", {each for row in rows for each in row.peers}),
                (f"better of {' and '.join(_ON_CARDS)}", _ON_CARDS),
            ):
                pairs = [(peer, row.whole[device]) for row in done if (peer := row.best(names)) is not None]
                if pairs:
                    mean = math.exp(statistics.fmean(math.log(peer / (own or 1e-9)) for peer, own in pairs))
                    text += f"; {mean:.1f} times as fast as the {who}, geometric mean of {len(pairs)}"
            yield text + "."
        late = {row.name: regret for row in rows if (regret := row.regret()) is not None and regret > _REGRET}
        if "auto" in self.devices:
            listed = ", ".join(
                f"{name} {regret:.1f}" for name, regret in sorted(late.items(), key=lambda each: -each[1])
            )
            yield f"auto took over {_REGRET:g} times as long as the better device {len(late)} times: {listed}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--parts", nargs="+", default=["patterns", "labelled", "rows", "rmat", "cards"])
    parser.add_argument("--devices", nargs="+", default=["gpu", "cpu", "auto"])
    parser.add_argument("--scales", nargs="+", type=int, default=[20, 22])
    parser.add_argument("--timeout", type=float, default=3.0, help="seconds for each of the published queries")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    tables = Tables(chosen)
    parts = {
        "patterns": lambda: tables.counted(patterns(tables.data)),
        "github16": lambda: tables.counted(cases("github16", tables.data)),
        "labelled": lambda: tables.counted(cases("labelled", tables.data)),
        "rows": lambda: listing.rows(tables.watch, tables.runs),
        "cards": lambda: cards.rows(tables.data),
        "rmat": lambda: rmat.rows(chosen.scales, _SEED, tables.watch, tables.runs),
    }
    for part in chosen.parts:
        print(f"\n## {part}\n")
        for line in parts[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
