"""The judge, judged: by the scenarios of openCypher's TCK that are one RETURN, and by the example of the modes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gquery.errors import GQueryError
from gquery.grammar import ast, parse
from tests.conformance.tck_compare import canonical
from tests.conformance.tck_features import Scenario, read_scenarios
from tests.conformance.tck_values import Reader, UnreadableError
from tests.conftest import SHARED
from tests.evaluator.answers import answer
from tests.evaluator.expressions import evaluate
from tests.evaluator.values import Edge, Failure, Graph, Value, Vertex
from tests.soak.tree import (
    Call,
    Expression,
    Literal,
    MapOf,
    Match,
    Node,
    Projection,
    Property,
    Query,
    Step,
    Variable,
    Walk,
)

FEATURES = SHARED / "tck" / "features"
NOTHING = Graph((), ())


def tree_of(parsed: ast.Expression, parameters: dict[str, Value]) -> Expression:
    """An expression of the grammar as the evaluator's. Raises NotImplementedError for what it does not know."""

    def inner(part: ast.Expression) -> Expression:
        return tree_of(part, parameters)

    match parsed:
        case ast.Literal(value=value):
            return Literal(value)
        case ast.Parameter(name=name):
            return Literal(parameters[name], name)
        case ast.ListLiteral(items=items):
            return Call("list", tuple(map(inner, items)))
        case ast.MapLiteral(entries=entries):
            return MapOf(tuple((entry.key, inner(entry.value)) for entry in entries))
        case ast.Property(subject=subject, key=key):
            return Property(inner(subject), key)
        case ast.Unary(operator=operator, operand=operand):
            return Call({"-": "negative"}.get(operator, operator), (inner(operand),))
        case ast.Binary(operator=operator, left=left, right=right):
            return Call(operator, (inner(left), inner(right)))
        case ast.Index(subject=subject, index=index):
            return Call("index", (inner(subject), inner(index)))
        case ast.Slice(subject=subject, start=ast.Expression() as start, end=ast.Expression() as end):
            return Call("slice", (inner(subject), inner(start), inner(end)))
        case ast.FunctionCall(name=name, arguments=arguments, distinct=False, star=False):
            return Call(name, tuple(map(inner, arguments)))
        case ast.Case(subject=None, branches=branches, default=default):
            parts = [inner(part) for branch in branches for part in (branch.condition, branch.value)]
            return Call("case", (*parts, Literal(None) if default is None else inner(default)))
    raise NotImplementedError(type(parsed).__name__)


def expected_and_found(scenario: Scenario) -> tuple[list[str], list[str]] | None:
    """The row of the scenario and the evaluator's; None for what is no single RETURN of known things."""
    steps = {step.text: step for step in scenario.steps}
    result = next((step for step in scenario.steps if step.text.startswith("the result should be")), None)
    temporal = scenario.name.startswith("temporal/")  # mostly made of maps, which gquery has not
    if temporal or "executing query:" not in steps or result is None or len(result.table) != 2:
        return None
    try:
        given = steps["parameters are:"].table if "parameters are:" in steps else ()
        parameters = {name: Reader(text).cell() for name, text in given}
        (clause,) = parse(steps["executing query:"].block).clauses
        assert isinstance(clause, ast.Return)
        trees = [tree_of(item.expression, parameters) for item in clause.items]
        found = [canonical(evaluate(tree, {}, NOTHING)).replace("-0.0", "0.0") for tree in trees]
        return [canonical(Reader(cell).cell()) for cell in result.table[1]], found
    except (GQueryError, ValueError, KeyError, TypeError, NotImplementedError, UnreadableError, Failure):
        return None


@pytest.mark.skipif(not FEATURES.is_dir(), reason="the TCK (../shared/tck) is not here")
def test_single_returns_of_the_tck() -> None:
    judged = 0
    for scenario in read_scenarios(FEATURES):
        if (pair := expected_and_found(scenario)) is not None:
            judged += 1
            assert pair[1] == pair[0], scenario
    assert judged > 200


def test_a_float_that_is_written_beside_a_decimal_is_none() -> None:
    given, written = Literal(Decimal("0.57"), "p"), Literal(10.5)
    assert evaluate(Call("*", (given, written)), {}, NOTHING) == Decimal("5.985")
    assert evaluate(Call("-", (written, given)), {}, NOTHING) == Decimal("9.93")
    for other in (Call("*", (Literal(10.5, "q"), given)), Call("/", (given, written))):
        assert isinstance(evaluate(other, {}, NOTHING), float)


def test_modes() -> None:
    """The example of docs/language.md: Ann knows Bob twice, Dee knows herself."""
    people = [Vertex(name, frozenset({"Person"}), {}) for name in ("Ann", "Bob", "Cid", "Dee", "Eve")]
    pairs = [(0, 1), (0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (1, 4)]
    graph = Graph(tuple(people), tuple(Edge("KNOWS", people[one], people[two], {}) for one, two in pairs))
    walk = Walk(Node("a"), (Step("r", "out", Node("b")), Step("s", "out", Node("c"))))
    modes = ("repeatable elements", "different edges", "different nodes", "induced")
    queries = [Query((Match(mode, (walk,)), Projection(((Variable("a"), "a"),)))) for mode in modes]
    assert [sum(map(len, answer(graph, query).runs)) for query in queries] == [10, 9, 8, 2]
