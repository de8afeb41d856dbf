"""`Broken`: what is known where a parse breaks, for those who must say why."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.errors import Span
from gquery.grammar.brackets import CLOSING, Pairs
from gquery.grammar.scanner import NAME, Token
from gquery.records import record


@record(frozen=True, slots=True)
class Broken:
    """A parse that cannot take the token at `place`; that may be the end, one after the last token."""

    tokens: Sequence[Token]
    place: int
    pairs: Pairs
    keywords: frozenset[str]
    last: Token | None
    """The last token that the parser took, with the meaning that it took it for."""
    accepted: set[str]
    """What could have followed it: signs and keywords as written, the names of the other terminals."""
    accepted_for_last: set[str]
    """What could have stood in its place."""

    @property
    def span(self) -> Span:
        if self.place < len(self.tokens):
            return self.tokens[self.place].span
        end = self.tokens[-1].end if self.tokens else 0
        return Span(end, end)

    @property
    def last_is_name(self) -> bool:
        return self.last is not None and self.last.type == NAME

    @property
    def after_node(self) -> bool:
        """Whether the parse stands after a node pattern, where a relationship could follow."""
        return {"<", "-"} <= self.accepted and "AND" not in self.accepted

    def text(self, offset: int = 0) -> str:
        """What stands so many tokens after the place; empty outside the query."""
        index = self.place + offset
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def word(self) -> str:
        """The word at the place in upper case; empty when no unquoted word stands there."""
        return self.text().upper() if self.text().isidentifier() else ""

    def span_of_brackets(self, opening: int) -> Span:
        """From the bracket at index `opening` to the one that closes it, or to the place when none does."""
        return self.tokens[opening].span.to(self.tokens[self.pairs.get(opening, self.place)].span)

    def innermost_open(self) -> int | None:
        """The index of the last bracket opened before the place and not closed there."""
        for index in range(self.place - 1, -1, -1):
            if self.tokens[index].text in CLOSING and self.pairs.get(index, self.place) >= self.place:
                return index
        return None
