"""Statements that write: from a text to an answer, and the batches that are to be committed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from gquery.errors import GQueryError, ParseError, QueryWarning
from gquery.executor.progress import Control
from gquery.executor.updates.counting import counted
from gquery.grammar import ast
from gquery.grammar.parser import parse
from gquery.imports import CONVERSION, import_apart
from gquery.planner.binding.updates.stages import updates_in
from gquery.result import Result
from gquery.session import PLAN, Graph, as_rows
from gquery.settings import Settings
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot
from gquery.store.statement import Explained, Profiled, Statement
from gquery.values.parameters import snapshot_of


class Executed(NamedTuple):
    """The answer, and what has to be committed before anybody gets it: the graph after it, and the batches that lead
    there, with the first number that each gave out as an id; none where nothing changes."""

    result: Result
    batches: tuple[Batch, ...]
    free_ids: tuple[int, ...]
    after: Snapshot


def executed(graph: Graph, text: str, parameters: Mapping[str, Any] | None, settings: Settings) -> Executed:
    """Runs a statement over a graph, which stays as it is. One that only reads is a query, which runs when it is read.

    Raises what queries raise, all of it now, and ExecutionError for what cannot be changed so. Warns (QueryWarning) as
    a query does.
    """
    control = Control(settings.timeout, settings.memory_limit)
    try:
        tree = parse(text, control.check)
        if not any(updates_in(tree.clauses)):
            return Executed(graph.with_settings(**_changes(settings)).query(text, parameters), (), (), graph.snapshot)
        known = snapshot_of(parameters, control.check)
        statement = _KINDS[tree.command](graph.snapshot, tree, known, settings, control)
        answer = statement.run()
        import_apart(CONVERSION, control.check)
    except GQueryError as error:
        raise error.with_text(text)  # noqa: B904 - the same error, with its text
    except RecursionError:
        raise ParseError("the statement is nested too deeply for the stack that Python has left here") from None
    warned = tuple(notice.rendered(text) for notice in dict.fromkeys(statement.notices))
    for warning in warned:
        warnings.warn(warning, QueryWarning, stacklevel=3)
    if isinstance(statement, Explained | Profiled):
        table = pa.Table.from_batches(as_rows(iter(statement.lines)), PLAN)
    else:
        table = pa.Table.from_batches(answer.batches, answer.schema)
    changes = counted(graph.snapshot, statement.working, statement.batches)
    result = Result.written(table, settings, warned, control, changes)
    statement.working.deleted = None  # nobody holds what was deleted any more
    return Executed(result, tuple(statement.batches), tuple(statement.free_ids), statement.working)


_KINDS: dict[ast.Command | None, type[Statement]] = {None: Statement, "explain": Explained, "profile": Profiled}


def _changes(settings: Settings) -> dict[str, Any]:
    """The settings by name."""
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}
