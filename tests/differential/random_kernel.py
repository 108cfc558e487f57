"""Random well-typed kernels: every type, every statement, every expression, small enough to be searched whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any

from assay.checker.interpreter.values.domains import cardinality
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom

from .random_types import AT, ATOM, DEEP, MARK, MODE, NODE, PAIR, SETS, SHIFTED, SITE, SMALL, TYPES, WIDE, initial

__all__ = ["Maker", "initial", "random_kernel"]


class Maker:
    """Makes expressions; ``scope`` are the bound variables, ``variables`` the state that may be read.

    What is ``wild`` is often undefined, which ends a search soon; what is not reaches more states. With ``symmetric`` nothing tells elements apart:
    none is named, and none is less than another.
    """

    def __init__(self, random: Random, *, symmetric: bool = False) -> None:
        self.random = random
        self.symmetric = symmetric
        self.wild = 1.0 if random.random() < 0.4 else 0.04
        self.variables: list[k.Variable] = []
        self.scope: list[k.Local] = []
        self._names = 0

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def local(self, type_: t.Type) -> k.Local:
        return k.Local(type_, self.name("x"))

    def within(self, binder: k.Local, type_: t.Type, depth: int) -> k.Expr:
        self.scope.append(binder)
        try:
            return self.expr(type_, depth)
        finally:
            self.scope.pop()

    # ---------------------------------------------------------------------------------------------- dispatch

    def expr(self, type_: t.Type, depth: int) -> k.Expr:
        """An expression of the type; an integer where a range is wanted may have any value."""
        chance = self.random.random()
        known = [x for x in self.scope if x.type == type_]
        if known and chance < 0.3:
            return self.random.choice(known)
        stored = [k.StateVar(v.type, v.name) for v in self.variables if v.type == type_]
        if stored and chance < 0.6:
            return self.random.choice(stored)
        if depth > 0 and chance < 0.75 and self.random.random() < self.wild:
            return self.access(type_, depth - 1)
        if depth > 0 and chance < 0.85:
            return self.control(type_, depth - 1)
        return self.make(type_, depth - 1)

    def checked(self, type_: t.Type, depth: int) -> k.Expr:
        """An expression for a payload, field or option: ranges are checked there."""
        value = self.expr(type_, depth)
        return k.Checked(type_, value) if isinstance(type_, t.RangeType) else value

    def control(self, type_: t.Type, depth: int) -> k.Expr:
        if self.random.random() < 0.5:
            return k.IfThenElse(type_, self.expr(t.BOOL, depth), self.expr(type_, depth), self.expr(type_, depth))
        bound = self.random.choice(TYPES)
        binder = self.local(bound)
        value = self.expr(bound, depth)
        return k.LetIn(type_, binder, value, self.within(binder, type_, depth))

    def access(self, type_: t.Type, depth: int) -> k.Expr:
        """A part of something that has such a part."""
        ways: list[Callable[[], k.Expr]] = []
        if type_ == SMALL:
            ways = [
                lambda: k.ReadField(SMALL, self.expr(PAIR, depth), 0),
                lambda: k.ReadField(SMALL, self.expr(MARK, depth), 0),
                lambda: k.Payload(SMALL, self.expr(MODE, depth), "Busy", 0),
                lambda: k.Unwrap(SMALL, self.expr(t.OptionType(SMALL), depth)),
                lambda: k.Lookup(SMALL, self.expr(t.MapType(ATOM, SMALL), depth), self.expr(ATOM, depth)),
                lambda: k.Lookup(
                    SMALL, self.expr(t.MapType(ATOM, SMALL, 2, partial=True), depth), self.expr(ATOM, depth)
                ),
            ]
        elif type_ == ATOM:
            ways = [
                lambda: k.Payload(ATOM, self.expr(MODE, depth), "Lost", 0),
                lambda: k.Unwrap(ATOM, self.expr(t.OptionType(ATOM), depth)),
                lambda: k.Lookup(ATOM, self.expr(t.SeqType(ATOM, 2), depth), self.integer(depth)),
                lambda: k.Lookup(ATOM, self.expr(t.MapType(WIDE, ATOM, 2, partial=True), depth), self.integer(depth)),
                lambda: k.Endpoint(ATOM, self.random.choice(["first", "last"]), self.expr(t.SeqType(ATOM, 2), depth)),
            ]
        elif type_ == PAIR:
            ways = [
                lambda: k.Lookup(PAIR, self.expr(t.MapType(ATOM, PAIR), depth), self.expr(ATOM, depth)),
                lambda: k.Lookup(PAIR, self.expr(t.SeqType(PAIR, 2), depth), self.integer(depth)),
                lambda: k.UpdateField(PAIR, self.expr(PAIR, depth), 0, self.checked(SMALL, depth)),
                lambda: k.Unwrap(PAIR, self.expr(t.OptionType(PAIR), depth)),
            ]
        elif type_ == t.OptionType(ATOM):
            ways = [lambda: k.ReadField(type_, self.expr(DEEP, depth), 0)]
        elif isinstance(type_, t.MapType):
            ways = [
                lambda: k.UpdateEntry(
                    type_, self.expr(type_, depth), self.key(type_.key, depth), self.checked(type_.value, depth)
                )
            ]
            if type_.partial:
                ways.append(lambda: k.Without(type_, self.expr(type_, depth), self.key(type_.key, depth)))
        elif isinstance(type_, t.SeqType):
            ways = [
                lambda: k.Slice(
                    type_, self.random.choice(["take", "drop"]), self.expr(type_, depth), self.integer(depth)
                ),
                lambda: k.Combine(type_, "concat", self.expr(type_, depth), self.expr(type_, depth)),
                lambda: k.UpdateEntry(
                    type_, self.expr(type_, depth), self.integer(depth), self.expr(type_.item, depth)
                ),
            ]
        return self.random.choice(ways)() if ways else self.make(type_, depth)

    def key(self, type_: t.Type, depth: int) -> k.Expr:
        return self.expr(type_, depth)

    # ------------------------------------------------------------------------------------------------- values

    def make(self, type_: t.Type, depth: int) -> k.Expr:
        match type_:
            case t.BoolType():
                return self.condition(depth)
            case t.RangeType() | t.IntType():
                return self.number(type_, depth)
            case t.AtomType() if self.symmetric:
                stored = [k.StateVar(v.type, v.name) for v in self.variables if v.type == type_]
                return self.random.choice([*stored, *(x for x in self.scope if x.type == type_)])
            case t.AtomType(sort):
                at = self.random.randrange(len(sort.elements))
                return k.Const(type_, Atom(sort.name, at, sort.elements[at]))
            case t.EnumType(_, variants):
                chosen = self.random.choice(variants)
                return k.MakeVariant(type_, chosen.name, tuple(self.checked(f.type, depth) for f in chosen.fields))
            case t.RecordType(_, fields):
                return k.MakeRecord(type_, tuple(self.checked(f.type, depth) for f in fields))
            case t.OptionType(item):
                return (
                    k.Const(type_, None) if self.random.random() < 0.4 else k.MakeSome(type_, self.checked(item, depth))
                )
            case t.SetType():
                return self.set(type_, depth)
            case t.MapType():
                return self.map(type_, depth)
            case t.SeqType(item):
                return self.sequence(type_, item, depth)
            case t.BagType(item):
                return self.bag(type_, item, depth)
            case _:
                raise AssertionError(type_)

    def number(self, type_: t.Type, depth: int) -> k.Expr:
        low, high = (type_.low, type_.high) if isinstance(type_, t.RangeType) else (-2, 4)
        if depth <= 0 or self.random.random() > 0.5 * self.wild:
            return k.Const(t.INT, self.random.randint(low, high))
        return self.integer(depth)

    def integer(self, depth: int) -> k.Expr:
        if depth <= 0:
            return k.Const(t.INT, self.random.randint(-1, 3))
        depth -= 1
        pick = self.random.randrange(8)
        if pick < 3:
            op: Any = self.random.choice(
                ["+", "-", "*", "//", "%"] if self.random.random() < self.wild else ["+", "-", "*"]
            )
            return k.Arithmetic(t.INT, op, self.expr(SMALL, depth), self.expr(SHIFTED, depth))
        if pick == 3:
            return k.Negate(t.INT, self.expr(SMALL, depth))
        if pick == 4:
            return k.Count(
                t.INT,
                self.expr(
                    self.random.choice([x for x in TYPES if isinstance(x, t.SetType | t.SeqType | t.BagType)]), depth
                ),
            )
        if pick == 5:
            bag = self.random.choice([t.BagType(ATOM, 2), t.BagType(WIDE, 2)])
            return k.Times(t.INT, self.expr(bag, depth), self.expr(bag.item, depth))
        of = self.random.choice([t.SetType(SHIFTED), t.SetType(WIDE, 2), t.BagType(WIDE, 2), t.SetType(t.INT)])
        name: Any = self.random.choice(["min", "max", "sum"]) if self.random.random() < self.wild else "sum"
        return k.Aggregate(t.INT, name, self.expr(of, depth))

    def set(self, type_: t.SetType, depth: int) -> k.Expr:
        item = type_.item
        pick = self.random.randrange(9)
        if depth <= 0 or pick < 3:
            return k.MakeSet(type_, tuple(self.expr(item, max(0, depth)) for _ in range(self.random.randrange(3))))
        depth -= 1
        if pick < 6:
            op: Any = self.random.choice(["union", "difference", "intersection"])
            return k.Combine(type_, op, self.expr(type_, depth), self.expr(type_, depth))
        if pick == 6:
            binder = self.local(item)
            return k.Filter(type_, binder, self.expr(type_, depth), self.within(binder, t.BOOL, depth))
        if pick == 7:
            return self.image(type_, item, depth)
        return self.special(type_, depth)

    def special(self, type_: t.SetType, depth: int) -> k.Expr:
        if type_.item == ATOM:
            ways: list[Callable[[], k.Expr]] = [
                lambda: k.TypeDomain(type_, ATOM),
                lambda: k.Keys(type_, self.expr(t.MapType(ATOM, SMALL, 2, partial=True), depth)),
                lambda: k.Elements(
                    type_, self.expr(self.random.choice([t.SeqType(ATOM, 2), t.BagType(ATOM, 2)]), depth)
                ),
                lambda: k.ReadField(type_, self.expr(DEEP, depth), 1),
            ]
            return self.random.choice(ways)()
        if isinstance(type_.item, t.RangeType | t.IntType):
            return k.Interval(type_, self.expr(SMALL, depth), self.expr(SHIFTED, depth))
        if type_.item == t.SetType(ATOM):
            return k.Subsets(type_, self.expr(t.SetType(ATOM), depth))
        if type_.item == PAIR:
            return k.Values(type_, self.expr(t.MapType(ATOM, PAIR), depth))
        return k.MakeSet(type_, (self.expr(type_.item, depth),))

    def image(self, type_: t.SetType, item: t.Type, depth: int) -> k.Expr:
        generators = []
        for _ in range(self.random.randint(1, 2)):
            of: t.SetType = self.random.choice([t.SetType(ATOM), t.SetType(AT), t.SetType(SMALL)])
            binder = self.local(of.item)
            generators.append(k.Generator(binder, self.domain(of, depth)))
            self.scope.append(binder)
        condition = self.expr(t.BOOL, depth) if self.random.random() < 0.5 else None
        element = self.expr(item, depth)
        del self.scope[-len(generators) :]
        return k.Image(type_, element, tuple(generators), condition)

    def domain(self, of: t.SetType, depth: int) -> k.Expr:
        """A set to range over, in one of the forms that are never made as values."""
        chance = self.random.random()
        if chance < 0.3 and cardinality(of.item) <= 12:
            return k.TypeDomain(t.SetType(of.item), of.item)
        if chance < 0.5 and isinstance(of.item, t.RangeType):
            return k.Interval(of, self.expr(SMALL, depth), self.expr(SHIFTED, depth))
        if chance < 0.5 and isinstance(of.item, t.SetType) and of.item.item in {ATOM, AT}:
            return k.Subsets(of, self.expr(of.item, depth))
        return self.expr(of, depth)

    def map(self, type_: t.MapType, depth: int) -> k.Expr:
        if type_.partial and depth > 0 and type_.key == ATOM and self.random.random() < 0.3:
            return self.tabulate(type_, self.expr(t.SetType(ATOM), depth), depth)
        if type_.partial:
            entries = [
                (self.key(type_.key, depth), self.checked(type_.value, depth)) for _ in range(self.random.randrange(3))
            ]
            return k.MakeMap(type_, tuple(entries))
        return self.tabulate(type_, k.TypeDomain(t.SetType(type_.key), type_.key), depth)

    def tabulate(self, type_: t.MapType, domain: k.Expr, depth: int) -> k.Expr:
        binder = self.local(type_.key)
        value = self.within(binder, type_.value, depth)
        value = k.Checked(type_.value, value) if isinstance(type_.value, t.RangeType) else value
        return k.Tabulate(type_, binder, domain, value)

    def sequence(self, type_: t.SeqType, item: t.Type, depth: int) -> k.Expr:
        if depth > 0 and self.random.random() < 0.3:
            binder = self.local(item)
            domain = self.expr(type_, depth)
            if self.random.random() < 0.5:
                return k.Filter(type_, binder, domain, self.within(binder, t.BOOL, depth))
            return k.Image(type_, self.within(binder, item, depth), (k.Generator(binder, domain),), None)
        return k.MakeSeq(type_, tuple(self.checked(item, depth) for _ in range(self.random.randrange(3))))

    def bag(self, type_: t.BagType, item: t.Type, depth: int) -> k.Expr:
        if depth > 0 and self.random.random() < 0.5:
            op: Any = self.random.choice(["union", "difference", "intersection", "filter"])
            if op == "filter":
                binder, domain = self.local(item), self.expr(type_, depth - 1)
                return k.Filter(type_, binder, domain, self.within(binder, t.BOOL, depth - 1))
            return k.Combine(type_, op, self.expr(type_, depth - 1), self.expr(type_, depth - 1))
        return k.MakeBag(type_, tuple(self.expr(item, depth) for _ in range(self.random.randrange(3))))

    # --------------------------------------------------------------------------------------------- conditions

    def condition(self, depth: int) -> k.Expr:
        if depth <= 0:
            return k.Const(t.BOOL, self.random.random() < 0.7)
        depth -= 1
        pick = self.random.randrange(12)
        if pick < 3:
            op: Any = self.random.choice(["and", "or", "implies"])
            return k.Logic(t.BOOL, op, (self.expr(t.BOOL, depth), self.expr(t.BOOL, depth)))
        if pick == 3:
            return k.Not(t.BOOL, self.expr(t.BOOL, depth))
        if pick < 6:
            of = self.random.choice(TYPES)
            return k.Equal(t.BOOL, self.expr(of, depth), self.expr(of, depth), self.random.random() < 0.4)
        if pick == 6:
            of = self.random.choice([SMALL, SHIFTED] if self.symmetric else [SMALL, ATOM, SHIFTED])
            return k.Compare(
                t.BOOL, self.random.choice(["<", "<=", ">", ">="]), self.expr(of, depth), self.expr(of, depth)
            )
        if pick == 7:
            return self.quantified(depth)
        if pick == 8 and self.random.random() < 0.4:
            return k.Compare(
                t.BOOL, self.random.choice(["<", "<=", ">", ">="]), self.integer(depth), self.integer(depth)
            )
        if pick == 8:
            of = self.random.choice([x for x in TYPES if isinstance(x, t.SetType | t.SeqType | t.BagType)])
            return k.Member(t.BOOL, self.expr(of.item, depth), self.expr(of, depth), self.random.random() < 0.3)
        if pick == 9:
            of = self.random.choice([x for x in TYPES if isinstance(x, t.SetType | t.BagType)])
            return k.Subset(t.BOOL, self.expr(of, depth), self.expr(of, depth), self.random.random() < 0.3)
        if pick == 10:
            return k.IsVariant(t.BOOL, self.expr(MODE, depth), self.random.choice(["Idle", "Busy", "Lost"]))
        return k.IsSome(t.BOOL, self.expr(t.OptionType(ATOM), depth))

    def quantified(self, depth: int) -> k.Expr:
        of = self.random.choice(SETS)
        binder = self.local(of.item)
        domain = self.domain(of, depth)
        return k.Quantified(
            t.BOOL, self.random.choice(["forall", "exists"]), binder, domain, self.within(binder, t.BOOL, depth)
        )

    # --------------------------------------------------------------------------------------------- statements

    def assign(self, variable: k.Variable, depth: int) -> k.Assign:
        of = variable.type
        label = self.name("u")
        if self.random.random() < 0.4:
            return k.Assign(label, variable.name, (), self.make(of, depth), of)
        if self.random.random() < 0.6:
            match of:
                case t.SeqType() if self.random.random() > self.wild:
                    pass
                case t.MapType(key, value):
                    path = (k.AtKey(self.key(key, depth)),)
                    if isinstance(value, t.RecordType) and self.random.random() < 0.6:
                        at = self.random.randrange(len(value.fields))
                        part = value.fields[at].type
                        return k.Assign(label, variable.name, (*path, k.AtField(at)), self.expr(part, depth), part)
                    if isinstance(value, t.SeqType) and self.random.random() < 0.3:
                        inner = (*path, k.AtKey(self.integer(depth)))
                        return k.Assign(label, variable.name, inner, self.expr(value.item, depth), value.item)
                    return k.Assign(label, variable.name, path, self.expr(value, depth), value)
                case t.SeqType(item):
                    return k.Assign(label, variable.name, (k.AtKey(self.integer(depth)),), self.expr(item, depth), item)
                case t.RecordType(_, fields):
                    at = self.random.randrange(len(fields))
                    return k.Assign(
                        label, variable.name, (k.AtField(at),), self.expr(fields[at].type, depth), fields[at].type
                    )
                case _:
                    pass
        return k.Assign(label, variable.name, (), self.expr(of, depth), of)

    def updates(self, variables: list[k.Variable], depth: int) -> list[k.Statement]:
        return [each for variable in variables for each in self.update(variable, depth, 2)]

    def update(self, variable: k.Variable, depth: int, nesting: int) -> list[k.Statement]:
        """Statements that may assign to a variable: plainly, under a condition, or for each element of a set."""
        pick = self.random.random() if nesting else 0.0
        if pick < 0.55:
            return [self.assign(variable, depth)]
        if pick < 0.65:
            of = self.random.choice(TYPES)
            binder = self.local(of)
            value = self.expr(of, depth)
            return [k.Let(binder, value), *self.inside(binder, variable, depth, nesting)]
        if pick < 0.85:
            condition = self.expr(t.BOOL, depth)
            then = tuple(self.update(variable, depth, nesting - 1))
            otherwise = tuple(self.update(variable, depth, nesting - 1)) if self.random.random() < 0.7 else ()
            return [k.If(condition, then, otherwise)]
        of = self.random.choice([t.SetType(ATOM), t.SetType(AT), t.SetType(SMALL), t.SetType(PAIR), t.SetType(WIDE, 2)])
        binder = self.local(of.item)
        domain = self.domain(of, depth)
        return [k.For(binder, domain, tuple(self.inside(binder, variable, depth, nesting)))]

    def inside(self, binder: k.Local, variable: k.Variable, depth: int, nesting: int) -> list[k.Statement]:
        self.scope.append(binder)
        try:
            return self.update(variable, depth, nesting - 1)
        finally:
            self.scope.pop()

    def action(self, name: str, depth: int) -> k.Action:
        self.scope = []
        parameters = []
        for _ in range(self.random.randrange(3)):
            of = self.random.choice([ATOM, AT, SMALL, t.BOOL, t.OptionType(ATOM)])
            if self.random.random() < 0.1:
                of = self.random.choice([WIDE, MODE, PAIR, t.SetType(ATOM)])
            binder = self.local(of)
            domain: k.Expr = k.TypeDomain(t.SetType(of), of)
            if of == SMALL and self.random.random() < 0.3:
                domain = k.MakeSet(t.SetType(SMALL), tuple(k.Const(t.INT, n) for n in self.random.sample(range(3), 2)))
            parameters.append(k.Parameter(binder, domain))
        self.scope = [parameter.binder for parameter in parameters]
        body: list[k.Statement] = []
        body.extend(self.prefix(depth) for _ in range(self.random.randrange(4)))
        body.extend(
            self.updates(self.random.sample(self.variables, self.random.randint(1, min(2, len(self.variables)))), depth)
        )
        self.scope = []
        return k.Action(name, tuple(parameters), tuple(body), None, None)

    def prefix(self, depth: int) -> k.Statement:
        pick = self.random.random()
        if pick < 0.5:
            return k.Guard("when", self.name("g"), self.expr(t.BOOL, depth))
        if pick < 0.7:
            return k.Guard("bound", self.name("limit"), self.expr(t.BOOL, depth))
        of = self.random.choice(TYPES)
        if pick < 0.85 or not isinstance(of, t.SetType):
            binder = self.local(of)
            value = self.expr(of, depth)
            self.scope.append(binder)
            return k.Let(binder, value)
        binder = self.local(of.item)
        domain = self.domain(of, depth)
        self.scope.append(binder)
        return k.Pick(binder, domain)


def _begin(random: Random, variable: k.Variable, some: Mapping[t.Type, k.Expr]) -> list[k.Statement]:
    """One first value, or any of a small type."""
    of = variable.type
    if cardinality(of) > 12 or (of not in some and random.random() < 0.4):
        return [k.Assign(f"i{variable.name}", variable.name, (), initial(of, some), of)]
    binder = k.Local(of, f"first_{variable.name}")
    pick = k.Pick(binder, k.TypeDomain(t.SetType(of), of))
    return [pick, k.Assign(f"i{variable.name}", variable.name, (), binder, of)]


def random_kernel(
    random: Random, depth: int = 3, *, symmetric: bool = False, types: Sequence[t.Type] = TYPES
) -> k.Kernel:
    """A kernel with up to four variables, three actions and three properties; if ``symmetric``, one that tells no elements apart.

    ``types`` are those that variables may have.
    """
    maker = Maker(random, symmetric=symmetric)
    types = [random.choice(types) for _ in range(random.randint(2, 4))]
    if symmetric:
        types[:2] = [ATOM, AT]
    maker.variables = [k.Variable(f"v{at}", of, ghost=False) for at, of in enumerate(types)]
    variables = tuple(maker.variables)
    some: dict[t.Type, k.Expr] = {ATOM: k.Local(ATOM, "first_v0"), AT: k.Local(AT, "first_v1")} if symmetric else {}
    body = tuple(chain.from_iterable(_begin(random, v, some) for v in variables))
    conditions = tuple(
        k.Guard(random.choice(["when", "bound"]), f"start{at}", maker.expr(t.BOOL, 2))
        for at in range(random.randrange(2))
    )
    actions = tuple(maker.action(f"act{at}", depth) for at in range(random.randint(1, 4)))
    properties = []
    for at, kind in enumerate(random.choices(["invariant", "reachable", "transition", "lemma"], k=random.randrange(4))):
        conjuncts = tuple(k.Conjunct(f"c{at}_{i}", maker.expr(t.BOOL, depth)) for i in range(random.randint(1, 2)))
        if kind == "transition":
            conjuncts = tuple(
                k.Conjunct(c.label, k.Logic(t.BOOL, "implies", (k.Old(t.BOOL, maker.expr(t.BOOL, depth)), c.condition)))
                for c in conjuncts
            )
        properties.append(k.Property(f"p{at}", kind, conjuncts, None))  # type: ignore[arg-type]
    terminal = (k.Conjunct("end", maker.expr(t.BOOL, depth)),) if random.random() < 0.5 else ()
    return k.Kernel(
        "random", None, (NODE, SITE), (), variables, k.Init(body, conditions if random.random() < 0.3 else ()), actions, tuple(a.name for a in actions), tuple(properties),
        terminal, (), frozenset(), (), (),
    )  # fmt: skip
