"""`unparse`: from a syntax tree back to text, in one canonical form. Parsing that text gives an equal tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from gquery.grammar import ast
from gquery.grammar.chains import balanced
from gquery.grammar.literals import is_plain_name, quote_name, quote_string
from gquery.grammar.parser import keywords
from gquery.grammar.unparse_updates import update_text
from gquery.records import replace

# How tightly an expression binds, loosest first. Where the grammar wants a tighter one, brackets are written.
_OR, _XOR, _AND, _NOT, _COMPARISON, _PREDICATE = range(6)
_SUM, _PRODUCT, _POWER, _SIGN, _UNSIGNED, _LABELLED, _POSTFIX = range(6, 13)

_CHAINS = {"or": _OR, "xor": _XOR, "and": _AND}
_OPERATORS = (
    dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _COMPARISON)
    | dict.fromkeys(("in", "=~", "contains", "starts with", "ends with"), _PREDICATE)
    | dict.fromkeys(("+", "-"), _SUM)
    | dict.fromkeys(("*", "/", "%"), _PRODUCT)
    | {"^": _POWER}
)
_LABEL_OR, _LABEL_AND, _LABEL_TERM = range(3)


def unparse(node: ast.Node) -> str:
    """The canonical text of any node of a syntax tree."""
    if isinstance(node, ast.LabelExpression):
        return _label(node, _LABEL_OR)
    if isinstance(node, ast.Expression):
        return _expression(node, _OR)
    if isinstance(node, ast.Update):
        return update_text(node, unparse)
    return _PARTS[type(node)](node)


# --- clauses -----------------------------------------------------------------------------------------------------


def _query(query: ast.Query) -> str:
    command = f"{query.command.upper()} " if query.command else ""
    return command + "\n".join(map(unparse, query.clauses))


def _match(match: ast.Match) -> str:
    words = ["OPTIONAL MATCH" if match.optional else "MATCH"]
    if match.mode is not None:
        words.append(match.mode.upper())
    words.append(_listed(map(_path, match.patterns)))
    words += map(_hint, match.hints)
    return " ".join([*words, *_where(match.where)])


def _hint(hint: ast.OrderHint | ast.DeviceHint) -> str:
    if isinstance(hint, ast.DeviceHint):
        return f"USING DEVICE {_name(hint.device)}"
    word = "START" if len(hint.nodes) == 1 else "ORDER"
    return f"USING {word} {_listed(_name(node.name) for node in hint.nodes)}"


def _unwind(clause: ast.Unwind) -> str:
    return f"UNWIND {_expression(clause.items, _OR)} AS {_name(clause.variable.name)}"


def _call_clause(clause: ast.Call) -> str:
    seen = "*" if clause.star else _listed(_name(each.name) for each in clause.imports or ())
    imports = f" ({seen})" if clause.star or clause.imports is not None else ""
    return f"{'OPTIONAL ' if clause.optional else ''}CALL{imports} {{ {_query(clause.query)} }}"


def _procedure(clause: ast.Procedure) -> str:
    columns = () if clause.columns is None else ("YIELD", _listed(map(_item, clause.columns)))
    return " ".join([f"CALL {clause.name}()", *columns, *_where(clause.where)])


def _union(clause: ast.Union) -> str:
    return ("\nUNION\n" if clause.distinct else "\nUNION ALL\n").join(map(_query, clause.branches))


def _return(clause: ast.Return) -> str:
    return " ".join(["RETURN", *_projecting(clause)])


def _with(clause: ast.With) -> str:
    return " ".join(["WITH", *_projecting(clause), *_where(clause.where)])


def _projecting(clause: ast.Projecting) -> Iterable[str]:
    if clause.distinct:
        yield "DISTINCT"
    yield _listed([*(["*"] if clause.star else []), *map(_item, clause.items)])
    if clause.order_by:
        yield "ORDER BY " + _listed(map(_sort_item, clause.order_by))
    if clause.skip is not None:
        yield "SKIP " + _expression(clause.skip, _OR)
    if clause.limit is not None:
        yield "LIMIT " + _expression(clause.limit, _OR)


def _item(item: ast.ProjectionItem) -> str:
    alias = "" if item.alias is None else f" AS {_name(item.alias)}"
    return _expression(item.expression, _OR) + alias


def _sort_item(item: ast.SortItem) -> str:
    nulls = "" if item.nulls is None else f" NULLS {item.nulls.upper()}"
    return _expression(item.expression, _OR) + (" DESC" if item.descending else "") + nulls


# --- patterns ----------------------------------------------------------------------------------------------------


def _path(path: ast.PathPattern) -> str:
    parts = [_node(path.nodes[0])]
    for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
        parts += [_relationship(relationship), _node(node)]
    words = [] if path.variable is None else [_name(path.variable.name), "="]
    if path.shortest is not None:
        words.append({"all": "ALL SHORTEST", 1: "ANY SHORTEST"}.get(path.shortest, f"SHORTEST {path.shortest}"))
    if path.mode is not None:
        words.append(path.mode.upper())
    return " ".join([*words, "".join(parts)])


def _node(node: ast.NodePattern) -> str:
    return f"({_details(node.variable, node.labels, node)})"


def _relationship(relationship: ast.RelationshipPattern) -> str:
    if relationship.inside is not None and relationship.length is not None:
        inside = " ".join([_path(relationship.inside), *_where(relationship.where)])
        return f"({inside}){_quantifier(relationship.length)}"
    left = "<-" if relationship.direction == "in" else "-"
    right = "->" if relationship.direction == "out" else "-"
    return f"{left}[{_details(relationship.variable, relationship.types, relationship)}]{right}"


def _details(
    variable: ast.Variable | None,
    labels: ast.LabelExpression | None,
    pattern: ast.NodePattern | ast.RelationshipPattern,
) -> str:
    head = "" if variable is None else _name(variable.name)
    if labels is not None:
        head += ":" + _label(labels, _LABEL_OR)
    if isinstance(pattern, ast.RelationshipPattern) and pattern.length is not None:
        head += _length(pattern.length)
    properties = [] if pattern.properties is None else [_expression(pattern.properties, _OR)]
    return " ".join([*([head] if head else []), *properties, *_where(pattern.where)])


def _length(length: ast.Length) -> str:
    if length.most is None:
        return "*" if length.least == 1 else f"*{length.least}.."
    return f"*{length.least}" if length.least == length.most else f"*{length.least}..{length.most}"


def _quantifier(length: ast.Length) -> str:
    return f"{{{length.least},{'' if length.most is None else length.most}}}"


def _where(condition: ast.Expression | None) -> list[str]:
    return [] if condition is None else ["WHERE " + _expression(condition, _OR)]


def _label(label: ast.LabelExpression, level: int) -> str:
    match label:
        case ast.LabelName(name=name):
            return name if is_plain_name(name) else quote_name(name)
        case ast.LabelWildcard():
            return "%"
        case ast.LabelNot(operand=operand):
            return "!" + _label(operand, _LABEL_TERM)
        case ast.LabelAnd():
            own, sign = _LABEL_AND, "&"
        case _:
            own, sign = _LABEL_OR, "|"
    text = sign.join(_label(operand, own + 1) for operand in _chained(label))
    return f"({text})" if own < level else text


# --- expressions -------------------------------------------------------------------------------------------------


def _expression(node: ast.Expression, level: int) -> str:
    """The text of an expression, in brackets where it binds less tightly than `level`."""
    own, text = _EXPRESSIONS[type(node)](node)
    return f"({text})" if own < level else text


def _binary(node: ast.Binary) -> tuple[int, str]:
    word = f" {node.operator.upper()} "
    if node.operator in _CHAINS:
        own = _CHAINS[node.operator]
        return own, word.join([_expression(operand, own + 1) for operand in _chained(node)])
    own = _OPERATORS[node.operator]
    left = own + 1 if own == _COMPARISON else own
    return own, _expression(node.left, left) + word + _expression(node.right, own + 1)


def _unary(node: ast.Unary) -> tuple[int, str]:
    if node.operator == "not":
        return _NOT, "NOT " + _expression(node.operand, _NOT)
    if node.operator in ("+", "-"):
        level = _SIGN if node.operator == "+" else _UNSIGNED
        return _UNSIGNED, node.operator + _expression(node.operand, level)
    return _PREDICATE, _expression(node.operand, _PREDICATE) + " " + node.operator.upper()


def _literal(node: ast.Literal) -> tuple[int, str]:
    value = node.value
    if isinstance(value, str):
        return _POSTFIX, quote_string(value)
    if value is None or isinstance(value, bool):
        return _POSTFIX, "null" if value is None else str(value).lower()
    text = repr(value)
    return (_UNSIGNED if text.startswith("-") else _SIGN), text


def _label_test(node: ast.LabelTest) -> tuple[int, str]:
    # In brackets where they have a `|`: in a list comprehension a bare one would be the comprehension's.
    return _LABELLED, f"{_expression(node.subject, _POSTFIX)}:{_label(node.labels, _LABEL_AND)}"


def _slice(node: ast.Slice) -> tuple[int, str]:
    start, end = ("" if bound is None else _expression(bound, _OR) for bound in (node.start, node.end))
    return _POSTFIX, f"{_expression(node.subject, _POSTFIX)}[{start}..{end}]"


def _call(node: ast.FunctionCall) -> tuple[int, str]:
    arguments = "*" if node.star else _listed([_expression(argument, _OR) for argument in node.arguments])
    return _POSTFIX, f"{node.name}({'DISTINCT ' if node.distinct else ''}{arguments})"


def _case(node: ast.Case) -> tuple[int, str]:
    words = ["CASE"]
    if node.subject is not None:
        words.append(_expression(node.subject, _OR))
    words += map(_branch, node.branches)
    if node.default is not None:
        words.append("ELSE " + _expression(node.default, _OR))
    return _POSTFIX, " ".join([*words, "END"])


def _branch(branch: ast.CaseBranch) -> str:
    return f"WHEN {_expression(branch.condition, _OR)} THEN {_expression(branch.value, _OR)}"


def _entry(entry: ast.MapEntry) -> str:
    key = entry.key if is_plain_name(entry.key) else quote_name(entry.key)
    return f"{key}: {_expression(entry.value, _OR)}"


def _property(node: ast.Property) -> tuple[int, str]:
    key = node.key if is_plain_name(node.key) else quote_name(node.key)
    return _POSTFIX, f"{_expression(node.subject, _POSTFIX)}.{key}"


def _index(node: ast.Index) -> tuple[int, str]:
    return _POSTFIX, f"{_expression(node.subject, _POSTFIX)}[{_expression(node.index, _OR)}]"


def _comprehension(node: ast.Comprehension) -> tuple[int, str]:
    words = [_name(node.variable.name), "IN", _expression(node.items, _OR), *_where(node.where)]
    if node.result is not None:
        words += ["|", _expression(node.result, _OR)]
    text = " ".join(words)
    return _POSTFIX, f"[{text}]" if node.form == "list" else f"{node.form}({text})"


def _reduce(node: ast.Reduce) -> tuple[int, str]:
    begins = f"{_name(node.accumulator.name)} = {_expression(node.initial, _OR)}"
    steps = f"{_name(node.variable.name)} IN {_expression(node.items, _OR)} | {_expression(node.step, _OR)}"
    return _POSTFIX, f"reduce({begins}, {steps})"


def _list(node: ast.ListLiteral) -> tuple[int, str]:
    if len(node.items) == 1 and isinstance(node.items[0], ast.Binary):
        return _POSTFIX, f"[({_expression(node.items[0], _OR)})]"  # `[x IN y]` would be a list comprehension
    return _POSTFIX, f"[{_listed([_expression(item, _OR) for item in node.items])}]"


def _map(node: ast.MapLiteral) -> tuple[int, str]:
    return _POSTFIX, "{" + _listed([_entry(entry) for entry in node.entries]) + "}"


def _map_projection(node: ast.MapProjection) -> tuple[int, str]:
    parts = [*map(_entry, node.entries), *([".*"] if node.star else [])]
    return _POSTFIX, f"{_name(node.subject.name)} {{{_listed(parts)}}}"


def _parameter(node: ast.Parameter) -> tuple[int, str]:
    plain = is_plain_name("p" + node.name)  # digits may come first
    return _POSTFIX, "$" + (node.name if plain and node.name else quote_name(node.name))


def _variable(node: ast.Variable) -> tuple[int, str]:
    return _POSTFIX, _name(node.name)


def _pattern_predicate(node: ast.PatternPredicate) -> tuple[int, str]:
    return _NOT, _path(node.pattern)


def _exists(node: ast.Exists) -> tuple[int, str]:
    return _POSTFIX, f"EXISTS {{ {_match(node.match)} }}"


def _subquery(node: ast.Subquery) -> tuple[int, str]:
    return _POSTFIX, f"{node.kind.upper()} {{ {_query(node.query)} }}"


# --- shared ------------------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    """A variable's name, quoted where the parser might take it for a keyword."""
    return name if is_plain_name(name) and name.upper() not in keywords() else quote_name(name)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _chained(node: Any) -> list[Any]:
    """The operands of a chain of one operator: all of them if the parser would build this tree, else only two."""
    operands, pending = [], [node]
    while pending:
        part = pending.pop()
        if type(part) is type(node) and getattr(part, "operator", None) == getattr(node, "operator", None):
            pending += [part.right, part.left]
        else:
            operands.append(part)
    join = partial(_join, node)
    return operands if balanced(operands, join) == node else [node.left, node.right]


