"""Random expressions of a wanted type over the variables of a pattern."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from random import Random
from typing import TypeGuard

from tests.evaluator.values import Value
from tests.soak.tables import KINDS, zone_of
from tests.soak.tree import Call, Expression, HasLabel, Items, Labels, Literal, MapOf, Property, Reduce, Variable

INTEGERS = ("int", "byte", "unsigned")
FLOATS = ("float", "single")
DECIMALS = ("decimal", "fine", "whole")
NUMBERS = (*INTEGERS, "big", *FLOATS, "special", *DECIMALS)
TEXTS = ("text", "coded")
LISTS = (("ints",), ("texts",), ("floats",), ("days",), ("nested",))
# What may be compared with what, so that the answer may be true.
GROUPS = (NUMBERS, NUMBERS, NUMBERS, TEXTS, TEXTS, ("truth",), ("date",), ("local",), ("zoned",), ("time",),
          *LISTS)  # fmt: skip
FUNCTIONS = ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan")
LISTED = (("ints", "int"), ("ints", "int"), ("texts", "text"))
COMPARISONS = ("=", "=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Meaning:
    """What a name stands for. kind: node, relationship, path, value, or list, which has values in no order.
    properties: those of the tables that the name's labels admit, with the kinds that each has there.
    kinds: of a value or of a list's values; none where it is only carried on, as its last digits are not told."""

    kind: str
    properties: dict[str, frozenset[str]] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()


