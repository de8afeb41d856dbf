"""The error for a query that does not parse: where it broke, what could have stood there, and the likely mistake."""

from __future__ import annotations

from gquery.errors import GQueryError, ParseError, Span, did_you_mean
from gquery.grammar.brackets import CLOSING
from gquery.grammar.literals import shown
from gquery.grammar.lookahead import BEFORE_PATHS
from gquery.grammar.refused.broken import Broken
from gquery.grammar.refused.unsupported import unsupported
from gquery.grammar.scanner import NAME

_END = "$END"
_OPERAND = {"CASE", "EXISTS", "COUNT", "COLLECT", "NOT", "NULL", "TRUE", "FALSE", "(", "[", "{", "-", "+"}
_OPERAND |= {"COMPREHENSION", "PATTERN_COMPREHENSION", "QUANTIFIER", "REDUCE"}
_OPERAND |= {NAME, "FUNCTION", "PATTERN", "INTEGER", "FLOAT", "STRING", "PARAMETER"}
_OPERATOR = {"OR", "XOR", "AND", "IN", "CONTAINS", "STARTS", "ENDS", "IS"}
_OPERATOR |= {"{", "=", "<>", "<", "<=", ">", ">=", "=~", "+", "-", "*", "/", "%", "^", ".", "[", ":"}
_WRITING = {"CREATE", "MERGE", "SET", "REMOVE", "DELETE", "DETACH", "FOREACH"}
_WRITES = "(writes)"
_PHRASES = {
    _WRITES: "a clause that writes",
    NAME: "a name",
    "PARAMETER": "a parameter",
    "INTEGER": "a whole number",
    "BAR": "`|`",
    "FUNCTION": "a name and brackets",
    "ORDER": "`ORDER BY`",
    "OPTIONAL": "`OPTIONAL MATCH`",
    _END: "the end of the query",
}
_WORD_HINTS = {
    "SELECT": "a query begins with MATCH and ends with RETURN",
    "GROUP": "rows are grouped by the items of RETURN that hold no aggregate",
    "HAVING": "groups are chosen by WITH: `WITH a, count(*) AS n WHERE n > 1 RETURN a`",
    "LIKE": "use STARTS WITH, ENDS WITH, CONTAINS, or =~ with a regular expression",
    "ILIKE": "use toLower(), or =~ with a regular expression that begins with (?i)",
    "BETWEEN": "write `low <= x <= high`",
    "NOT": "NOT goes before the whole test, such as `NOT a.x IN [1, 2]`",
    "SKIP": "SKIP goes before LIMIT",
    "OFFSET": "OFFSET goes before LIMIT",
    "WHERE": "WHERE goes after the patterns of its MATCH",
    "ORDER": "ORDER BY goes after the items of RETURN or WITH, before SKIP and LIMIT",
    "LIMIT": "LIMIT goes to the end of RETURN or WITH",
    "TOP": "write `LIMIT` and the number at the end",
    "SORT": "write `ORDER BY`",
    "LEFT": "tables are joined by patterns, such as `MATCH (a)-[:KNOWS]->(b)`; OPTIONAL MATCH keeps rows without one",
    "JOIN": "tables are joined by patterns, such as `MATCH (a)-[:KNOWS]->(b)`; OPTIONAL MATCH keeps rows without one",
    "ELSEIF": "write another `WHEN ... THEN ...`",
    "ELIF": "write another `WHEN ... THEN ...`",
    "MOD": "write `%`",
}
_SIGN_HINTS = {
    "!=": "not equal is written `<>`",
    "==": "equal is written `=`",
    "=>": "greater or equal is written `>=`",
    "=<": "less or equal is written `<=`",
    "&&": "write `AND`",
    "||": "write `OR`; texts are joined by `+`",
    "**": "a power is written `^`",
}
_LABEL_HINT = "labels and types are joined by `|`, which is or, and `&`, which is and"
_PROPERTY_HINT = "a value is written `name: value`; other conditions stand in WHERE"
_UNLIKELY_NAMES = {"MATCH", "OPTIONAL", "WHERE", "RETURN", "AND", "OR", "XOR", "IN", "IS", "AS", "BY", "WHEN", "THEN"}
_SHORTEST_MISSPELT = 3  # shorter words are near to some keyword too often


def complaint(broken: Broken) -> GQueryError:
    """The error to raise for a broken parse: the first explanation that fits."""
    return (
        unsupported(broken)
        or _incomplete(broken)
        or _bracket(broken)
        or _arrow(broken)
        or _subquery(broken)
        or _keyword_for_name(broken)
        or _misspelt(broken)
        or _unexpected(broken)
    )


