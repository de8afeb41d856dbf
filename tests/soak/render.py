"""The text of a query's tree, and its parameters."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

from tests.evaluator.values import Value
from tests.soak.tree import (
    Aggregate,
    Call,
    Called,
    Clause,
    Count,
    Exists,
    Expression,
    HasLabel,
    Items,
    Labels,
    Literal,
    MapOf,
    Match,
    Node,
    Property,
    Query,
    Reduce,
    Step,
    Unwind,
    Variable,
    Walk,
)

_INFIX = {"and", "or", "xor", "=", "<>", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%", "^", "=~"}
_INFIX |= {"starts with", "ends with", "contains"}
_SPELLED = {"startnode": "startNode", "endnode": "endNode", "tolower": "toLower", "toupper": "toUpper"}
_SPELLED |= {"tointeger": "toInteger", "tofloat": "toFloat", "toboolean": "toBoolean", "tostring": "toString"}


def text_of(query: Query) -> tuple[str, dict[str, Value]]:
    """The text and the values of its parameters."""
    writer = Writer()
    return writer.query(query), writer.parameters


class Writer:
    def __init__(self) -> None:
        self.parameters: dict[str, Value] = {}

    def query(self, query: Query) -> str:
        words = [self.clause(clause, "WITH") for clause in query.clauses[:-1]]
        return " ".join([*words, self.clause(query.returned, "RETURN")])

    def clause(self, clause: Clause, word: str = "") -> str:
        """`word`: how a projection begins."""
        if isinstance(clause, Match):
            return f"{'OPTIONAL ' if clause.optional else ''}MATCH {clause.mode.upper()} {self.patterns(clause)}"
        if isinstance(clause, Unwind):
            return f"UNWIND {self.expression(clause.values)} AS {clause.name}"
        if isinstance(clause, Called):
            inside = (" UNION " if clause.distinct else " UNION ALL ").join(map(self.query, clause.branches))
            return f"CALL ({', '.join(clause.imports)}) {{ {inside} }}"
        written = ["*"] if clause.star else []
        written += [self.item(*pair) for pair in clause.items if not (clause.star and _as_it_is(*pair))]
        words = [word, *(["DISTINCT"] if clause.distinct else []), ", ".join(written)]
        if clause.order:
            keys = [f"{self.expression(item)}{' DESC' if down else ''}" for item, down in clause.order]
            words.append("ORDER BY " + ", ".join(keys))
        words += [f"SKIP {clause.skip}"] if clause.skip is not None else []
        words += [f"LIMIT {clause.limit}"] if clause.limit is not None else []
        words += [f"WHERE {self.condition(clause.where)}"] if clause.where is not None else []
        return " ".join(words)

    def item(self, item: Expression, alias: str) -> str:
        return alias if _as_it_is(item, alias) else f"{self.expression(item)} AS {alias}"

    def patterns(self, clause: Match) -> str:
        where = "" if clause.where is None else f" WHERE {self.condition(clause.where)}"
        return ", ".join(map(self.walk, clause.walks)) + where

    def condition(self, tree: Expression) -> str:
        """Patterns may stand in a conjunction that has no brackets around it."""
        match tree:
            case Call("and", parts):
                return " AND ".join(map(self.condition, parts))
            case Call("not", (Exists() as part,)):
                return f"NOT {self.expression(part)}"
        return self.expression(tree)

    def walk(self, walk: Walk) -> str:
        name = "" if walk.name is None else f"{walk.name} = "
        if walk.shortest is not None:
            name += "ALL SHORTEST " if walk.shortest == "all" else f"SHORTEST {walk.shortest} "
        name += "" if walk.mode is None else f"{walk.mode.upper()} "
        return name + self.node(walk.start) + "".join(map(self.step, walk.steps))

    def node(self, node: Node) -> str:
        where = "" if node.where is None else f" WHERE {self.expression(node.where)}"
        return f"({_shown(node.name)}{_labels(node.labels)}{self.entries(node.properties)}{where})"

    def step(self, step: Step) -> str:
        if step.inside is not None and step.length is not None:
            where = "" if step.where is None else f" WHERE {self.expression(step.where)}"
            times = ",".join("" if end is None else str(end) for end in step.length)
            return f"({self.walk(step.inside)}{where}){{{times}}}{self.node(step.target)}"
        length = "" if step.length is None else "*{}..{}".format(*("" if end is None else end for end in step.length))
        where = "" if step.where is None else f" WHERE {self.expression(step.where)}"
        inside = f"{_shown(step.name)}{_labels(step.types)}{length}{self.entries(step.properties)}{where}"
        middle = f"-[{inside}]-" if inside else "--"
        arrow = {"out": f"{middle}>", "in": f"<{middle}", "both": middle}[step.direction]
        return arrow + self.node(step.target)

    def entries(self, entries: tuple[tuple[str, Expression], ...]) -> str:
        return f" {{{', '.join(f'{key}: {self.expression(value)}' for key, value in entries)}}}" if entries else ""

    def expression(self, tree: Expression) -> str:
        match tree:
            case Literal(value, None):
                return _literal(value)
            case Literal(value, str() as parameter):
                self.parameters[parameter] = value
                return f"${parameter}"
            case Variable(name):
                return name
            case Property(subject, key):
                return f"{self.expression(subject)}.{key}"
            case MapOf(entries):
                return self.entries(entries).strip() or "{}"
            case HasLabel(variable, labels):
                return f"({variable}{_labels(labels)})"
            case Count(clause):
                return f"COUNT {{ MATCH {self.clause(clause)[6:]} }}"
            case Exists(clause, bare):
                return self.patterns(clause) if bare else f"EXISTS {{ MATCH {self.clause(clause)[6:]} }}"
            case Items(form, item, items, condition, result):
                where = "" if condition is None else f" WHERE {self.expression(condition)}"
                end = "" if result is None else f" | {self.expression(result)}"
                text = f"{item} IN {self.expression(items)}{where}{end}"
                return f"[{text}]" if form == "list" else f"{form}({text})"
            case Reduce(sofar, initial, item, items, step):
                begins = f"{sofar} = {self.expression(initial)}"
                return f"reduce({begins}, {item} IN {self.expression(items)} | {self.expression(step)})"
            case Aggregate(name, argument, distinct):
                inside = "*" if argument is None else self.expression(argument)
                return f"{'stDevP' if name == 'stdevp' else name}({'DISTINCT ' if distinct else ''}{inside})"
            case Call(name, arguments):
                return self.call(name, [self.expression(argument) for argument in arguments])
        raise AssertionError(tree)

    def call(self, name: str, parts: list[str]) -> str:
        match name:
            case "not":
                return f"(NOT {parts[0]})"
            case "negative":
                return f"(-({parts[0]}))"
            case "is null" | "is not null":
                return f"({parts[0]} {name.upper()})"
            case "list":
                return f"[{', '.join(parts)}]"
            case "index":
                return f"{parts[0]}[{parts[1]}]"
            case "slice":
                return f"{parts[0]}[{parts[1]}..{parts[2]}]"
            case "case":
                branches = zip(parts[:-1:2], parts[1::2], strict=True)
                told = " ".join(f"WHEN {test} THEN {value}" for test, value in branches)
                return f"CASE {told} ELSE {parts[-1]} END"
        if name in _INFIX:
            return f"({f' {name.upper()} '.join(parts)})"
        return f"{_SPELLED.get(name, name)}({', '.join(parts)})"


def _as_it_is(item: Expression, alias: str) -> bool:
    return item == Variable(alias)


def _shown(name: str) -> str:
    return "" if name.startswith("_") else name


def _labels(labels: Labels | None, brackets: str = "") -> str:
    return "" if labels is None else ":" + _label(labels)


def _label(labels: Labels) -> str:
    match labels:
        case Labels("!", (part,)):
            return f"!{_label(part)}"
        case Labels(operator, (first, *rest)):
            return f"({operator.join(map(_label, (first, *rest)))})"
    return labels.operator


def _literal(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        case float() if math.isnan(value):
            return "(0.0 / 0.0)"
        case float() if math.isinf(value):
            return "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
        case int() | float() | Decimal():
            return repr(value) if not isinstance(value, Decimal) else str(value)
        case datetime.datetime():
            return f"{'local' if value.tzinfo is None else ''}datetime('{value.isoformat()}')"
        case datetime.date():
            return f"date('{value.isoformat()}')"
        case list():
            return f"[{', '.join(map(_literal, value))}]"
    raise AssertionError(f"{value!r} can only be a parameter")
