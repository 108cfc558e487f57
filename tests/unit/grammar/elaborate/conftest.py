"""A small world in which expressions are elaborated: names of every kind, as a module would declare them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.elaborate.expressions.dispatch import elaborate_expression, elaborate_type
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.scope import (
    ActionEntity,
    ArrayEntity,
    AtomEntity,
    Entity,
    FunctionEntity,
    ModuleEntity,
    Scope,
    SortEntity,
    StateEntity,
    TypeEntity,
    ValueEntity,
    VariantEntity,
)
from assay.grammar.kernel.types import (
    BOOL,
    AtomType,
    BagType,
    EnumType,
    FieldType,
    MapType,
    OptionType,
    RangeType,
    RecordType,
    SeqType,
    SetType,
    Sort,
    Type,
    VariantType,
)
from assay.grammar.parsing.parse import parse, parse_expression
from assay.grammar.syntax import Def, Expr, TypeAlias, TypeExpr
from assay.grammar.values import Atom

HERE = Span("world.assay", 1, 1, 1, 2)

NODE = Sort("Node", ("n1", "n2", "n3"), symmetric=False)
BROKER = Sort("Broker", ("b1", "b2", "b3"), symmetric=True)
WIDE = Sort("Wide", tuple(f"w{i}" for i in range(1, 31)), symmetric=False)
EPOCH = RangeType(0, 3, sized=True)
DIGIT = RangeType(0, 9)
ROLE = EnumType(
    "Role", (VariantType("Off", ()), VariantType("Active", (FieldType("epoch", EPOCH),)), VariantType("Idle", ()))
)
LAMP = EnumType(
    "Lamp", (VariantType("Off", ()), VariantType("Lit", (FieldType("by", AtomType(NODE)), FieldType("at", DIGIT))))
)
VOTE = RecordType(
    "Vote",
    (FieldType("voter", AtomType(NODE)), FieldType("epoch", EPOCH), FieldType("lead", OptionType(AtomType(NODE)))),
)

VARIABLES: dict[str, Type] = {
    "flag": BOOL,
    "digit": DIGIT,
    "epoch": EPOCH,
    "node": AtomType(NODE),
    "other": AtomType(NODE),
    "broker": AtomType(BROKER),
    "leader": OptionType(AtomType(NODE)),
    "maybe": OptionType(DIGIT),
    "role": ROLE,
    "lamp": LAMP,
    "vote": VOTE,
    "ballot": OptionType(VOTE),
    "roles": MapType(AtomType(NODE), ROLE),
    "leaders": MapType(AtomType(NODE), OptionType(AtomType(NODE))),
    "owners": MapType(AtomType(NODE), DIGIT, 3, True),
    "live": SetType(AtomType(NODE)),
    "digits": SetType(DIGIT),
    "brokers": SetType(AtomType(BROKER)),
    "sent": SetType(VOTE, 4),
    "log": SeqType(DIGIT, 5),
    "queue": SeqType(AtomType(NODE), 4),
    "sack": BagType(AtomType(NODE), 6),
    "purse": BagType(DIGIT, 6),
}

FUNCTIONS = """
def majority(s: set[Node]): bool = 2 * count(s) > count(Node)
def next_digit(d: Digit): Digit = d + 1
def owner(n: Node): Node? = if n in live then n else none
def twice(x: int) = x + x
def known(x: Node?): bool = x != none
def forever(x: int): int = forever(x)
def ping(x: int): int = pong(x)
def pong(x: int): int = ping(x)
def peek() = secret
def limit() = MaxEpoch
def broken(x: int): int = x + nowhere
"""


def _atoms(sort: Sort) -> dict[str, Entity]:
    return {
        name: AtomEntity(kernel.Const(AtomType(sort), Atom(sort.name, index, name)), sort, HERE)
        for index, name in enumerate(sort.elements)
    }


def _own() -> dict[str, Entity]:
    own: dict[str, Entity] = {sort.name: SortEntity(sort, HERE) for sort in (NODE, BROKER, WIDE)}
    for sort in (NODE, BROKER, WIDE):
        own |= _atoms(sort)
    own |= {name: StateEntity(name, type_, HERE) for name, type_ in VARIABLES.items()}
    own["secret"] = StateEntity("secret", DIGIT, HERE, ghost=True)
    own["MaxEpoch"] = ValueEntity(kernel.Const(RangeType(3, 3), 3), HERE, size=True)
    own["Fence"] = ValueEntity(kernel.Const(BOOL, True), HERE)
    own["N"] = ValueEntity(kernel.Const(RangeType(4, 4), 4), HERE)
    types = {"Epoch": EPOCH, "Digit": DIGIT, "Role": ROLE, "Lamp": LAMP, "Vote": VOTE, "Huge": RangeType(0, 10**9)}
    own |= {name: TypeEntity(type_, HERE) for name, type_ in types.items()}
    own["Off"] = VariantEntity(((ROLE, ROLE.variants[0]), (LAMP, LAMP.variants[0])), HERE)
    own["Active"] = VariantEntity(((ROLE, ROLE.variants[1]),), HERE)
    own["Idle"] = VariantEntity(((ROLE, ROLE.variants[2]),), HERE)
    own["Lit"] = VariantEntity(((LAMP, LAMP.variants[1]),), HERE)
    own["elect"] = ActionEntity("elect", (("n", AtomType(NODE)), ("d", DIGIT)), HERE)
    own["tick"] = ActionEntity("tick", (), HERE)
    return own


def _channel(index: kernel.Expr | None, prefix: str) -> Scope:
    """The members of an instance, of an array of instances where an index is given."""
    own: dict[str, Entity] = {
        "full": StateEntity(f"{prefix}.full", BOOL, HERE, index),
        "size": StateEntity(f"{prefix}.size", DIGIT, HERE, index),
        "send": ActionEntity(f"{prefix}.send", (("d", DIGIT),), HERE, index),
        "Size": TypeEntity(DIGIT, HERE),
    }
    return Scope(prefix, own)


def world() -> Scope:
    """The module's scope, with every kind of name."""
    own = _own()
    own["left"] = ModuleEntity(_channel(None, "left"), HERE)
    own["right"] = ArrayEntity(AtomType(NODE), lambda key: _channel(key, "right"), HERE)
    shared: dict[str, tuple[Entity, ...]] = {
        "clash": (StateEntity("m.clash", BOOL, HERE), StateEntity("k.clash", BOOL, HERE)),
        "borrowed": (StateEntity("m.borrowed", BOOL, HERE),),
    }
    scope = Scope("world", own, shared)
    for declaration in parse(FUNCTIONS, "functions.assay").module.declarations:
        if isinstance(declaration, Def):
            own[declaration.name.text] = FunctionEntity(declaration, scope)
    return scope