@dataclass
class Typed:
    """names: all that expressions may speak of. labels, types: all that the graph knows. computes: whether elements may
    be items of lists."""

    random: Random
    names: dict[str, Meaning]
    labels: tuple[str, ...]
    types: tuple[str, ...]
    parameters: int = 0
    computes: bool = False

    def named(self, kind: str) -> list[str]:
        return [name for name, meaning in self.names.items() if meaning.kind == kind]

    def readable(self) -> list[tuple[Expression, frozenset[str]]]:
        """All properties and values, and their kinds."""
        found: list[tuple[Expression, frozenset[str]]] = []
        for name, meaning in self.names.items():
            found += [(Property(Variable(name), key), held) for key, held in meaning.properties.items()]
            found += [(Variable(name), meaning.kinds)] if meaning.kind == "value" and meaning.kinds else []
        return found

    def collected(self, kinds: tuple[str, ...]) -> list[str]:
        """The lists of values of these kinds, in no order."""
        return [name for name in self.named("list") if self.names[name].kinds & {*kinds}]

    def literal(self, value: Value, always: bool = False) -> Literal:
        """A constant, or a parameter, which some values can only be."""
        if always or value.__class__.__name__ in ("Decimal", "time") or self.random.random() < 0.3:
            return Literal(value, self.name())
        return Literal(value)

    def name(self) -> str:
        """Of a parameter."""
        self.parameters += 1
        return f"p{self.parameters}"

    def constant(self, kind: str, beside: frozenset[str] = frozenset()) -> Expression:
        """`beside`: the kinds of what it is compared with; a text stays one beside several."""
        value = self.random.choice(KINDS[kind][1])
        if len(beside) > 1 and value == "2024-02-29":
            value = "1"
        if kind == "zoned":
            value = value.replace(tzinfo=zone_of(self.random.choice(["UTC", "+01:00", "-09:30"])))
        if kind in DECIMALS:
            return self.literal(value) if self.random.random() < 0.5 else self.literal(float(value))
        return self.literal(value, always=is_odd(value))

    def property(self, kinds: tuple[str, ...]) -> Expression | None:
        """A property or a value all of whose kinds are among these."""
        found = [read for read, held in self.readable() if held <= frozenset(kinds)]
        return self.computed(self.random.choice(found)) if found else None

    def computed(self, read: Expression) -> Expression:
        """The same, at times of an element that is the item of a list."""
        match read:
            case Property(Variable() as element, key) if self.computes and self.random.random() < 0.2:
                others = [Variable(name) for name in self.named("node")] if self.random.random() < 0.3 else []
                return Property(Call("head", (Call("list", (element, *others)),)), key)
        return read

    def mixed(self) -> Expression | None:
        """Any property or value, often one that holds several kinds."""
        found = self.readable()
        several = [each for each in found if len(each[1]) > 1]
        return self.random.choice(several if several and self.random.random() < 0.7 else found)[0] if found else None

    def of(self, kinds: tuple[str, ...], depth: int) -> Expression:
        """A property if there is one, a constant, or a function of others."""
        if depth and self.random.random() < 0.35 and (made := self.call(self.random.choice(kinds), depth - 1)):
            return made
        found = self.property(kinds)
        return found if found and self.random.random() < 0.8 else self.constant(self.random.choice(kinds))

    def truth(self, depth: int) -> Expression:
        random = self.random
        if depth and random.random() < 0.35:
            name = random.choice(["and", "or", "or", "not", "xor"])
            return Call(name, tuple(self.truth(depth - 1) for _ in range(1 if name == "not" else 2)))
        match random.choice(
            ["compare"] * 6 + ["in"] * 2 + ["null", "text", "label", "same", "id", "mixed", "truth", "read", "items"]
        ):
            case "in":
                return self.membership(depth)
            case "null":
                tested = self.mixed() or self.of(random.choice(GROUPS), 1)
                return Call(random.choice(["is null", "is not null"]), (tested,))
            case "text":
                name = random.choice(["starts with", "ends with", "contains", "=~"])
                other = self.literal(random.choice(["a.*", "[ab]+", ""])) if name == "=~" else self.of(("text",), 0)
                return Call(name, (self.of(("text",), depth), other))
            case "label" if self.named("node"):
                return HasLabel(random.choice(self.named("node")), self.label())
            case "same":
                kind = random.choice(["node", "relationship"])
                if len(names := self.named(kind)) > 1:
                    one, two = random.sample(names, 2)
                    return Call(random.choice(["=", "<>"]), (Variable(one), Variable(two)))
            case "id" if self.named("node"):
                return self.ids()
            case "mixed" if (one := self.mixed()) is not None:
                held = dict(self.readable())[one]
                constant = self.constant(random.choice(["int", "text", "float"]), held)
                return Call(random.choice(COMPARISONS), (one, random.choice([constant, self.mixed() or constant])))
            case "truth" if (found := self.property(("truth",))) is not None:
                return found
            case "items" if depth:
                return self.quantified(depth - 1)
            case "read":
                text = self.literal(random.choice(["true", "FALSE", "x"]))
                return Call("toboolean", (random.choice([text, self.of(("text",), depth)]),))
        group = random.choice(GROUPS)
        names = ("=", "<>") if group == ("floats",) else COMPARISONS  # how [NaN] is ordered is not said
        return Call(random.choice(names), (self.of(group, depth), self.of(group, max(0, depth - 1))))

    def quantified(self, depth: int) -> Expression:
        form, (kind, of) = self.random.choice(["all", "any", "none", "single"]), self.random.choice(LISTED)
        return Items(form, *self.asked(kind, of, depth))

    def asked(self, kind: str, of: str, depth: int) -> tuple[str, Expression, Expression]:
        """A name for the items of a list of the kind, the list, and a condition that speaks of them."""
        items, name = self.of((kind,), depth), f"i{len(self.names)}"
        return name, items, self.within(name, of).truth(depth)

    def within(self, name: str, kind: str) -> Typed:
        """With one more value in sight, which is spoken of more often."""
        meaning = Meaning("value", kinds=frozenset({kind}))
        others = dict(self.random.sample(list(self.names.items()), min(1, len(self.names))))
        self.parameters += 1  # names of parameters within another range than those around
        return Typed(self.random, {**others, name: meaning}, self.labels, self.types, 1_000_000 * self.parameters)

    def joining(self) -> Expression | None:
        """A value that was carried on compared with a property of its kind: how values join clauses."""
        random = self.random
        pairs = [
            (Variable(name), read)
            for name in self.named("value")
            for read, held in self.readable()
            if held & self.names[name].kinds and read != Variable(name)
        ]
        if not pairs:
            return None
        pair = random.choice(pairs)
        names = ("=", "<>") if "floats" in self.names[pair[0].name].kinds else COMPARISONS
        return Call(random.choice(names), pair if random.random() < 0.5 else pair[::-1])

    def membership(self, depth: int) -> Expression:
        """`value IN list`: a literal list, a parameter or a property."""
        random = self.random
        group = random.choice(GROUPS[:6])
        value = self.of(group, depth)
        values = [random.choice((*KINDS[random.choice(group)][1], None)) for _ in range(random.randint(0, 3))]
        match random.choice(["literal", "parameter", "property", "collected"]):
            case "collected" if lists := self.collected(group):
                return Call("in", (value, Variable(random.choice(lists))))
            case "parameter":
                alike = [each for each in values if each is None or type(each) is type(values[0])]
                return Call("in", (value, self.literal(alike, always=True)))
            case "property" if "int" in group or "text" in group:
                kind = "ints" if "int" in group else "texts"
                return Call("in", (value, self.of((kind,), 1)))
        items = tuple(self.of(group, 0) if random.random() < 0.3 else self.item(each) for each in values)
        return Call("in", (value, Call("list", items)))

    def item(self, value: Value) -> Literal:
        """A constant of a literal list."""
        return self.literal(value, always=is_odd(value))

    def ids(self) -> Expression:
        names = self.named("node")
        one = Call("id", (Variable(self.random.choice(names)),))
        if self.random.random() < 0.5:
            return Call(self.random.choice(COMPARISONS), (one, Call("id", (Variable(self.random.choice(names)),))))
        value: Value = self.random.choice([0, 1, 4, 5, 8, "0", "1", "4", "5"])
        if self.random.random() < 0.3:
            return Call("in", (one, Call("list", (self.literal(value), self.literal(value)))))
        return Call(self.random.choice(COMPARISONS), (one, self.literal(value)))

    def label(self) -> Labels:
        random = self.random
        simple = [Labels(name) for name in (*self.labels, "%")]
        match random.choice(["one", "one", "one", "!", "&", "|"]):
            case "!":
                return Labels("!", (random.choice(simple),))
            case "&" | "|" as operator:
                return Labels(operator, (random.choice(simple), Labels("!", (random.choice(simple),))))
        return random.choice(simple)

    def small(self) -> Literal:
        return self.literal(self.random.choice([1, 2, 3, -2]))

    def call(self, kind: str, depth: int) -> Expression | None:
        """A function or an operator that gives a value of the kind."""
        random = self.random
        if random.random() < 0.2 and kind != "zoned":  # which of two zones a column would have is not said
            return self.choice_of(kind, depth)
        match kind:
            case "int":
                return self.integer(depth)
            case "float":
                return self.floating(depth)
            case "text":
                return self.text(depth)
            case "truth":
                return self.truth(depth)
            case "date":
                return Call("date", (self.of((random.choice(["local", "zoned"]),), 0),))
            case "decimal":
                return Call(random.choice("+-*"), (self.of(("decimal",), 0), self.of(("decimal", "int"), 0)))
            case "ints":
                return self.integers(depth)
            case "texts":
                return self.texts(depth)
        return None

    def choice_of(self, kind: str, depth: int) -> Expression:
        kinds = (*INTEGERS, "big", *FLOATS) if kind in ("int", "float") and self.random.random() < 0.3 else (kind,)
        one, other = self.operand(kinds, depth), self.operand(kinds, depth)
        if self.random.random() < 0.5:
            return self.common("coalesce", (one, other))
        return self.common("case", (self.truth(0), one, other))

    def common(self, name: str, arguments: tuple[Expression, ...]) -> Call:
        """Values that meet in one type. A whole number that is written beside floats becomes a float by gquery's rule,
        and the evaluator, which has no types, cannot tell where: it is a parameter instead, which stays one."""
        if not all(map(is_whole, arguments)):
            arguments = tuple(replace(each, parameter=self.name()) if is_whole(each) else each for each in arguments)
        return Call(name, arguments)

    def operand(self, kinds: tuple[str, ...], depth: int) -> Expression:
        """Decimals without floats among them: what is calculated with both is a float, also where none is met."""
        if kinds[0] not in DECIMALS:
            return self.of(kinds, depth)
        return self.property(kinds) or self.literal(self.random.choice(KINDS[kinds[0]][1]))

    def integer(self, depth: int) -> Expression:
        random = self.random
        number = self.of(INTEGERS, depth)
        match random.randrange(10):
            case 9 if depth:
                items, name = self.of(("ints",), depth - 1), f"i{len(self.names)}"
                step = Call(random.choice("+-"), (Variable("sofar"), Call("coalesce", (Variable(name), Literal(1)))))
                return Reduce("sofar", self.literal(random.choice([0, 5])), name, items, step)
            case 0 | 1:
                return Call(random.choice("+-*"), (number, self.of(INTEGERS, 0)))
            case 2:
                return Call(random.choice("/%"), (number, self.small()))
            case 3 if (lists := self.named("list")) and random.random() < 0.5:
                return Call("size", (Variable(random.choice(lists)),))
            case 3:
                return Call("size", (self.of((random.choice(["text", "ints", "texts"]),), depth),))
            case 4:
                return Call(random.choice(["abs", "sign", "negative"]), (number,))
            case 5:
                field = random.choice(["year", "quarter", "month", "week", "day", "dayOfWeek", "ordinalDay"])
                return Property(self.time(random.choice(["date", "local", "zoned"])), field)
            case 6:
                field = random.choice(["hour", "minute", "second"])
                return Property(self.time(random.choice(["local", "zoned"])), field)
            case 7:
                return Call(random.choice(["head", "last"]), (self.of(("ints",), depth),))
        return Call("index", (self.of(("ints",), depth), self.literal(random.choice([0, 1, -1, 5]))))

    def time(self, kind: str) -> Expression:
        return self.property((kind,)) or self.constant(kind)

    def floating(self, depth: int) -> Expression:
        random = self.random
        number = self.of(("int", *FLOATS), depth)
        match random.randrange(6):
            case 0:
                return Call(random.choice("+-*"), (number, self.of(("float",), 0)))
            case 1:
                return Call("/", (number, self.of(("float",), 0)))
            case 2:
                return Call(random.choice(["ceil", "floor", "round"]), (number,))
            case 3:
                return Call(random.choice(FUNCTIONS), (number,))
            case 4:
                return Call(random.choice(["^", "atan2"]), (number, self.literal(2)))
        return Call("tofloat", (self.of(INTEGERS, depth) if random.random() < 0.5 else self.numeral(),))

    def numeral(self) -> Expression:
        return self.literal(self.random.choice(["1", "1.5", "-2", "x", ""]))

    def text(self, depth: int) -> Expression:
        random = self.random
        text = self.of(TEXTS, depth)
        match random.randrange(8):
            case 0:
                return Call(random.choice(["tolower", "toupper", "trim", "ltrim", "rtrim", "reverse"]), (text,))
            case 1:
                return Call("replace", (text, Literal("a"), self.literal("cc")))
            case 2:
                return Call("substring", (text, self.literal(random.choice([0, 1, 3])), Literal(1)))
            case 3:
                return Call(random.choice(["left", "right"]), (text, self.literal(random.choice([0, 1, 5]))))
            case 4:
                return Call("+", (text, self.of((random.choice(["text", "int"]),), depth)))
            case 5:
                return Call("tostring", (self.of((random.choice(["int", "truth", "date", "text", "float"]),), depth),))
            case 6 if self.named("relationship"):
                return Call("type", (Variable(random.choice(self.named("relationship"))),))
        return Call("head", (self.of(("texts",), depth),))

    def integers(self, depth: int) -> Expression:
        random = self.random
        items = self.of(("ints",), depth)
        match random.randrange(6):
            case 5 if depth:
                name, listed, condition = self.asked("ints", "int", depth - 1)
                result = self.within(name, "int").of(("int",), 0) if random.random() < 0.5 else None
                return Items("list", name, listed, condition if random.random() < 0.7 else None, result)
            case 0:
                return Call("range", (self.literal(random.randint(-1, 2)), self.literal(random.randint(0, 4))))
            case 1:
                return Call(random.choice(["tail", "reverse"]), (items,))
            case 2:
                return self.common("list", (self.of(("int",), depth), self.of(("int",), 0)))
            case 3:
                return Call("+", (items, self.of(("ints",), 0)))
        return Call("slice", (items, Literal(random.choice([0, 1, -2])), Literal(random.choice([0, 1, 2, -1]))))

    def texts(self, depth: int) -> Expression:
        random = self.random
        if self.named("node") and random.random() < 0.4:
            return Call("labels", (Variable(random.choice(self.named("node"))),))
        if random.random() < 0.5:
            return Call("split", (self.of(("text",), depth), Literal(random.choice(["b", "1"]))))
        return Call("list", (self.of(("text",), depth), self.of(("text",), 0)))

    def map(self) -> MapOf:
        keys = self.random.sample(["one", "two", "key"], self.random.randint(1, 2))
        return MapOf(tuple((key, self.of((self.random.choice(["int", "text"]),), 0)) for key in keys))

    def risky(self) -> Expression:
        """What may be an error, by the values that it meets."""
        random = self.random
        number, text = self.of(INTEGERS, 0), self.of(TEXTS, 0)
        match random.randrange(6):
            case 0:
                return Call(random.choice("/%"), (number, self.of(INTEGERS, 0)))
            case 1:
                return Call("substring", (text, number))
            case 2:
                return Call(random.choice(["left", "right"]), (text, number))
            case 3:
                return Call("range", (self.small(), self.of(("int", "byte"), 0), self.of(INTEGERS, 0)))
            case 4:
                return Call(random.choice("+-*"), (self.of(("big",), 0), self.of(("big", "int"), 0)))
        return Call("slice", (self.of(("ints",), 0), number, self.of(INTEGERS, 0)))


def is_whole(tree: Expression) -> TypeGuard[Literal]:
    return isinstance(tree, Literal) and type(tree.value) is int


def is_odd(value: Value) -> bool:
    """Whether a value has no literal of its own."""
    return isinstance(value, dict) or (isinstance(value, float) and (value in (inf, -inf) or value != value))
