"""The types of random specs: their text, and which values they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

HIGHEST = 3
"""The greatest number that a state holds."""


class UndefinedError(Exception):
    """What is asked has no value."""


class UnclearError(Exception):
    """Whether it has one depends on the order in which the parts are looked at."""


@dataclass(frozen=True)
class Sort:
    """A type: its kind, the types of its parts (of an enum, of each variant), and how many elements it has at most."""

    kind: str
    parts: tuple[Sort, ...] = ()
    most: int = 0
    variants: tuple[tuple[str, tuple[Sort, ...]], ...] = ()
    name: str = ""

    @property
    def text(self) -> str:
        most = f", max {self.most}" if self.most else ""
        match self.kind:
            case "option":
                inner = self.parts[0].text
                return f"{inner}?"
            case "tuple":
                return f"({', '.join(part.text for part in self.parts)})"
            case "set" | "seq" | "bag" | "map":
                return f"{self.kind}[{', '.join(part.text for part in self.parts)}{most}]"
            case _:
                return self.name


BOOL = Sort("bool", name="bool")
COUNT = Sort("count", name="Count")
NODE = Sort("node", name="Node")
PAIR = Sort("tuple", (NODE, COUNT))


def option(sort: Sort) -> Sort:
    return Sort("option", (sort,))


def set_of(sort: Sort, most: int = 0) -> Sort:
    return Sort("set", (sort,), most)


def sequence(sort: Sort, most: int) -> Sort:
    return Sort("seq", (sort,), most)


def total(key: Sort, value: Sort) -> Sort:
    return Sort("map", (key, value))


def partial(key: Sort, value: Sort, most: int) -> Sort:
    return Sort("map", (key, value), most)


ENTRY = Sort("record", (NODE, COUNT, option(NODE)), name="Entry")
FIELDS = ("by", "term", "leader")
VOTES = partial(NODE, COUNT, 2)
MESSAGE = Sort(
    "enum",
    name="Message",
    variants=(
        ("Quiet", ()),
        ("Ask", (NODE,)),
        ("Vote", (NODE, COUNT)),
        ("Answer", (NODE, option(PAIR))),
        ("Log", (COUNT, Sort("seq", (COUNT,), 2))),
    ),
)
HEAD = f"""param Node: set = {{a, b, c}}
type Count = 0 .. {HIGHEST}
record Entry: by: Node, term: Count, leader: Node?
enum Message: Quiet, Ask(who: Node), Vote(of: Node, mark: Count), Answer(of: Node, voted: (Node, Count)?), Log(mark: Count, log: seq[Count, max 2])
"""
NODES = tuple(Atom("Node", at, name) for at, name in enumerate("abc"))
STORED: tuple[Sort, ...] = (
    BOOL, COUNT, COUNT, NODE, PAIR, ENTRY, MESSAGE, option(COUNT), option(NODE), option(PAIR), option(MESSAGE),
    set_of(NODE), set_of(NODE), set_of(COUNT), set_of(PAIR), set_of(PAIR, 2), set_of(MESSAGE, 2), set_of(MESSAGE, 3), set_of(set_of(NODE)),
    set_of(total(NODE, BOOL)), set_of(VOTES, 2), set_of(sequence(COUNT, 2)), set_of(option(PAIR), 2), set_of(ENTRY, 2),
    total(NODE, COUNT), total(NODE, BOOL), total(NODE, option(PAIR)), total(NODE, MESSAGE), total(NODE, set_of(NODE)), total(NODE, ENTRY),
    total(NODE, sequence(COUNT, 2)), total(COUNT, option(NODE)), total(PAIR, BOOL), VOTES, partial(PAIR, COUNT, 2), partial(COUNT, set_of(NODE), 2),
    sequence(COUNT, 3), sequence(NODE, 2), sequence(MESSAGE, 2), sequence(PAIR, 2), sequence(set_of(NODE), 2),
    Sort("bag", (NODE,), 3), Sort("bag", (MESSAGE,), 2),
)  # fmt: skip

ITEMS = (NODE, NODE, COUNT, PAIR, MESSAGE, BOOL, option(PAIR), set_of(NODE))
"""What comprehensions go through."""


def tuples(parts: tuple[Sort, ...]) -> list[tuple[Value, ...]]:
    """All combinations of values of small types."""
    found: list[tuple[Value, ...]] = [()]
    for part in parts:
        found = [(*each, value) for each in found for value in values(part)]
    return found


def values(sort: Sort) -> list[Value]:
    """All values of a small type, in order."""
    match sort.kind:
        case "bool":
            return [False, True]
        case "count":
            return list(range(HIGHEST + 1))
        case "node":
            return list(NODES)
        case "tuple":
            return [RecordValue(each) for each in tuples(sort.parts)]
        case "option":
            return [None, *(Some(each) for each in values(sort.parts[0]))]
        case _:
            raise AssertionError(sort)


def parts_of(sort: Sort, value: Any) -> list[tuple[Sort, Any]]:
    """What a value is made of, with the types."""
    match sort.kind:
        case "tuple" | "record":
            return list(zip(sort.parts, value.fields, strict=True))
        case "enum":
            return list(zip(dict(sort.variants)[value.variant], value.payload, strict=True))
        case "option":
            return [] if value is None else [(sort.parts[0], value.value)]
        case "set" | "seq":
            return [(sort.parts[0], each) for each in value]
        case "bag":
            return [(sort.parts[0], each) for each in value]
        case "map":
            return [(sort.parts[at], each[at]) for each in value.items() for at in (0, 1)]
        case _:
            return []


def is_in_range(sort: Sort, value: Any) -> bool:
    """Whether every number in a value is one that the type has."""
    if sort == COUNT:
        return bool(0 <= value <= HIGHEST)
    return all(is_in_range(part, each) for part, each in parts_of(sort, value))


def exceeds(sort: Sort, value: Any) -> bool:
    """Whether a value, or a part of it, has more elements than its type has room for."""
    size = sum(value.values()) if sort.kind == "bag" else len(value) if sort.most else 0
    return size > (sort.most or size) or any(exceeds(part, each) for part, each in parts_of(sort, value))


def first_value(sort: Sort) -> tuple[str, Value]:
    """The text of a first value, and the value."""
    makers: dict[str, Callable[[], tuple[str, Value]]] = {
        "bool": lambda: ("false", False),
        "count": lambda: ("1", 1),
        "node": lambda: ("a", NODES[0]),
        "tuple": lambda: (f"({', '.join(first_value(p)[0] for p in sort.parts)})", RecordValue(_firsts(sort.parts))),
        "record": lambda: (
            f"{sort.name}({', '.join(first_value(p)[0] for p in sort.parts)})",
            RecordValue(_firsts(sort.parts)),
        ),
        "enum": lambda: ("Quiet", VariantValue("Quiet", ())),
        "option": lambda: ("none", None),
        "set": lambda: ("{}", frozenset()),
        "bag": lambda: ("{}", FrozenMap()),
        "seq": lambda: ("[]", ()),
    }
    if sort.kind == "map":
        if sort.most:
            return "{}", FrozenMap()
        text, value = first_value(sort.parts[1])
        return f"[i -> {text}]", FrozenMap((key, value) for key in values(sort.parts[0]))
    return makers[sort.kind]()


def _firsts(parts: tuple[Sort, ...]) -> tuple[Value, ...]:
    return tuple(first_value(part)[1] for part in parts)
