"""A graph that changes: one writer, any number of readers, each of whom keeps the snapshot that it has.

`storage/changes` holds what happens: `resolve` makes a batch of tables, `applied` makes the next snapshot of a batch.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakSet

from gquery.continuous.change import Change
from gquery.continuous.standing import Emit, Standing
from gquery.continuous.versions import KEPT, Versions
from gquery.continuous.watch import PENDING, Watch
from gquery.errors import BindError, ExecutionError, GQueryError, LoadError, ParseError, QueryWarning
from gquery.lasting.locks import lasting_lock
from gquery.result import Result
from gquery.session import Graph
from gquery.storage.changes.ahead import RoomAhead
from gquery.storage.changes.applied import applied, first_free
from gquery.storage.changes.batch import Batch
from gquery.storage.changes.durable.log import Record, open_changed
from gquery.storage.graph import Snapshot
from gquery.store.backlog import Backlog
from gquery.store.changes import Changes
from gquery.store.compaction import Background, Compacted, waste
from gquery.store.folder import Folder
from gquery.values.parameters import snapshot_of

_FEW = 8  # versions that the writer waits for at the end of a compaction, and
_AT_ONCE = 16  # that it makes at once
_TURN = 1.0  # seconds that a writer leaves to a compaction to come first


@dataclass(frozen=True, slots=True)
class Commit:
    """One version: what the graph was and is, and the batches between, one after the other. free_ids: the first number
    that each may give out as an id; 0 where it gives out none."""

    version: int
    before: Snapshot
    after: Snapshot
    batches: tuple[Batch, ...]
    free_ids: tuple[int, ...]

    @property
    def record(self) -> Record:
        """What is to be kept of it."""
        return Record(self.version, self.batches, self.free_ids)


class Store:
    """A graph and its changes. Safe from several threads: writers wait for each other, readers for nobody."""

    def __init__(self, graph: Graph) -> None:
        """A store in memory, which begins with a graph. Raises LoadError for what is none."""
        if not isinstance(graph, Graph):
            hint = "gquery.Store.open(folder) opens a saved graph to write to"
            raise LoadError(f"a store begins with a gquery.Graph, not with a {type(graph).__name__}", hint=hint)
        self._graph = graph
        self._version = 0
        self._writer = lasting_lock()
        self._listeners: list[Callable[[Commit], None]] = []
        self._versions: Versions | None = None
        self._folder: Folder | None = None
        self._is_open = True
        self._compacting = lasting_lock()  # taken before the writer's
        self._uncompacted()
        _stores.add(self)
        self._room = RoomAhead(graph.snapshot.edges)
        self._room.make_behind()

    def _uncompacted(self) -> None:
        """Nobody compacts now."""
        self._writers_turn = threading.Event()  # cleared while a compaction waits for the writer's lock
        self._writers_turn.set()
        self._backlog: Backlog | None = None
        self._behind = Background(self._compact_when_due)

    @classmethod
    def open(cls, path: str | os.PathLike[str], durable: bool = True) -> Store:
        """The graph of a folder, where every version is kept before anybody sees it. Until the store is closed nobody
        else writes there. durable=False: changes are in memory only. Raises LoadError."""
        folder = Folder(path) if durable else None
        opened = folder.opened if folder is not None else open_changed(path)
        store = cls(Graph(opened.snapshot))
        store._version, store._folder = opened.version, folder
        return store

    def close(self) -> None:
        """Lets others write to the folder, once a compaction that is at work has ended. The store only reads from then
        on, and what waits for versions waits no longer. Raises what has gone wrong behind a standing query, or in its
        callback."""
        try:
            if self._versions is not None:
                self._versions.end()
        finally:
            self._room.stop()
            self._behind.wait()
            with self._compacting, self._writer:
                self._is_open = False
                if self._folder is not None:
                    self._folder.close()

    def __reduce__(self) -> NoReturn:
        raise ExecutionError("a store cannot be pickled or copied: it has one writer",
                             hint="its folder can be opened by other processes: gquery.open")  # fmt: skip

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def graph(self) -> Graph:
        """The newest snapshot. It stays as it is, whatever is written later."""
        return self._graph

    @property
    def version(self) -> int:
        """How many times the graph has changed."""
        return self._version

    def apply(
        self,
        insert: Mapping[Any, Any] | None = None,
        delete: Mapping[Any, Any] | None = None,
        set: Mapping[Any, Any] | None = None,
    ) -> int:
        """Changes the graph, all at once or not at all; the version that it has then.

        Tables are those of `gquery.from_arrow`, by label, or by (source label, type, target label) for edges:
        insert: new vertices and edges; ends may be new vertices. delete: vertices by their id, together with their
        edges; of edges all those between the ends of a row that have its other columns as properties. set: other
        values for the properties of vertices by id, of all edges between the ends of a row; null removes one.
        What is deleted or set must be there before. Raises LoadError with table, row, column and value.
        """
        from gquery.storage.changes.lookups.resolve import resolved

        with self.writing() as snapshot:
            return self.commit([resolved(snapshot, insert or {}, delete or {}, set or {})])

    def execute(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        mode: str | None = None,
        device: str | None = None,
        timeout: float | None = None,
        memory_limit: int | str | None = None,
        strict: bool | None = None,
    ) -> Result:
        """Runs a statement of CREATE, MERGE, SET, REMOVE, DELETE and FOREACH, all of it or nothing: what RETURN gives,
        and in `changes` how much has changed. One that only reads is a query, which runs when it is read.

        The arguments are those of `Graph.query`; timeout: seconds for the whole statement. strict: labels, types and
        properties that the statement writes are no errors where it reads either way. Raises what queries raise, and
        ExecutionError for what cannot be changed so; then the graph is as it was.
        """
        from gquery.store.executing import executed

        given = {"mode": mode, "device": device, "timeout": timeout, "memory_limit": memory_limit, "strict": strict}
        with self.writing():
            settings = self._graph.settings.changed(**{name: each for name, each in given.items() if each is not None})
            done = executed(self._graph, text, parameters, settings)
            if done.batches:
                self._commit(done.batches, done.free_ids, done.after)
        return done.result

    @contextmanager
    def writing(self) -> Iterator[Snapshot]:
        """The newest snapshot, which no other writer changes before this ends."""
        try:
            self._writers_turn.wait(_TURN)
            with self._writer:
                yield self._graph.snapshot
        except RecursionError:
            raise ExecutionError(
                "changing the graph needs more of Python's stack than is left here",
                hint="change it where fewer functions have called each other",
            ) from None

    def commit(self, batches: Sequence[Batch]) -> int:
        """Makes some batches, each by the ids of what the one before gives, one version, and tells which."""
        with self._writer:
            after, free_ids = self._graph.snapshot, []
            for batch in batches:
                free_ids.append(first_free(after, batch))
                after = applied(after, batch)
            return self._commit(batches, free_ids, after)

    def _commit(self, batches: Sequence[Batch], free_ids: Sequence[int], after: Snapshot) -> int:
        """`after`: what the batches make of the newest snapshot."""
        with self._writer:
            if not self._is_open:
                raise LoadError("the store is closed", hint="begin another one with `store.graph`, or open it again")
            made = Commit(self._version + 1, self._graph.snapshot, after, tuple(batches), tuple(free_ids))
            if self._folder is not None:
                self._folder.keep(made.record)
            self._show(made.after)
            self._version = made.version
            if self._backlog is not None:
                self._backlog.add(made.record)
            for listener in self._listeners:
                listener(made)
            self._behind.tell(self._gain())
            return made.version

    def on_commit(self, listener: Callable[[Commit], None]) -> Callable[[], None]:
        """Has every later version told to a listener, in order, by the writer's thread, which must neither close nor
        compact the store; what ends that."""

        def end() -> None:
            with self._writer:
                self._listeners.remove(listener)

        with self._writer:
            self._listeners.append(listener)
        return end

    def watch(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        emit: Emit = "rows",
        after: int | None = None,
        pending: int = PENDING,
        callback: Callable[[Change], object] | None = None,
        **settings: Any,
    ) -> Watch:
        """A query that stands: what every version adds to its answer, and what it takes away.

        emit: with `rows` a change is rows of the answer, those that are new and those that are gone; with `counts` it
        is what an aggregating RETURN makes of the matches that are new and of those that are gone, else how many they
        are. after: the version to go on from, the newest where it is None; the last ones since the store was first
        watched are kept. pending: versions that wait for who is slow; of more the last ones are one change. callback:
        called with every change that has rows, in a thread of its own. settings: as of a query, such as mode, timeout
        and strict. Raises what `Graph.query` raises, and BindError for a version that is not kept. Warns (QueryWarning)
        as a query does.
        """
        if callback is not None and not callable(callback):
            raise BindError(f"`callback` is a function of a change, not {callback!r}")
        with self._writer:
            if self._versions is None:
                versions = self._versions = Versions(self._graph.snapshot)
                self.on_commit(lambda made: versions.add(made.version, made.before, made.after, made.batches))
            try:
                asked = self._graph.settings.changed(**settings)
                standing = Standing(text, snapshot_of(parameters), asked, emit)
                watch = Watch(standing, self._versions, self._graph.snapshot, self._version, after, pending)
            except GQueryError as error:
                raise error.with_text(text)  # noqa: B904 - the same error, with its text
            except RecursionError:
                raise ParseError("the query is nested too deeply for the stack that Python has left here") from None
            if not self._is_open:
                watch.close()  # there will be no more versions than are kept
        for warning in watch.warnings:
            warnings.warn(warning, QueryWarning, stacklevel=2)
        if callback is not None:
            watch.call(callback)
        return watch

    def changes(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        emit: Emit = "rows",
        **settings: Any,
    ) -> Changes:
        """A query that stands, as a table for DuckDB: `gquery.attach(con, store.changes(query), "rings")`, and then
        `FROM gquery_changes('rings', version)`. The rest is as for `watch`."""

        def begin(after: int | None) -> Watch:
            return self.watch(text, parameters, emit=emit, after=after, pending=KEPT, **settings)

        return Changes(begin)

    def compact(self) -> None:
        """Gives back what changes have left, in the folder too, where the graph is saved anew: the same version, whose
        vertices and edges have other internal ids. Takes as long as a save, while others read and write. A store does
        so behind its writer when there is enough to be gained."""
        with self._compacting:
            self._compact()

    def _compact_when_due(self) -> None:
        with self._compacting:
            if self._gain() >= 1:  # and not closed, or compacted by somebody else meanwhile
                self._compact()

    def _gain(self) -> float:
        """What there is to be gained by compacting, by what is worth it."""
        folder = self._folder
        if folder is None:
            return waste(self._graph.snapshot)
        return max(folder.load, waste(self._graph.snapshot)) if folder.is_open else 0.0

    def _compact(self) -> None:
        """By one thread at a time, which is not the writer's."""
        since = Backlog()
        with self._writer:
            snapshot, version = self._graph.snapshot, self._version
            if not snapshot.is_changed:
                return
            self._backlog = since
        try:
            done = Compacted(snapshot, version, self._folder)
            try:
                since.pace()
                while len(since) > _FEW:
                    done.follow(since.taken(_AT_ONCE))
                self._writers_turn.clear()
                since.end()
                with self._writer:
                    self._writers_turn.set()
                    done.follow(since.taken(len(since)))
                    done.install()
                    self._show(done.snapshot)
            finally:
                self._writers_turn.set()
                since.end()
                done.drop()
        finally:
            with self._writer:
                self._backlog = None

    def _show(self, snapshot: Snapshot) -> None:
        self._graph = self._graph.followed_by(snapshot)

    def __repr__(self) -> str:
        return f"<gquery.Store: version {self.version}, {self._graph!r}>"


_stores: WeakSet[Store] = WeakSet()


def _alone() -> None:
    """In a forked process: what compacts has stayed behind, and the writer would wait for it."""
    for store in list(_stores):
        store._uncompacted()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
