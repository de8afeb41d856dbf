"""Random WITH and RETURN: what they make of the names that there are."""

from __future__ import annotations

from random import Random

from tests.soak.tree import Aggregate, Call, Expression, Literal, Projection, Property, Variable
from tests.soak.typed import DECIMALS, FLOATS, GROUPS, INTEGERS, NUMBERS, Meaning, Typed

ORDERED = (*NUMBERS, "text", "truth", "date", "local", "zoned", "time")
Item = tuple[Expression, Meaning]


def _value(*kinds: str) -> Meaning:
    """No kinds: a value that is only carried on."""
    return Meaning("value", kinds=frozenset(kinds))


def returned(random: Random, typed: Typed, counted: bool) -> Projection:
    """RETURN of some items. `counted`: there are matches that can only be counted."""
    grouped = random.random() < 0.4 or counted
    items = [_item(random, typed) for _ in range(random.choice([0, 1, 2] if grouped else [1, 1, 2, 3]))]
    if grouped:
        items += [_aggregate(random, typed, counted) for _ in range(random.choice([1, 1, 2]))]
    risky = not grouped and random.random() < 0.06
    items += [typed.risky()] if risky else []
    named = tuple((item, f"c{index}") for index, item in enumerate(items))
    distinct = random.random() < 0.25
    order = []
    for item, alias in random.sample(named, min(len(named), random.choice([0, 0, 1, 2]))):
        if not _is_element(item, typed):
            order.append((Variable(alias), random.random() < 0.5))
    if not grouped and not distinct and random.random() < 0.1:
        order.append((typed.of(random.choice(GROUPS), 1), random.random() < 0.5))
    skip = random.choice([0, 1, 3]) if random.random() < 0.15 and not risky else None
    limit = random.choice([0, 1, 2, 5]) if random.random() < 0.25 and not risky else None
    return Projection(named, distinct, tuple(order), skip, limit)


def all_returned(random: Random, typed: Typed) -> Projection:
    """RETURN of every name, or how often each combination of their values is there."""
    items = [(Variable(name), f"c{index}") for index, name in enumerate(typed.names)]
    star = [(Aggregate("count", None), "n")] if random.random() < 0.2 or not items else []
    return Projection((*items, *star), distinct=random.random() < 0.15)


def numbers(random: Random, typed: Typed) -> Projection:
    """RETURN of how many rows there are, perhaps by some value, of sums, or of what there is at all."""
    read = [item for item, _ in typed.readable()]
    keys: list[Expression] = random.sample(read, min(len(read), random.choice([0, 0, 1, 2])))
    if keys and random.random() < 0.2:
        return Projection(tuple((item, f"c{index}") for index, item in enumerate(keys)), distinct=True)
    made = [_number(random, typed) for _ in range(random.choice([1, 1, 2]))]
    return Projection(tuple((item, f"c{index}") for index, item in enumerate([*keys, *made])), distinct=False)


def _number(random: Random, typed: Typed) -> Expression:
    match random.choice(["rows", "rows", "names", "sum", "max"]):
        case "names" if typed.names:
            return Aggregate("count", Variable(random.choice(list(typed.names))), random.random() < 0.3)
        case "sum":
            return Aggregate("sum", typed.of(("int",), 0), random.random() < 0.3)
        case "max":
            return Aggregate("max", typed.of(("int",), 0))
    return Aggregate("count", None)


def carried(random: Random, typed: Typed, fresh: list[str]) -> tuple[Projection, dict[str, Meaning]]:
    """WITH, and what its aliases mean. `fresh`: names that are not taken, at least eight."""
    star = random.random() < 0.12
    kept = [name for name in typed.names if star or random.random() < 0.75]
    aliases = kept if star else _renamed(random, kept, fresh)
    items: list[tuple[Expression, str]] = [(Variable(name), alias) for name, alias in zip(kept, aliases, strict=True)]
    meanings = {alias: typed.names[name] for name, alias in zip(kept, aliases, strict=True)}
    grouped = random.random() < 0.35
    made = [_carried_value(random, typed) for _ in range(random.choice([0, 1, 1, 2] if kept else [1, 2]))]
    made += [_carried_aggregate(random, typed) for _ in range(random.choice([1, 1, 2]) if grouped else 0)]
    dropped = [name for name in typed.names if name not in meanings]
    for item, meaning in made:
        shadows = dropped and random.random() < 0.25
        alias = dropped.pop(random.randrange(len(dropped))) if shadows else fresh.pop()
        items.append((item, alias))
        meanings[alias] = meaning
    random.shuffle(items)
    distinct = random.random() < 0.2
    if distinct or grouped:
        meanings = {alias: _of_groups(meaning) for alias, meaning in meanings.items()}
    cut = random.random() < 0.2
    order = _order(random, meanings) if cut or random.random() < 0.05 else ()
    skip = random.choice([None, 0, 1, 2]) if cut else None
    limit = random.choice([None, 0, 1, 2, 3, 5, 5]) if cut else None
    return Projection(tuple(items), distinct, order, skip, limit, star=star and bool(kept)), meanings


def _renamed(random: Random, names: list[str], fresh: list[str]) -> list[str]:
    """New names for some of them, or the same names for others."""
    if random.random() < 0.15:
        return random.sample(names, len(names))
    return [fresh.pop() if fresh[4:] and random.random() < 0.15 else name for name in names]


