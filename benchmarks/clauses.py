"""What reading a query costs: parsing and binding, for each of its clauses, over the queries of the golden plans.

    python -m benchmarks.clauses

The least of a few rounds in milliseconds of processor time, nothing remembered of the text. The slowest come first.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from gquery.errors import GQueryError
from gquery.grammar.ast import Query
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.stopping import unchecked
from tests.planner.test_golden_plans import QUERIES
from tests.planner.town import town

ROUNDS = 30


def least(work: Callable[[], object]) -> float:
    """Milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return 1000 * min(taken)


def main() -> None:
    schema, rows = town().snapshot.schema, []

    def bound(tree: Query) -> object:
        return bind(tree, schema, {}, "different edges", unchecked)

    for name, text in QUERIES.items():
        tree = parse(text)
        try:
            bound(tree)
        except GQueryError:  # it has parameters
            continue
        parsing, binding = least(lambda text=text: parse(text)), least(lambda tree=tree: bound(tree))
        rows.append(((parsing + binding) / len(tree.clauses), parsing, binding, len(tree.clauses), name))
    print(f"{'query':28}{'clauses':>8}{'parse':>8}{'bind':>8}{'a clause':>10}")
    for each, parsing, binding, clauses, name in sorted(rows, reverse=True):
        print(f"{name:28}{clauses:8}{parsing:8.3f}{binding:8.3f}{each:10.3f}")
    print(f"{'median':52}{statistics.median(row[0] for row in rows):10.3f}")


if __name__ == "__main__":
    main()
