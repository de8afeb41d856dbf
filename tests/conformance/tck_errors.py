"""Errors as the TCK names them: `a SyntaxError should be raised at compile time: UndefinedVariable`."""

from __future__ import annotations

import re

import pytest

import gquery

STEP = re.compile(r"an? (?P<kind>\w+) should be raised at (?P<phase>compile time|runtime|any time): (?P<detail>\S+)")

KINDS: dict[str, tuple[type[gquery.GQueryError], ...]] = {
    "SyntaxError": (gquery.ParseError, gquery.BindError),
    "TypeError": (gquery.BindError, gquery.ExecutionError),
    "ArgumentError": (gquery.BindError, gquery.ExecutionError),
    "SemanticError": (gquery.BindError, gquery.ExecutionError),
    "EntityNotFound": (gquery.ExecutionError,),
    "ConstraintVerificationFailed": (gquery.ExecutionError,),
}
SAYS = {
    "*": "cannot take",
    "AmbiguousAggregationExpression": "neither aggregated nor a grouping key|can only use what",
    "ColumnNameConflict": "two columns are called",
    "CreatingVarLength": "variable length",
    "DeleteConnectedNode": "still have",
    "DeletedEntityAccess": "was deleted",
    "FloatingPointOverflow": "too large for a 64-bit float",
    "IntegerOverflow": "does not fit 64 bits",
    "InvalidAggregation": "cannot aggregate",
    "InvalidArgumentType": r"cannot take|takes|needs a whole number|only nodes, relationships|of type .* has no",
    "InvalidArgumentValue": r"cannot take|takes|cannot be|can be tested",
    "InvalidClauseComposition": "expected",
    "InvalidDelete": "DELETE takes",
    "InvalidNumberLiteral": "is not a number",
    "InvalidParameterUse": "parameter",
    "InvalidPropertyType": "the property .* cannot be",
    "InvalidRelationshipPattern": "expected",
    "InvalidUnicodeCharacter": "unexpected character",
    "MapElementAccessByNonString": "a key is a text",
    "MergeReadOwnWrites": "null",
    "NegativeIntegerArgument": "not negative",
    "NestedAggregation": "inside another",
    "NoSingleRelationshipType": "has one type",
    "NoVariablesInScope": "no variable is defined",
    "NonConstantExpression": "cannot depend on the matches",
    "NumberOutOfRange": "lies between|not 0",
    "RelationshipUniquenessViolation": "stands twice",
    "RequiresDirectedRelationship": "has one direction",
    "UndefinedVariable": "is not defined|can only use what",
    "UnexpectedSyntax": "expected|closed|has no value",
    "VariableAlreadyBound": "already",
    "VariableTypeConflict": "cannot be a",
}
"""What gquery's message has to say of each."""


def expect_error(step: str, graph: gquery.Graph, query: str, parameters: dict[str, object]) -> None:
    """Raises AssertionError unless there is an error of the kind, in time: what is certain may be said before anything
    runs, but what has to be known at compile time not later. Errors of another kind go on."""
    wanted = STEP.fullmatch(step)
    assert wanted is not None
    with pytest.raises(KINDS[wanted["kind"]], match=SAYS[wanted["detail"]]):
        _answer(graph.query(query, parameters), wanted["phase"])


def _answer(result: gquery.Result, phase: str) -> None:
    assert phase != "compile time", "no error before the query runs"
    result.rows()
