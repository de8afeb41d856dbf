"""How the fields of a delimited text file are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """`quote` is "" when quotes mean nothing; `null` are words that stand for a missing value where no quotes are
    around them; `encoding` None is UTF-8."""

    delimiter: str
    quote: str = '"'
    null: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """What is known about text files beside their content; None: told by the first row."""

    delimiter: str | None = None
    quote: str = '"'
    header: bool | None = None
    names: tuple[str, ...] | None = None
    null: tuple[str, ...] = ()
    encoding: str | None = None

    def dialect(self, delimiter: str) -> Dialect:
        """The dialect when nothing says otherwise than that fields end with `delimiter`."""
        return Dialect(self.delimiter or delimiter, self.quote, self.null, self.encoding)
