"""What a user holds of a standing query: its changes, one after the other."""

from __future__ import annotations

import asyncio
import numbers
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import NoReturn
from weakref import WeakMethod

import pyarrow as pa

from gquery.continuous.change import Change, told_schema
from gquery.continuous.netting import common
from gquery.continuous.standing import Standing
from gquery.continuous.versions import Step, Versions
from gquery.errors import BindError, ExecutionError
from gquery.executor.relational.unions import widened
from gquery.lasting.locks import lasting_lock
from gquery.storage.graph import Snapshot

PENDING = 16  # versions that wait for who is slow before further ones become one change


class Watch:
    """The changes of a standing query's answer, version by version, each once.

    They are worked out when they are asked for, where they are asked for: the store never waits. Who is slow finds the
    versions that are waiting one by one, and of more than `pending` the rest as one change. To be read in one of its
    ways: as an iterator, as an async iterator, by `next`, as a stream or by a callback.
    """

    def __init__(
        self,
        standing: Standing,
        versions: Versions,
        snapshot: Snapshot,
        newest: int,
        after: int | None = None,
        pending: int = PENDING,
    ) -> None:
        """snapshot: the `newest` version; after: the version whose changes are known already, the newest where it is
        None. Raises BindError for one that is not kept, and for what is no query of the graph."""
        self.version = newest if after is None else after
        for name, number in (("after", self.version), ("pending", pending)):
            if isinstance(number, bool) or not isinstance(number, int):
                raise BindError(f"`{name}` is a number of versions, not {number!r}")
        if pending < 1:
            raise BindError(f"`pending` is a number of versions from 1 on, not {pending}")
        self._columns = standing.columns(snapshot)
        self.warnings = standing.warnings(snapshot)
        self._standing = standing
        self._versions = versions
        self._follower = versions.follow(self.version, newest, pending, _closing(standing))
        self._asking = lasting_lock()
        self._thread: threading.Thread | None = None
        self._raised: list[BaseException] = []  # by a callback, and not told yet

    @property
    def schema(self) -> pa.Schema:
        """Of `reader`. Raises BindError where the query has columns that it adds."""
        return told_schema(self._columns)

    def next(self, wait: float | None = 0.0) -> Change | None:
        """The next change, without rows where a version has changed nothing for the query. wait: seconds to wait for a
        version, None for as long as it takes; None is returned where there is none then.

        Raises what answering a query raises; the version is asked again then. BindError for a `wait` that is no number.
        """
        if wait is not None and (isinstance(wait, bool) or not isinstance(wait, numbers.Real) or wait != wait):
            raise BindError(f"`wait` is a number of seconds or None, not {wait!r}")
        end = None if wait is None or wait > threading.TIMEOUT_MAX else time.monotonic() + max(wait, 0)
        while self._follower.first(None if end is None else end - time.monotonic()) is not None:
            with self._asking:  # not while waiting: others may wait for less
                step = self._follower.first(0.0)  # somebody may have taken it meanwhile, or takes it now
                if step is not None and (change := self._taken(step, self._told(step))) is not None:
                    return change
        return None

    def _told(self, step: Step) -> Change:
        try:
            added, removed = self._standing.change(step.between)
        except RecursionError:
            raise ExecutionError(
                "a change needs more of Python's stack than is left here",
                hint="ask for it where fewer functions have called each other",
            ) from None
        return Change(step.since, step.version, added, removed)

    def _taken(self, step: Step, change: Change) -> Change | None:
        """The change, which nobody is told again; None where somebody has been told it meanwhile."""
        if not self._follower.taken(step):
            return None
        self.version = step.version
        return change

    def explain(self) -> str:
        """What is done for a change of few edges, and why, with the plan of it; estimates are for the newest version
        that there is."""
        return self._standing.explain(self._versions.newest)

    def __reduce__(self) -> NoReturn:
        raise ExecutionError("a watch cannot be pickled or copied: each change is told once",
                             hint="make another with store.watch, `after` the version of this one")  # fmt: skip

    def __iter__(self) -> Iterator[Change]:
        """Waits for versions until the watch or its store is closed."""
        while (change := self.next(wait=None)) is not None:
            yield change

    async def __aiter__(self) -> AsyncIterator[Change]:
        while (found := await self._awaited()) is not None:
            if (change := self._taken(*found)) is not None:
                yield change

    async def _awaited(self) -> tuple[Step, Change] | None:
        """The next change, as soon as there is one. It is not taken yet: who is cancelled meanwhile has not got it.

        A thread is borrowed for the work alone: the event loop has few, which all that waits would keep from others.
        """
        while not self._follower.is_over:
            await self._step_there()
            if (found := await asyncio.to_thread(self._first_told)) is not None:
                return found
        return None

    async def _step_there(self) -> None:
        """Until there is a step, or will be none."""
        loop, is_there = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended before its tasks
                loop.call_soon_threadsafe(is_there.set)

        with self._follower.telling(tell):
            await is_there.wait()

    def _first_told(self) -> tuple[Step, Change] | None:
        with self._asking:
            step = self._follower.first(0.0)
            return None if step is None else (step, self._told(step))

    def waiting(self) -> Iterator[Change]:
        """The changes of all versions that there are."""
        while (change := self.next()) is not None:
            yield change

    def reader(self, wait: bool = False, schema: pa.Schema | None = None) -> pa.RecordBatchReader:
        """The changes as one stream, with columns `version` and `diff` before the query's: of all versions that there
        are, or with `wait` of all that come until the watch is closed. Reading raises ExecutionError where a column has
        got another type than it had when the watch began, or in a `schema` of the same columns from earlier on."""
        schema = self.schema if schema is None else schema
        changes = iter(self) if wait else self.waiting()
        batches = (batch for change in changes for batch in _as(change.to_arrow(), schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, batches)

    def call(self, callback: Callable[[Change], object]) -> None:
        """Calls back with every change that has rows, in a thread of its own. What that raises ends the watch, and is
        raised by `close`, or that of the store where it comes first."""
        if self._thread is not None:
            raise ExecutionError("the watch calls back already")
        self._thread = threading.Thread(target=self._calling, args=(callback,), name="gquery watch", daemon=True)
        self._thread.start()

    def _calling(self, callback: Callable[[Change], object]) -> None:
        try:
            for change in self:
                if change:
                    callback(change)
        except BaseException as error:  # for whoever closes it
            self._raised.append(error)
            self._versions.leave(self._follower, partial(_raise, self._raised))

    def close(self) -> None:
        """Ends the watch, once a callback has seen what is waiting. Raises what that has raised, and what has gone
        wrong behind the query."""
        try:
            self._versions.leave(self._follower)
        finally:
            if self._thread is not None and self._thread is not threading.current_thread():
                self._thread.join()
        _raise(self._raised)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _raise(errors: list[BaseException]) -> None:
    if errors:
        raise errors.pop()


def _closing(standing: Standing) -> Callable[[], None]:
    """Who is not closed but forgotten ends by itself."""
    close = WeakMethod(standing.close)

    def end() -> None:
        if (still := close()) is not None:
            still()

    return end


def _as(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows as the stream has them: a version that is followed from may have had fewer types than the newest one."""
    columns = [_column(values, field) for values, field in zip(rows.columns, schema, strict=True)]
    return pa.table(columns, schema=schema)


def _column(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if values.type != field.type and common(field.type, values.type).equals(field.type):
        return widened(values, field.type)
    try:
        return values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ExecutionError(
            f"`{field.name}` is {values.type} now, and was {field.type} when the stream began",
            hint="begin another one, or ask for changes",
        ) from None
