"""What only the following tokens can tell, beyond the one token that the parser sees.

`(` may open an expression in brackets or a pattern: `(a) - (b)` subtracts, `(a)--(b)` asks for an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.grammar.brackets import Pairs
from gquery.grammar.scanner import NAME, Token

BEFORE_PATHS = frozenset(
    {"ANY", "ALL", "SHORTEST", "WALK", "TRAIL", "ACYCLIC", "SIMPLE", "SHORTESTPATH", "ALLSHORTESTPATHS"}
)
"""Words that may stand before a path."""

_SELECTING = BEFORE_PATHS - {"SHORTESTPATH", "ALLSHORTESTPATHS"} | {"PATH", "PATHS"}
"""Those that stand before the first node, with a number among them: `SHORTEST 2 TRAIL PATHS (a)-->(b)`."""

_CONSTANTS = frozenset({"NULL", "TRUE", "FALSE"})


def opens_pattern(tokens: Sequence[Token], pairs: Pairs, opening: int) -> bool:
    """Whether the `(` at `opening`, where an expression may begin, begins a pattern such as `(a)-[:X]->(b)`."""
    if opening not in pairs or tokens[opening].text != "(":
        return False
    if _opens_repeated(tokens, pairs, opening):
        return _follows_as_quantifier(tokens, pairs, pairs[opening] + 1)
    if not _is_node(tokens, opening):
        return False
    arrow = pairs[opening] + 1
    if _opens_repeated(tokens, pairs, arrow):
        return True
    if text_at(tokens, arrow) == "<":
        arrow += 1
    if text_at(tokens, arrow) != "-":
        return False
    if text_at(tokens, arrow + 1) == "[":
        closing = pairs.get(arrow + 1)
        return closing is None or text_at(tokens, closing + 1) != "["  # `(a) - [1, 2][0]` subtracts
    if text_at(tokens, arrow + 1) != "-":
        return False
    following = arrow + 2
    if text_at(tokens, following) == ">":
        following += 1
    quantifier = text_at(tokens, following)
    if quantifier in ("{", "*") or (quantifier == "+" and following > arrow + 2):
        return True
    if quantifier == "+":  # `(a)--+(b)` subtracts, `(a)--+(:A)` does not
        following += 1
        if pairs.get(following) == following + 2:
            return False
    return following in pairs and text_at(tokens, following) == "(" and _is_node(tokens, following)


def _opens_repeated(tokens: Sequence[Token], pairs: Pairs, opening: int) -> bool:
    """Whether the `(` at `opening` begins a pattern in brackets with what may be a quantifier behind them."""
    if opening not in pairs or text_at(tokens, pairs[opening] + 1) not in ("{", "+", "*"):
        return False
    return text_at(tokens, opening) == "(" and opens_pattern(tokens, pairs, opening + 1)


def _follows_as_quantifier(tokens: Sequence[Token], pairs: Pairs, sign: int) -> bool:
    """Whether the sign behind a pattern in brackets repeats it: `((a)--(b))+(c)`, not `((a)--(b)) + c`, which adds."""
    following = sign + 1
    node = following in pairs and text_at(tokens, following) == "(" and _is_node(tokens, following)
    return text_at(tokens, sign) == "{" or node


def function_end(tokens: Sequence[Token], start: int) -> int | None:
    """The index after the function name that begins at `start`; None when the word there names no function."""
    end = start + 1
    while text_at(tokens, end) == "." and end + 1 < len(tokens) and _is_word(tokens[end + 1]):
        end += 2
    return end if text_at(tokens, end) == "(" and _is_word(tokens[start]) else None


def opens_subquery(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word at `place`, where an expression may begin, begins a subquery such as `EXISTS { ... }`."""
    return text_at(tokens, place + 1) == "{"


def names_path(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word at `place`, where a pattern may begin, is the name of a path: `any = (a)-->(b)`."""
    return text_at(tokens, place + 1) == "="


def opens_comprehension(tokens: Sequence[Token], pairs: Pairs, opening: int) -> bool:
    """Whether the `[` at `opening` begins `[x IN xs ...`, and no list whose first item is `x IN xs`."""
    return opening in pairs and _names_items(tokens, opening) and not any(_own(tokens, pairs, opening, ","))


def opens_pattern_comprehension(tokens: Sequence[Token], pairs: Pairs, opening: int) -> bool:
    """Whether the `[` at `opening` begins `[p = ACYCLIC (a)-->(b) WHERE b.x > 1 | b.x]`: a pattern stands first in it,
    and a bar after that."""
    begin = opening + (3 if text_at(tokens, opening + 2) == "=" else 1)
    while text_at(tokens, begin).upper() in _SELECTING or text_at(tokens, begin).isdecimal():
        begin += 1
    begins = opening in pairs and opens_pattern(tokens, pairs, begin)
    return begins and any(_own(tokens, pairs, opening, "|"))


def own_form(tokens: Sequence[Token], name: int) -> str | None:
    """The terminal for the name of `all(x IN ...` and its kin or of `reduce(x = ...`; None for any other function."""
    word = tokens[name].text.lower()
    if word in ("all", "any", "none", "single") and _names_items(tokens, name + 1):
        return "QUANTIFIER"
    return "REDUCE" if word == "reduce" and text_at(tokens, name + 3) == "=" else None


def bars_of(tokens: Sequence[Token], pairs: Pairs, opening: int) -> Iterator[int]:
    """The places of the `|`s that stand between a pair of brackets and no other."""
    return _own(tokens, pairs, opening, "|")


def _names_items(tokens: Sequence[Token], opening: int) -> bool:
    """Whether `x IN` follows a bracket; `null IN` is a test."""
    name = opening + 1
    if name >= len(tokens) or tokens[name].type != NAME or tokens[name].text.upper() in _CONSTANTS:
        return False
    return text_at(tokens, name + 1).upper() == "IN"


def _own(tokens: Sequence[Token], pairs: Pairs, opening: int, sign: str) -> Iterator[int]:
    """The places of a sign that stands between a pair of brackets and no other."""
    place = opening + 1
    while place < pairs.get(opening, place):
        if tokens[place].text == sign:
            yield place
        place = pairs.get(place, place) + 1


def _is_node(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the bracket `(` at `opening`, which is closed somewhere, begins as a node pattern does."""
    inside = opening + 1
    if tokens[inside].type == NAME and tokens[inside].text.upper() not in ("WHERE", "IS"):
        inside += 1
    word = text_at(tokens, inside).upper()
    if word == "IS":
        return text_at(tokens, inside + 1).upper() not in ("NULL", "NOT")
    if word.startswith("$"):
        return text_at(tokens, inside + 1).upper() in (")", "WHERE")  # `($a + 1) - [2][0]` subtracts
    return word in (")", ":", "{", "WHERE")


def _is_word(token: Token) -> bool:
    return token.type == NAME and token.text.isascii() and not token.text.startswith("`")


def text_at(tokens: Sequence[Token], index: int) -> str:
    """The text of the token at `index`; empty after the last."""
    return tokens[index].text if index < len(tokens) else ""