def _join(model: Any, left: Any, right: Any) -> Any:
    return replace(model, left=left, right=right)


_PARTS: dict[type[ast.Node], Callable[[Any], str]] = {
    ast.Query: _query,
    ast.Match: _match,
    ast.Call: _call_clause,
    ast.Procedure: _procedure,
    ast.Union: _union,
    ast.Return: _return,
    ast.Unwind: _unwind,
    ast.With: _with,
    ast.ProjectionItem: _item,
    ast.SortItem: _sort_item,
    ast.PathPattern: _path,
    ast.NodePattern: _node,
    ast.RelationshipPattern: _relationship,
    ast.Length: _length,
    ast.CaseBranch: _branch,
    ast.MapEntry: _entry,
}
_EXPRESSIONS: dict[type[ast.Expression], Callable[[Any], tuple[int, str]]] = {
    ast.Binary: _binary,
    ast.Unary: _unary,
    ast.Literal: _literal,
    ast.Parameter: _parameter,
    ast.Variable: _variable,
    ast.Property: _property,
    ast.ListLiteral: _list,
    ast.MapLiteral: _map,
    ast.MapProjection: _map_projection,
    ast.Comprehension: _comprehension,
    ast.Reduce: _reduce,
    ast.LabelTest: _label_test,
    ast.Index: _index,
    ast.Slice: _slice,
    ast.FunctionCall: _call,
    ast.Case: _case,
    ast.PatternPredicate: _pattern_predicate,
    ast.Exists: _exists,
    ast.Subquery: _subquery,
}