def _of_groups(meaning: Meaning) -> Meaning:
    """A value that may stand for others that are equal to it is not calculated with: 1 for 1.0, a moment for the same
    moment in another zone."""
    vague = len(meaning.kinds) > 1 or meaning.kinds & {"zoned", "special"}
    return Meaning(meaning.kind, meaning.properties, meaning.kinds | {"any of a group"}) if vague else meaning


def _order(random: Random, meanings: dict[str, Meaning]) -> tuple[tuple[Expression, bool], ...]:
    """By all that has an order, so that it is told which rows are cut off."""
    keys: list[Expression] = [Variable(name) for name, meaning in meanings.items() if meaning.kind == "value"]
    keys += [Call("id", (Variable(name),)) for name, meaning in meanings.items() if meaning.kind == "node"]
    return tuple((key, random.random() < 0.5) for key in random.sample(keys, len(keys)))


def _carried_value(random: Random, typed: Typed) -> Item:
    """A value that is carried on."""
    match random.choice(["read"] * 4 + ["id", "id", "made", "made", "constant", "any", "null", "end"]):
        case "read" if found := typed.readable():
            read, held = random.choice(found)
            return read, _value(*held)
        case "id" if typed.named("node"):
            name = random.choice(typed.named("node"))
            return Call("id", (Variable(name),)), Meaning(
                "value", kinds=typed.names[name].properties.get("id", frozenset())
            )
        case "end" if edges := typed.named("relationship"):
            return Call(random.choice(["startnode", "endnode"]), (Variable(random.choice(edges)),)), Meaning("node")
        case "made":
            kind = random.choice(["int", "text", "truth", "date"])
            return typed.of((kind,), 1), _value(kind)
        case "any":
            return typed.of(random.choice(GROUPS), 1), _value()
        case "null":
            return Literal(None), _value("int")
    kind = random.choice(["int", "int", "float", "text", "decimal"])
    return typed.constant(kind), _value(kind)


def _carried_aggregate(random: Random, typed: Typed) -> Item:
    """One whose value is exact, so that it may be compared later."""
    distinct = random.random() < 0.2
    name = random.choice(["count(*)", "count", "count", "sum", "avg", "min", "max", "collect", "collect"])
    if name in ("sum", "avg"):
        kind = random.choice(["int", "float"])
        return Aggregate(name, typed.of((kind,), 0), distinct), _value("float" if name == "avg" else kind)
    if name in ("count", "collect") and typed.names and random.random() < 0.6:
        counted = Variable(random.choice(list(typed.names)))
        return Aggregate(name, counted, distinct), _value("int") if name == "count" else Meaning("list")
    if name == "count(*)" or not (found := typed.readable()):
        return Aggregate("count", None), _value("int")
    read, held = random.choice(found)
    meanings = {"count": _value("int"), "collect": Meaning("list", kinds=held)}
    return Aggregate(name, read, distinct), meanings.get(name, _value(*held))


def _is_element(item: Expression, typed: Typed) -> bool:
    """Whether values of the item have no order that the language tells: elements, lists of them, maps."""
    match item:
        case Variable(name):
            return typed.names[name].kind != "value"
        case Aggregate("collect"):
            return True
        case Call("startnode" | "endnode" | "nodes" | "relationships"):
            return True
    return not isinstance(item, Call | Property | Aggregate)


def _item(random: Random, typed: Typed) -> Expression:
    match random.choice(["name", "property", "property", "mixed", "id", "truth", *["value"] * 5, "map", "path"]):
        case "name" if typed.names:
            return Variable(random.choice(list(typed.names)))
        case "property" if (found := typed.property(ORDERED)) is not None:
            return found
        case "mixed" if (found := typed.mixed()) is not None:
            return found
        case "id" if typed.named("node"):
            return Call("id", (Variable(random.choice(typed.named("node"))),))
        case "truth":
            return typed.truth(2)
        case "map":
            return typed.map()
        case "path" if typed.named("path"):
            name = random.choice(["nodes", "relationships", "length", "length"])
            return Call(name, (Variable(random.choice(typed.named("path"))),))
    return typed.of(random.choice(GROUPS), 2)


def _aggregate(random: Random, typed: Typed, star: bool) -> Expression:
    name = random.choice(["count(*)", "count(*)", "count", "sum", "avg", "min", "max", "collect", "stdev", "stdevp"])
    if star or name == "count(*)":
        return Aggregate("count", None)
    distinct = random.random() < 0.25
    if name in ("count", "collect") and typed.names and random.random() < 0.3:
        return Aggregate(name, Variable(random.choice(list(typed.names))), distinct)
    match name:
        case "count" | "collect":
            argument = typed.mixed() or typed.of(random.choice(GROUPS), 1)
        case "sum":
            argument = typed.of(random.choice([INTEGERS, DECIMALS, (*FLOATS, "int"), ("big",), ("special",)]), 1)
        case "min" | "max":
            argument = (random.random() < 0.3 and typed.mixed()) or typed.of(random.choice(GROUPS), 1)
        case _:
            argument = typed.of((*INTEGERS, *FLOATS), 1)
    return Aggregate(name, argument, distinct)
