"""python -m tests.fuzz.queries --count 200000 --seed N: many odd query texts, in processes of their own.

A text is wrong when its process dies, when it has no answer for five seconds, or when what it raises is no
GQueryError. Every wrong text is printed; the exit status says whether there were any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.fuzz.texts import Text, text_at
from tests.fuzz.worker import serve

LONGEST = 5.0  # seconds for one text; its own timeout is one
START = 300.0  # seconds for a process to load the graph


@dataclass(frozen=True)
class Wrong:
    text: Text
    what: str


class Worker:
    """A process that answers texts; a new one takes the place of one that died or had to be killed."""

    def __init__(self) -> None:
        self._begin()

    def ask(self, text: Text) -> Wrong | None:
        self.pipe.send(text)
        begun = time.perf_counter()
        try:
            if not self.pipe.poll(LONGEST):
                self._again()
                return Wrong(text, f"no answer in {LONGEST:g} s")
            what = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            what = f"the process died: {self.process.exitcode}"
            self._again()
        seconds = time.perf_counter() - begun
        return Wrong(text, f"{what} (after {seconds:.1f} s)") if what else None

    def end(self) -> None:
        self.process.kill()
        self.process.join()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        if not self.pipe.poll(START) or self.pipe.recv() != "ready":
            raise RuntimeError("a worker did not start")

    def _again(self) -> None:
        self.end()
        self._begin()


def wrong_texts(seed: int, count: int, workers: int, seconds: float | None = None) -> Iterator[Wrong]:
    """What is wrong among `count` texts, or among those that are reached in so many seconds."""
    with ThreadPoolExecutor(workers) as pool:
        shares = [pool.submit(_share, seed, count, (index, workers), seconds) for index in range(workers)]
        for share in shares:
            yield from share.result()


def _share(seed: int, count: int, part: tuple[int, int], seconds: float | None) -> list[Wrong]:
    """Every `part[1]`th text from `part[0]` on."""
    worker = Worker()
    begun = time.monotonic()
    found = []
    for number in range(part[0], count, part[1]):
        if seconds is not None and time.monotonic() - begun > seconds:
            break
        text = text_at(seed, number)
        if (wrong := worker.ask(text)) is not None:
            print(f"{number}: {wrong.what}\n    {repr(text)[:1_000]}", flush=True)
            found.append(wrong)
    worker.end()
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = options.parse_args()
    print(f"seed {given.seed}, {given.count:,} texts", flush=True)
    found = list(wrong_texts(given.seed, given.count, given.workers))
    print(f"seed {given.seed}: {len(found)} of {given.count:,} texts are wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
