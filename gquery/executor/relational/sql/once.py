"""Arguments that stand in a statement once, however often a template speaks of them.

A template that repeats its arguments would make the SQL of a nested expression grow by powers. Whatever is more than a
column or a constant is therefore given its name by a lambda over a list of one, `list_transform([argument], lambda x:
...)[1]`: computed once for a row, only where the row needs it, and as fast as the expression itself. DuckDB binds a
lambda inside another's body twice, so arguments stand in the list, never in the body.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from uuid import uuid4

_GIVEN = '" given"'  # no column's name begins like this
_SECRET = uuid4().hex  # no text of a user's can be taken for a mark
_MARK = re.compile(f"\0{_SECRET}:([0-9]+)\0")


def once(arguments: Sequence[str], short: Sequence[bool], write: Callable[[list[str]], str]) -> str:
    """What `write` makes of the arguments, where those that are not `short` stand once."""
    text = write([f"\0{_SECRET}:{index}\0" for index in range(len(arguments))])
    places = Counter(int(index) for index in _MARK.findall(text))
    long = [index for index in sorted(places) if not short[index]]
    spelt = list(arguments)
    if "lambda" not in text and all(places[index] == 1 for index in long):
        return _filled(text, spelt)
    for place, index in enumerate(long):
        spelt[index] = _GIVEN if len(long) == 1 else f"{_GIVEN}.a{place}"
    if not long:
        return _filled(text, spelt)
    given = ", ".join(f"a{place}: {arguments[index]}" for place, index in enumerate(long))
    given = arguments[long[0]] if len(long) == 1 else f"{{{given}}}"
    return f"list_transform([{given}], lambda {_GIVEN}: {_filled(text, spelt)})[1]"


def _filled(text: str, spelt: Sequence[str]) -> str:
    return _MARK.sub(lambda mark: spelt[int(mark[1])], text)
