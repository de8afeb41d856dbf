"""Errors of DuckDB and Arrow as ours: told apart by their type, worded without the SQL that the user never wrote."""

from __future__ import annotations

import re
from types import TracebackType

import pyarrow as pa

from gquery.errors import ExecutionError, GQueryError, MemoryLimitError, QueryCancelled

_SIGNALLED = "Query interrupted"  # the whole text of the RuntimeError that DuckDB makes of a signal
_SIGNALLED_WHILE_READ = re.compile(
    r"Invalid Input Error: counting the rows of the object registered as '\w+' failed: KeyboardInterrupt"
)  # and of one that comes while it asks Python


class _Translated:
    """A class, which costs a third of what a generator does: there is one for each batch and more."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, type_: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, Exception) and (ours := _translation(error)) is not None:
            raise ours from None


_TRANSLATED = _Translated()


def translated() -> _Translated:
    """DuckDB's and Arrow's errors as ours. Ctrl-C inside DuckDB comes out as KeyboardInterrupt, its interrupt as
    QueryCancelled."""
    return _TRANSLATED


def _translation(error: Exception) -> BaseException | None:
    """None for what is neither DuckDB's nor Arrow's."""
    if type(error) is RuntimeError and str(error) == _SIGNALLED:
        return KeyboardInterrupt()
    if isinstance(error, RuntimeError | pa.ArrowException | MemoryError | OSError):
        return _ours(error)
    import duckdb

    if isinstance(error, duckdb.InvalidInputException) and _SIGNALLED_WHILE_READ.match(str(error)):
        return KeyboardInterrupt()
    return _ours(error) if isinstance(error, duckdb.Error) else None


def _ours(error: Exception) -> GQueryError:
    type_ = _type(error)
    if type_ == "Interrupt":
        return QueryCancelled("the query was interrupted")
    if type_ == "Out of Memory" or isinstance(error, MemoryError):
        return MemoryLimitError(
            "sorting, grouping or collecting the matches needs more memory than there is",
            hint="raise memory_limit, or return fewer rows",
        )
    if type_ in _NOT_THE_DATA:
        return ExecutionError(
            "gquery cannot compute what this query returns or compares",
            hint="this is a fault of gquery: please report the query, and try a simpler expression",
        )
    sentence = _tidy(str(error))
    if _OF_EXPRESSIONS.match(sentence):
        return ExecutionError(
            f"the regular expression cannot be read: {sentence}",
            hint="regular expressions are RE2's: they look neither ahead nor back, and repeat no group by its number",
        )
    return ExecutionError(sentence)


# What RE2 says of a regular expression, without a word that it is about one.
_OF_EXPRESSIONS = re.compile(
    r"(?:invalid (?:escape sequence|character class|repetition size|perl operator|named capture group|UTF-8)"
    r"|missing [])]|unexpected \)|trailing \\|no argument for repetition|bad repetition)"
)

# What DuckDB says of a statement, not of values: its words would be about SQL that the user never wrote.
_NOT_THE_DATA = frozenset(
    {"Binder", "Catalog", "Parser", "Syntax", "Internal", "Fatal", "Not Implemented", "Permission"}
)


def _type(error: Exception) -> str:
    """DuckDB's type of an error. Behind an Arrow stream the class is lost, and what DuckDB put before its message says
    it; the values of the data stand behind that, never before."""
    import duckdb

    if isinstance(error, duckdb.InterruptException):
        return "Interrupt"
    if isinstance(error, duckdb.OutOfMemoryException):
        return "Out of Memory"
    found = re.match(r"([A-Za-z][A-Za-z ]*) Error: ", str(error)) if isinstance(error, duckdb.Error | OSError) else None
    return found[1].capitalize() if found and found[1].isupper() else found[1] if found else ""


def _tidy(text: str) -> str:
    """DuckDB's sentence without its class and without the SQL that the user never wrote."""
    sentence = re.sub(r"^[A-Za-z -]+ Error: ", "", text.split("\n")[0])
    if sentence.startswith("Division by zero"):
        return "division by zero"
    too_large = re.match(r"Type INT\d+ with value (-?\d+) can't be cast because the value is out of range", sentence)
    if too_large:
        return f"{too_large[1]} is out of range: it does not fit into 64 bits"
    sentence = re.sub(r" when casting from source column .*", "", sentence).rstrip(".! ")
    for sql, cypher in (("INT64", "INTEGER"), ("INT128", "INTEGER"), ("DOUBLE", "FLOAT"), ("VARCHAR", "STRING")):
        sentence = re.sub(rf"\b{sql}\b", cypher, sentence)
    return sentence[:1].lower() + sentence[1:] or "the relational part of the query failed"
