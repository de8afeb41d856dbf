"""What reading a query costs: parsing and binding, for each of its clauses, over the queries of the golden plans.

    python -m benchmarks.clauses

The least of a few rounds in milliseconds of processor time, nothing remembered of the text; behind it the median of the
rounds for a clause, which says how quiet the machine was. The slowest come first.
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

ROUNDS = 200


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """The least and the median, milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return 1000 * min(taken), 1000 * statistics.median(taken)


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
        parsing, binding = measured(lambda text=text: parse(text)), measured(lambda tree=tree: bound(tree))
        least, median = ((one + other) / len(tree.clauses) for one, other in zip(parsing, binding, strict=True))
        rows.append((least, median, parsing[0], binding[0], len(tree.clauses), name))
    print(f"{'query':28}{'clauses':>8}{'parse':>8}{'bind':>8}{'a clause':>10}{'median':>10}")
    for least, median, parsing, binding, clauses, name in sorted(rows, reverse=True):
        print(f"{name:28}{clauses:8}{parsing:8.3f}{binding:8.3f}{least:10.3f}{median:10.3f}")
    least, median = (statistics.median(row[place] for row in rows) for place in (0, 1))
    print(f"{'median of all':52}{least:10.3f}{median:10.3f}")


if __name__ == "__main__":
    main()
