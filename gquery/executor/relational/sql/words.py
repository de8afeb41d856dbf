"""Constants and names as SQL: what users wrote never stands in a statement but through here."""

from __future__ import annotations

from decimal import Decimal


def literal(value: bool | int | float | Decimal | str | None) -> str:
    """A constant as SQL; whole numbers are 64 bits wide."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"{value}::BIGINT" if value >= 0 else f"({value})::BIGINT"
        case float():  # read from text, exactly, with its sign where it is zero
            return f"'{value!r}'::DOUBLE"
        case Decimal():  # as narrow as it can be
            whole, _, places = f"{value:f}".lstrip("-").partition(".")
            return f"'{value:f}'::DECIMAL({len(whole + places)},{len(places)})"
    return "'" + value.replace("'", "''") + "'"


def failing(text: str, message: str) -> str:
    """What fails for every value but null."""
    return f"CASE WHEN {text} IS NOT NULL THEN error({literal(message)}) END"


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class Names:
    """Names in a statement, told apart as SQL does, which ignores case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wish: str) -> str:
        """The wish, or a longer name where that is taken."""
        while wish.lower() in self._taken:
            wish += "_"
        self._taken.add(wish.lower())
        return wish