def _incomplete(broken: Broken) -> ParseError | None:
    if not broken.tokens:
        return ParseError("the query is empty", span=broken.span, hint="such as `MATCH (n) RETURN n`")
    if broken.accepted == {_END}:
        return ParseError("one query at a time: more text after `;`", span=broken.span)
    if "RETURN" in broken.accepted and broken.text() in ("", ";"):
        hint = "end it with RETURN and what to return, such as `RETURN *`"
        return ParseError("the query has no RETURN", span=broken.span, hint=hint)
    return None


def _bracket(broken: Broken) -> ParseError | None:
    """A bracket is missing here, or there is one too many."""
    found = broken.text()
    opening = broken.innermost_open()
    if opening is None:
        return ParseError(f"this `{found}` closes nothing", span=broken.span) if found in CLOSING.values() else None
    bracket = broken.tokens[opening]
    closing = CLOSING[bracket.text]
    if opening in broken.pairs or closing not in broken.accepted:
        return None
    if found in CLOSING.values():
        hint = f"the last bracket opened is `{bracket.text}`"
        return ParseError(f"expected `{closing}`, found `{found}`", span=broken.span, hint=hint)
    return ParseError(f"this `{bracket.text}` is never closed", span=bracket.span)


def _arrow(broken: Broken) -> ParseError | None:
    """A relationship begun and not finished as one."""
    accepted, found = broken.accepted, broken.text()
    if broken.last is None:
        return None
    if accepted == {"[", "-"}:
        return _one_dash(broken, broken.last.span)
    if accepted == {"-"} and broken.last.text == "]":
        if found == "{":
            hint = "a length goes behind the arrow, such as `]->{1,3}`"
            return ParseError("a relationship must end with a dash", span=broken.span, hint=hint)
        return ParseError("a relationship must end with a dash", span=broken.span, hint="write `]-` or `]->`")
    if "(" in accepted and accepted <= {"(", ">", "{", "*", "+"} and broken.last.text in ("-", ">"):
        if found == "-":
            return ParseError("a relationship has two dashes, this is a third", span=broken.span)
        return ParseError("a node must follow the relationship", span=broken.span, hint="`()` stands for any node")
    if broken.after_node and found in (">", "="):
        return ParseError("a relationship begins with a dash", span=broken.span, hint="write `-->` or `-[...]->`")
    return None


def _one_dash(broken: Broken, dash: Span) -> ParseError:
    if broken.text() == ">":
        arrow, hint = dash.to(broken.span), "write `-->` or `-[...]->`"
    elif broken.text(-2) == "<":
        arrow, hint = broken.tokens[broken.place - 2].span.to(dash), "write `<--` or `<-[...]-`"
    else:
        arrow, hint = dash, "write `--` or `-[...]-`"
    return ParseError("a relationship has two dashes, here is only one", span=arrow, hint=hint)


def _keyword_for_name(broken: Broken) -> ParseError | None:
    """The last word was taken for a variable: a keyword that came too early, or a node without its brackets."""
    last = broken.last
    if last is None or last.type != NAME:
        return None
    if last.text.upper() in _UNLIKELY_NAMES:
        hint = _comma_hint(broken.text(-2))
        return _expected(broken.accepted_for_last, shown(last.text), last.span, hint)
    if last.text.upper() == "NOT":
        return ParseError("NOT binds too loosely to stand here", span=last.span, hint="write `(NOT ...)`")
    if broken.accepted == {"="} and not _near_keyword(last.text, broken.accepted_for_last, broken):
        return ParseError("a node stands in round brackets", span=last.span, hint=f"write {shown(f'({last.text})')}")
    return None


def _subquery(broken: Broken) -> ParseError | None:
    """`EXIST {`, which was taken for a map projection."""
    opening = broken.place - 1
    if broken.text(-1) != "{" or opening < 1 or broken.tokens[opening - 1].type != NAME:
        return None
    word = broken.tokens[opening - 1]
    hint = did_you_mean(word.text, ["EXISTS"]) if word.text.upper() != "EXISTS" else None
    return ParseError(f"unexpected {shown(word.text)}", span=word.span, hint=hint) if hint else None


def _misspelt(broken: Broken) -> ParseError | None:
    """A word near to a keyword that could stand in its place: this word or, taken for a name, the one before."""
    if hint := _near_keyword(broken.word(), broken.accepted, broken):
        return _expected(broken.accepted, shown(broken.text()), broken.span, hint)
    last = broken.last
    if last is None or last.type != NAME or broken.text() in (",", ")", "]", "}", ";"):
        return None
    if hint := _near_keyword(last.text, broken.accepted_for_last, broken):
        return ParseError(f"unexpected {shown(last.text)}", span=last.span, hint=hint)
    return None


