"""CASE: its subject, where it has one, is compared with each branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from gquery.errors import UnsupportedError
from gquery.executor.relational.sql.comparison import check_depth, equal
from gquery.executor.relational.sql.once import once
from gquery.planner.ir.expr import Case, Expression, Type, is_volatile

_SUBJECT = '" subject"'  # inside the lambda that it is given to
_INSIDE = 2  # of large subjects: DuckDB binds each twice for every one that it is inside of
_TEXT = 1 << 16  # characters that the repeated subject may take


class CaseTexts(NamedTuple):
    """SQL of the branches' tests and values, and of the default."""

    tests: Sequence[str]
    values: Sequence[str]
    default: str

    def joined(self) -> str:
        branches = " ".join(f"WHEN {test} THEN {value}" for test, value in zip(self.tests, self.values, strict=True))
        return f"CASE {branches} ELSE {self.default} END"


def with_subject(
    case: Case, subject: Expression, text: str, texts: CaseTexts, is_short: Callable[[Expression], bool]
) -> str:
    """The subject's text is written again for each of the branches, unless it is large. is_short: whether an expression
    may be written again and again."""
    check_depth(subject.span, subject.type, *(test.type for test, _ in case.branches))
    if is_volatile(subject):
        raise UnsupportedError("gquery has no CASE of what is random", span=subject.span)
    if is_short(subject) or len(text) * len(texts.tests) <= _TEXT:
        return _compared(case, subject, text, texts, is_short)

    inside = _compared(case, subject, _SUBJECT, texts, lambda each: each is subject or is_short(each))
    if inside.count(f"lambda {_SUBJECT}:") >= _INSIDE:
        raise UnsupportedError("gquery has no CASE of so large a subject, and as large ones in its branches",
                               span=subject.span, hint="name the subjects in a WITH before")  # fmt: skip
    return f"list_transform([{text}], lambda {_SUBJECT}: {inside})[1]"


def _compared(
    case: Case, subject: Expression, text: str, texts: CaseTexts, is_short: Callable[[Expression], bool]
) -> str:
    """The CASE whose tests are whether the subject's text is equal to theirs."""
    tests = [
        once([text, own], [is_short(subject), is_short(test)], partial(_equal_texts, subject.type, test.type))
        for (test, _), own in zip(case.branches, texts.tests, strict=True)
    ]
    return texts._replace(tests=tests).joined()


def _equal_texts(one: Type, other: Type, texts: list[str]) -> str:
    return equal(texts[0], one, texts[1], other)
