"""What a run is handed: where matching goes, and the second half of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from gquery.errors import ExecutionError
from gquery.executor.backend import Backend
from gquery.executor.chain.rows import rows_of
from gquery.executor.lowering.reading import Leads
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.executor.relational.scanning.failing import Elements, Failing, Relevant
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.match_plan import Cardinalities, Counted, MatchPlan, Space
from gquery.planner.ir.segments import Match
from gquery.planner.ir.walks import Sampler
from gquery.records import record
from gquery.stopping import Check
from gquery.storage.graph import Snapshot

if TYPE_CHECKING:
    from gquery.executor.chain.again import Again

RelevantTo = Callable[[Match, Expression, pa.RecordBatch | None, Failing, Control], Iterator[Elements]]

_ENTRY = 24  # bytes of an edge on a card, in both directions, with the offsets of its ends


class SecondHalf(Protocol):
    """The second half of a plan, from what the filters have counted."""

    @property
    def identity(self) -> object:
        """What tells it from all others, and does not hold it."""
        ...

    @property
    def parameters(self) -> tuple[str, ...] | None:
        """Those that candidates and comparisons depend on; None where these may be others in each run."""
        ...

    @property
    def is_doubted(self) -> bool:
        """Whether estimates are not trusted, so that planning takes long."""
        ...

    def cardinalities(self, counted: Counted | None) -> Cardinalities:
        """What is known of sizes."""
        ...

    def space(self, known: Callable[[], Cardinalities], check: Check) -> tuple[Space, str]:
        """Where matching looks for neighbours, and why."""
        ...

    def matchings(
        self, known: Cardinalities, space: Space, reason: str, check: Check, sampler: Sampler | None = None
    ) -> tuple[MatchPlan, ...]:
        """The plans whose matches, added and subtracted, are those of the segment. sampler: tells how many partial
        matches there are."""
        ...

    def for_card(self) -> SecondHalf:
        """The same for counts on a card, which need no plan as good."""
        ...

    def adaptive(self) -> SecondHalf:
        """The same with an order for each partial match, wherever there may be one."""
        ...

    def steady(self) -> SecondHalf:
        """The same where all partial matches have one order."""
        ...

    def give_up(self, known: Cardinalities) -> None:
        """An order for each partial match took too long, and is not tried again for what is like this."""
        ...

    @property
    def is_little(self) -> bool:
        """Whether the CPU is thought to have counted, where all else stands by, before a card has begun."""
        ...

    def counted(self, matchings: Sequence[MatchPlan], seconds: float | None) -> None:
        """A count by these plans took the CPU so long, but for what it stands by with; None: it was a card's."""
        ...

    def on_card(self, matchings: Sequence[MatchPlan], threads: int, missing: int, started: bool) -> tuple[bool, str]:
        """Whether counting goes to a card rather than to so many threads, and why. missing: bytes that are not there
        yet; started: whether the card has been used."""
        ...


class Beside(Protocol):
    """A card beside a backend."""

    def begun(self, snapshot: Snapshot) -> tuple[bool, bool]:
        """Whether it has been used before, and whether the graph is on it."""
        ...

    def backend(self, check: Check) -> Backend:
        """Raises UnsupportedError where there is none, or not soon."""
        ...


@record(frozen=True, slots=True)
class Engine:
    """What matches on one graph, with the values of a query's parameters. backend: one that may have to be waited for.
    beside: what counts may go to instead. walker: another whose walks make better plans of counts that the backend
    takes long for. again: what the same plan has made ready on other snapshots. leads: by the number of a plan, the
    edges that are left of those which it begins with. keeps: what a run makes ready stands by for others of the same
    plan on the same snapshot. relevant: of which elements a condition of a match is asked, first some, then all; none
    where that is not known. Of a match that begins with rows those of matches that begin with these."""

    backend: Callable[[Check], Backend]
    snapshot: Snapshot
    parameters: Mapping[str, object]
    threads: int = 1
    beside: Beside | None = None
    walker: Callable[[Check], Backend] | None = None
    again: Again | None = None
    leads: Mapping[int, Leads | None] = field(default_factory=dict)
    keeps: bool = False
    relevant: RelevantTo | None = None

    def relevant_to(self, match: Match, control: Control, seeds: Seeds | None = None) -> Relevant:
        """Of which elements a condition is asked that fails for some; seeds: that the match begins with."""
        names = [variable.name for variable in match.input]

        def relevant(expression: Expression, error: ExecutionError, failing: Failing) -> Iterator[Elements]:
            before = None if seeds is None else rows_of(seeds, names)
            found = iter(()) if self.relevant is None else self.relevant(match, expression, before, failing, control)
            first = next(found, None)
            if first is None:
                raise error
            yield first
            yield from found

        return relevant


def placed(second_half: SecondHalf, matchings: Sequence[MatchPlan], engine: Engine) -> tuple[bool, str]:
    """Whether a count goes to the card, and why; nothing where there is no choice. To one that is ready all go that are
    planned soon: it filters and counts before the CPU would have, while estimates of what is little are too low."""
    if engine.beside is None:
        return False, ""
    started, resident = engine.beside.begun(engine.snapshot)
    if started and resident and not second_half.is_doubted:
        return True, "On the card: it is ready, and has the graph"
    missing = 0 if resident else _ENTRY * engine.snapshot.edge_count
    pays, reason = second_half.on_card(matchings, engine.threads, missing, started)
    return pays, f"On the {'card' if pays else 'CPU'}: {reason}"
