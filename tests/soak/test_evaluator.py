"""The judge, judged: by the scenarios of openCypher's TCK that are one RETURN, and by the example of the modes."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import gquery
from gquery.errors import GQueryError
from tests.conformance.tck_compare import canonical
from tests.conformance.tck_features import Scenario, read_scenarios
from tests.conformance.tck_setup import Store
from tests.conformance.tck_values import Reader, UnreadableError
from tests.conftest import SHARED
from tests.evaluator.answers import answer
from tests.evaluator.evaluate import evaluate
from tests.evaluator.functions import to_string
from tests.evaluator.values import Edge, Failure, Graph, Path, Value, Vertex
from tests.soak.read import read
from tests.soak.tree import (
    Call,
    Literal,
    Match,
    Node,
    Projection,
    Query,
    Step,
    Variable,
    Walk,
)

FEATURES = SHARED / "tck" / "features"
NOTHING = Graph((), ())


def answered(graph: Graph, text: str, parameters: dict[str, Value] | None = None) -> list[tuple[Value, ...]]:
    """The rows of a query that decides which they are. Those of equal rank stand in some order."""
    found = answer(graph, read(text, parameters))
    return [row for run in found.runs for row in run][found.begin : found.end]


def graph_of(store: Store) -> Graph:
    vertices = [
        Vertex(number, frozenset(node.labels), present(node.properties)) for number, node in enumerate(store.nodes)
    ]
    edges = [
        Edge(edge.types[0], vertices[source], vertices[target], present(edge.properties))
        for source, edge, target in store.relationships
    ]
    return Graph(tuple(vertices), tuple(edges))


def present(properties: dict[str, Value] | None) -> dict[str, Value]:
    found = {key: value for key, value in (properties or {}).items() if value is not None}
    if any(isinstance(value, pa.Scalar) for value in found.values()):
        raise UnreadableError("the evaluator compares no texts with times that a scenario stores")
    return found


def shown(value: Value) -> Value:
    """As gquery shows it."""
    match value:
        case Vertex(id, labels, properties):
            return gquery.Node(id, tuple(labels), properties)
        case Edge(type, source, target, properties):
            return gquery.Relationship(type, source.id, target.id, properties)
        case Path():
            nodes, relationships = value[::2], value[1::2]
            forward = tuple(one.source == before for before, one in zip(nodes, relationships, strict=False))
            return gquery.Path(tuple(map(shown, nodes)), tuple(map(shown, relationships)), forward)
        case list():
            return list(map(shown, value))
        case dict():
            return {key: shown(part) for key, part in value.items()}
    return value


def expected_and_found(scenario: Scenario) -> tuple[list[list[str]], list[list[str]]] | None:
    """The rows of the scenario and the evaluator's; None for what says no rows, or has things that are not known."""
    steps = {step.text: step for step in scenario.steps}
    result = next((step for step in scenario.steps if step.text.startswith("the result should be")), None)
    temporal = scenario.name.startswith("temporal/")  # mostly made of maps, which gquery has not
    if temporal or "executing query:" not in steps or result is None:
        return None
    store = Store()
    try:
        for step in scenario.steps:
            if step.text == "having executed:":
                store.run(step.block)
            elif step.text.endswith(" graph") and step.text.split()[1] not in ("empty", "graph"):
                return None
        given = steps["parameters are:"].table if "parameters are:" in steps else ()
        parameters = {name: Reader(text).cell() for name, text in given}
        rows = answered(graph_of(store), steps["executing query:"].block, parameters)
        any_list_order = "ignoring element order" in result.text
        expected = [[canonical(Reader(cell).cell(), any_list_order) for cell in row] for row in result.table[1:]]
    except (GQueryError, NotImplementedError, UnreadableError, Failure, TypeError):
        return None
    found = [[canonical(shown(value), any_list_order).replace("-0.0", "0.0") for value in row] for row in rows]
    return (expected, found) if "in order" in result.text else (sorted(expected), sorted(found))


@pytest.mark.skipif(not FEATURES.is_dir(), reason="the TCK (../shared/tck) is not here")
def test_the_tck() -> None:
    """Its scenarios that only read."""
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


def test_floats_as_texts() -> None:
    given = (1e7, 4294967295.0, -12345678.9, 1e-5, 0.001, 0.0, 1e20, 9999999.5)
    expected = ["1.0E7", "4.294967295E9", "-1.23456789E7", "1.0E-5", "0.001", "0.0", "1.0E20", "9999999.5"]
    assert list(map(to_string, given)) == expected


def test_modes() -> None:
    """The example of docs/language.md: Ann knows Bob twice, Dee knows herself."""
    people = [Vertex(name, frozenset({"Person"}), {}) for name in ("Ann", "Bob", "Cid", "Dee", "Eve")]
    pairs = [(0, 1), (0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (1, 4)]
    graph = Graph(tuple(people), tuple(Edge("KNOWS", people[one], people[two], {}) for one, two in pairs))
    walk = Walk(Node("a"), (Step("r", "out", Node("b")), Step("s", "out", Node("c"))))
    modes = ("repeatable elements", "different edges", "different nodes", "induced")
    queries = [Query((Match(mode, (walk,)), Projection(((Variable("a"), "a"),)))) for mode in modes]
    assert [sum(map(len, answer(graph, query).runs)) for query in queries] == [10, 9, 8, 2]