def _near_keyword(word: str, accepted: set[str], broken: Broken) -> str | None:
    if len(word) < _SHORTEST_MISSPELT or word.upper() in broken.keywords or word.upper() in _WORD_HINTS:
        return None
    return did_you_mean(word, sorted(accepted & broken.keywords))


def _unexpected(broken: Broken) -> ParseError:
    found = shown(broken.text()) if broken.text() else _PHRASES[_END]
    return _expected(broken.accepted, found, broken.span, _hint(broken))


def _hint(broken: Broken) -> str | None:
    for signs in (broken.text() + broken.text(1), broken.text(-1) + broken.text()):
        if signs in _SIGN_HINTS:
            return _SIGN_HINTS[signs]
    if hint := _pattern_hint(broken) or _WORD_HINTS.get(broken.word()):
        return hint
    if broken.text() == "!" and "NOT" in broken.accepted:
        return "write `NOT`"
    if broken.word() == "THEN" and "WHEN" in broken.accepted:
        return "a condition stands behind WHEN: `CASE WHEN ... THEN ... ELSE ... END`"
    if broken.text(-1).upper() == "EXISTS":
        return "EXISTS takes a pattern, `EXISTS { (a)-->() }`; a property is there where it IS NOT NULL"
    if NAME in broken.accepted and "CASE" not in broken.accepted and broken.text()[:1] in ("'", '"'):
        return f"a name is written bare or in back-quotes, such as {shown(broken.text()[1:-1])}"
    if broken.text() == ",":
        return _list_hint(broken)
    if "AS" in broken.accepted and broken.word() in _UNLIKELY_NAMES:
        return "write AS and a name before it"
    if "AS" in broken.accepted and broken.word():
        return f"a column is named with AS: {shown('AS ' + broken.text())}"
    return _comma_hint(broken.text(-1)) if broken.text() in (")", "]", "}", "") else None


def _pattern_hint(broken: Broken) -> str | None:
    """The hint for what stands among the labels, properties or lengths of a pattern."""
    found, accepted = broken.text(), broken.accepted
    if {"&", "|"} <= accepted and (found == "," or broken.word() in ("OR", "AND")):
        return _LABEL_HINT
    if found in ("=", "<", ">", "<>") and (accepted == {":"} or (broken.text(-1) == ":" and "CASE" in accepted)):
        return _PROPERTY_HINT
    if found == "-" and ".." in accepted:
        return "a range of lengths is written `*1..3`"
    if found == "*" and accepted == {NAME} and broken.text(-1) == ".":
        subject = broken.text(-2)
        return f"{shown(subject)} is the whole of it, {shown(subject + ' {.*}')} a map of its properties"
    return None


def _list_hint(broken: Broken) -> str | None:
    """The hint for a comma that makes no list."""
    opening = broken.innermost_open()
    if opening is None:
        return "conditions are joined by AND" if {"AND", "RETURN"} <= broken.accepted else None
    return "a list is written `[1, 2]`" if broken.tokens[opening - 1].text.upper() == "IN" else None


def _comma_hint(before: str) -> str | None:
    return "delete the comma, or write what should follow it" if before == "," else None


def _expected(accepted: set[str], found: str, span: Span, hint: str | None) -> ParseError:
    return ParseError(f"expected {_phrase(accepted)}, found {found}", span=span, hint=hint)


def _phrase(accepted: set[str]) -> str:
    """What could have stood there, in words."""
    rest = set(accepted)
    phrases: list[str] = []
    if "CASE" in rest:
        phrases.append("an expression")
        rest -= _OPERAND
    if "AND" in rest:
        phrases.append("an operator")
        rest -= _OPERATOR
    if rest >= _WRITING:
        rest = (rest - _WRITING) | {_WRITES}
    if "(" in rest:
        rest -= BEFORE_PATHS  # few patterns begin with one of them
    if {"<", "-"} <= rest:
        phrases.append("a relationship")
        rest -= {"<", "-", "("}  # nor do many go on with a repeated one
    if {")", ":"} <= rest:
        rest -= {"("}  # a node rather than a repeated pattern
    phrases += sorted({_PHRASES.get(terminal, f"`{terminal}`") for terminal in rest}, key=_phrase_order)
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " or " + phrases[-1]


def _phrase_order(phrase: str) -> tuple[int, str]:
    """Classes of tokens first, then signs, then keywords, the end last."""
    if phrase in (_PHRASES[_WRITES], _PHRASES[_END]):
        return 3, phrase
    if not phrase.startswith("`"):
        return 0, phrase
    return (2 if phrase[1].isalpha() else 1), phrase.strip("`")