@dataclass
class World:
    """A scope with the diagnostics that were reported in it."""

    scope: Scope = field(default_factory=world)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def allowing(self, **permissions: bool) -> World:
        """The same world where other things are allowed."""
        return World(self.scope.allowing(**permissions), self.diagnostics)

    def syntax(self, text: str) -> Expr:
        parsed = parse_expression(text, "test.assay")
        assert parsed.expression is not None, parsed.diagnostics
        return parsed.expression

    def type(self, text: str) -> Type:
        parsed = parse(f"type T = {text}\n", "type.assay")
        assert parsed.ok, parsed.diagnostics
        declaration = parsed.module.declarations[0]
        assert isinstance(declaration, TypeAlias)
        written: TypeExpr = declaration.type
        return elaborate_type(written, self.scope, self.diagnostics)

    def expression(self, text: str, expected: str | None = None) -> kernel.Expr:
        wanted = None if expected is None else self.type(expected)
        return elaborate_expression(self.syntax(text), self.scope, self.diagnostics, Fresh(), wanted)

    @property
    def codes(self) -> list[str]:
        return [diagnostic.code for diagnostic in self.diagnostics]

    @property
    def messages(self) -> str:
        return "\n".join(
            f"{d.span}: {d.code} {d.message} {[note.message for note in d.notes]}" for d in self.diagnostics
        )


@pytest.fixture
def here() -> World:
    return World()
