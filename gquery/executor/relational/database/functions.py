"""What a statement is given beside its text: values of its parameters, and functions of our own.

DuckDB knows functions in all sessions of an instance. So each is registered under a name of its own while a statement
runs, and put into the statement's text in place of the name that it has there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from inspect import Parameter, Signature
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from gquery.executor.progress import Control
from gquery.records import record

if TYPE_CHECKING:
    import duckdb

_NAMES = re.compile(r"""'[^']*'|"(?:[^"]|"")*\"""")  # and texts, in which there are none
_SIGNATURE = Signature([Parameter("given", Parameter.POSITIONAL_ONLY)])
_numbers = count()


@record(frozen=True, slots=True)
class Function:
    """name: where no other of a statement has it. takes, gives: DuckDB's names of types. call: what it gives for an
    array, for its nulls too."""

    name: str
    takes: str
    gives: str
    call: Callable[[pa.Array], pa.Array] = field(compare=False)


@record(frozen=True, slots=True)
class Given:
    """values: of the parameters by name. functions: by the identifier that stands in the statement, in its quotes."""

    values: Mapping[str, object] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)


class Calls:
    """The calls of a statement's functions. Keeps the error that ended one: DuckDB wraps it beyond recognition."""

    def __init__(self, control: Control) -> None:
        self.error: BaseException | None = None
        self._control = control

    def of(self, function: Function) -> Callable[[pa.ChunkedArray], pa.Array]:
        """The function as DuckDB calls it, from one thread."""
        answering = self._answering(function)
        next(answering)
        send = partial(answering.send)
        send.__signature__ = _SIGNATURE  # type: ignore[attr-defined]  # which DuckDB looks for, and no builtin has
        return send

    def _answering(self, function: Function) -> Generator[pa.Array | None, pa.ChunkedArray, None]:
        """A generator that has begun: a signal that comes as DuckDB calls is raised at a `yield`, inside `try`."""
        answer = None
        try:
            while True:
                given = yield answer
                self._control.check()
                answer = function.call(given.combine_chunks())
        except GeneratorExit:
            raise
        except BaseException as error:
            self.error = error
            raise


@contextmanager
def registered(
    cursor: duckdb.DuckDBPyConnection, sql: str, functions: Mapping[str, Function], calls: Calls
) -> Iterator[str]:
    """The statement with its functions under names that the cursor knows meanwhile."""
    if not functions:
        yield sql
        return
    import duckdb

    names = {identifier: f"gquery_{next(_numbers)}" for identifier in functions}
    made = []
    try:
        for identifier, function in functions.items():
            types = [duckdb.sqltype(function.takes)], duckdb.sqltype(function.gives)
            cursor.create_function(names[identifier], calls.of(function), *types, type="arrow", null_handling="special")  # type: ignore[call-overload]
            made.append(names[identifier])
        yield _NAMES.sub(lambda found: names.get(found[0], found[0]), sql)
    finally:
        for name in made:
            cursor.remove_function(name)
