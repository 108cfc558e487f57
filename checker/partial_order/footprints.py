"""The places of the state that an action instance reads and writes, and the conditions that can keep it from happening.

A place is a variable, or one entry of a map variable where the key is known without a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import assert_never

from assay.checker.interpreter.expressions.dispatch import evaluate
from assay.checker.interpreter.expressions.traverse import (
    children,
    descendants,
    free_locals,
    variables_of,
    with_parts_replaced,
)
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

Place = tuple[str, Value | None]
"""A variable and a key of it; None is the whole variable, or a key that depends on the state."""

ALWAYS_DEFINED = (
    k.Const, k.StateVar, k.Local, k.TypeDomain, k.Not, k.Logic, k.Equal, k.Compare, k.Quantified, k.Member, k.Subset,
    k.IsVariant, k.IsSome, k.IfThenElse, k.LetIn, k.Negate, k.Count, k.Times, k.Filter, k.Image, k.MakeSet, k.MakeSeq,
    k.MakeBag, k.MakeMap, k.MakeRecord, k.MakeVariant, k.MakeSome, k.Combine, k.Keys, k.Values, k.Elements, k.ReadField, k.Tabulate, k.Interval,
)  # fmt: skip
"""Expressions that have a value wherever their parts have one."""


@dataclass(frozen=True, slots=True)
class DisablingCondition:
    """A conjunct of a guard, without names that are bound outside it: where it is false, the instance cannot happen.

    That stays so until one of the places in ``reads`` changes. If it reads ``only`` one place, there as ``term``, a
    value of that place decides it.
    """

    expr: k.Expr
    reads: frozenset[Place]
    only: tuple[Place, k.Expr] | None = None

    def allows(self, kernel: k.Kernel, place: Place, values: frozenset[Value]) -> bool:
        """Whether it may be true, or have no value, after one of these values was written to a place."""
        if self.only is None or self.only[0] != place:
            return True
        term = self.only[1]
        for value in values:
            expr = with_parts_replaced(self.expr, lambda e: k.Const(term.type, value) if e == term else None)  # noqa: B023
            try:
                if evaluate(expr, kernel, ()) is not False:
                    return True
            except Undefined:
                return True
        return False


@dataclass(frozen=True, slots=True)
class InstanceFootprint:
    """What an instance reads, writes, and only adds elements to; ``conditions`` are those of its guards.

    ``values`` has, of the places that it writes, those that get one of some known values and nothing else. An instance
    is ``total`` if it either happens or is refused by a guard: no bound cuts it, and everything in it has a value.
    """

    reads: frozenset[Place]
    writes: frozenset[Place]
    adds: frozenset[Place]
    conditions: tuple[DisablingCondition, ...]
    values: Mapping[Place, frozenset[Value]]
    total: bool


def footprint(kernel: k.Kernel, action: k.Action, arguments: Iterable[Value]) -> InstanceFootprint:
    """The footprint of an instance of an action."""
    names = {p.binder.name: k.Const(p.binder.type, v) for p, v in zip(action.parameters, arguments, strict=True)}
    return _Footprints(kernel, dict(names)).of(action.body)


def places_read(kernel: k.Kernel, exprs: Iterable[k.Expr]) -> frozenset[Place]:
    """The places that expressions without free names read."""
    reader = _Footprints(kernel, {})
    return frozenset().union(*map(reader.reads, exprs))


@dataclass(slots=True)
class _Footprints:
    """Walks the lines of one instance. ``known`` are the expressions behind names, ``origins`` the places that picked
    values come from."""

    kernel: k.Kernel
    known: dict[str, k.Expr]
    origins: dict[str, frozenset[Place]] = field(default_factory=dict)
    read: set[Place] = field(default_factory=set)
    written: set[Place] = field(default_factory=set)
    added: set[Place] = field(default_factory=set)
    conditions: list[DisablingCondition] = field(default_factory=list)
    values: dict[Place, set[Value] | None] = field(default_factory=dict)
    """The values that are written to a place; None if one is not known."""
    total: bool = True
    doubtful: set[Place] = field(default_factory=set)
    """The places of earlier conditions that may have no value: where these change, the instance may get stuck."""

    def of(self, body: Iterable[k.Statement]) -> InstanceFootprint:
        for each in body:
            self._line(each)
        values = {place: frozenset(some) for place, some in self.values.items() if some is not None}
        return InstanceFootprint(
            frozenset(self.read),
            frozenset(self.written),
            frozenset(self.added - self.written),
            tuple(self.conditions),
            values,
            self.total,
        )

    def _line(self, line: k.Statement) -> None:
        node = statement(line)
        match node:
            case k.Guard(kind, _, condition):
                self.total &= kind == "when"
                for part in _conjuncts(self._closed(condition)):
                    self._condition(part, can_disable=kind == "when")
            case k.Let(binder, value):
                self.known[binder.name] = closed = self._closed(value)
                self._need(closed)
            case k.Pick(binder, domain):
                closed = self._closed(domain)
                self._need(closed)
                self.origins[binder.name] = self.reads(closed)
            case k.Assign(_, variable, path, value, of):
                closed = self._closed(value)
                self.total &= self._is_defined(closed) and _fits(closed, of)
                self._assign(variable, path, closed)
            # Both branches count, whichever is taken: a footprint may be too large, never too small.
            case k.If(condition, then, otherwise):
                closed = self._closed(condition)
                self.total &= self._is_defined(closed)
                self.read |= self.reads(closed)
                for each in (*then, *otherwise):
                    self._line(each)
            case k.For(binder, domain, body):
                closed = self._closed(domain)
                self.total &= self._is_defined(closed)
                self.read |= self.reads(closed)
                self.origins[binder.name] = self.reads(closed)
                for each in body:
                    self._line(each)
            case _:
                assert_never(node)

    def _condition(self, part: k.Expr, *, can_disable: bool) -> None:
        # A condition on a picked value disables the instance for some values only. It is read, and cannot be the reason
        # why the instance does not happen.
        if can_disable and not free_locals(part):
            reads = self.reads(part) | self.doubtful
            self.conditions.append(DisablingCondition(part, reads, self._only_place(part) if len(reads) == 1 else None))
        self._need(part)

    def _only_place(self, part: k.Expr) -> tuple[Place, k.Expr] | None:
        """The place that a condition reads, and the expression that reads it, if it is the same wherever it stands."""
        every = (part, *descendants(part))
        lookups = {e for e in every if isinstance(e, k.Lookup) and isinstance(e.collection, k.StateVar)}
        inside = {e.collection for e in lookups}
        terms: set[k.Expr] = lookups | {e for e in every if isinstance(e, k.StateVar) and e not in inside}
        # With two terms nothing follows from the value of one place alone.
        if len(terms) != 1:
            return None
        (term,) = terms
        places = self.reads(term)
        return (next(iter(places)), term) if len(places) == 1 else None

    def _need(self, expr: k.Expr) -> None:
        """Note an expression that is evaluated before it is known whether the instance happens."""
        reads = self.reads(expr)
        self.read |= reads
        if not self._is_defined(expr):
            self.doubtful |= reads
            self.total = False

    def _is_defined(self, expr: k.Expr) -> bool:
        """Whether an expression certainly has a value."""
        if self._value(expr) is not None:
            return True
        return all(isinstance(part, ALWAYS_DEFINED) or self._is_total(part) for part in (expr, *descendants(expr)))

    def _is_total(self, expr: k.Expr) -> bool:
        """Whether an operation that may have no value has one here, by its operands."""
        match expr:
            case k.Lookup(_, collection, key) if isinstance(of := collection.type, t.MapType) and not of.partial:
                known = self._value(key)
                if isinstance(of.key, t.RangeType) and isinstance(known, int):
                    return of.key.low <= known <= of.key.high
                return key.type == of.key
            case k.Arithmetic(_, "%" | "//", _, right):
                return self._value(right) not in {None, 0}
            case k.Arithmetic():
                return True
            case k.Checked():
                return self._value(expr) is not None
            case _:
                return False

    def _assign(self, variable: str, path: tuple[k.AtKey | k.AtField, ...], value: k.Expr) -> None:
        # The value of a key is read, too: which entry is written depends on it.
        for step in path:
            if isinstance(step, k.AtKey):
                key_read = self._closed(step.key)
                self.total &= self._is_defined(key_read)
                self.read |= self.reads(key_read)
        of = next(each.type for each in self.kernel.variables if each.name == variable)
        if not path and isinstance(of, t.SetType) and of.capacity is None and _adds_to(variable, value):
            assert isinstance(value, k.Combine)
            # Two unions commute, whatever the set was before. So the variable itself counts as added to, and not as
            # read.
            self.read |= self.reads(value.right)
            self.added.add((variable, None))
            return
        self.read |= self.reads(value)
        key = self._value(self._closed(path[0].key)) if path and isinstance(path[0], k.AtKey) else None
        if path and getattr(of, "capacity", None) is not None:  # whether it fits depends on the other entries
            key = None
        self.total &= not _is_limited(of) and (not path or key is not None or _keys_fit(of, path[0]))
        # A change inside a value keeps the rest of it, and a write at an unknown key keeps all other entries: both read
        # what they do not write.
        if path and (key is None or len(path) > 1):
            self.read.add((variable, key))
        self.written.add((variable, key))
        self._note_value((variable, key), self._value(value) if len(path) == (key is not None) else None)

    def _note_value(self, place: Place, value: Value | None) -> None:
        known = self.values.setdefault(place, set())
        if value is None or known is None:
            self.values[place] = None
        else:
            known.add(value)

    def _closed(self, expr: k.Expr) -> k.Expr:
        """The expression with names replaced by what they stand for."""
        return with_parts_replaced(expr, lambda e: self.known.get(e.name) if isinstance(e, k.Local) else None)

    def _value(self, expr: k.Expr) -> Value | None:
        """The value of an expression that depends on no state and no name; None for others."""
        if variables_of(expr) or free_locals(expr):
            return None
        try:
            return evaluate(expr, self.kernel, ())
        except Undefined:
            return None

    def reads(self, expr: k.Expr) -> frozenset[Place]:
        """The places that an expression reads."""
        match expr:
            case k.Local(_, name):
                # A picked value depends on the places of its set. Parameters are constants here, and what a quantifier
                # binds reads nothing by itself.
                return self.origins.get(name, frozenset())
            case k.StateVar(_, name):
                return frozenset({(name, None)})
            case k.Lookup(_, k.StateVar(of, name), key) if isinstance(of, t.MapType):
                return self.reads(key) | {(name, self._value(key))}
            case _:
                return frozenset().union(*map(self.reads, children(expr)))


def _conjuncts(expr: k.Expr) -> Iterator[k.Expr]:
    if isinstance(expr, k.Logic) and expr.op == "and":
        for part in expr.parts:
            yield from _conjuncts(part)
    else:
        yield expr


def _adds_to(variable: str, value: k.Expr) -> bool:
    return (
        isinstance(value, k.Combine)
        and value.op == "union"
        and isinstance(value.left, k.StateVar)
        and value.left.name == variable
        and variable not in variables_of(value.right)
    )


def _fits(value: k.Expr, of: t.Type) -> bool:
    """Whether a value is certainly one of the type of the place to which it is assigned."""
    if isinstance(of, t.RangeType) and isinstance(value, k.Const) and isinstance(value.value, int):
        return of.low <= value.value <= of.high
    return value.type == of or isinstance(of, t.BoolType)


def _is_limited(of: t.Type) -> bool:
    """Whether a type limits the number of elements of its values, at its top or inside."""
    match of:
        case t.SetType(item, capacity) | t.SeqType(item, capacity) | t.BagType(item, capacity):
            return capacity is not None or _is_limited(item)
        case t.MapType(_, value, capacity):
            return capacity is not None or _is_limited(value)
        case t.OptionType(item):
            return _is_limited(item)
        case t.RecordType(_, fields):
            return any(_is_limited(each.type) for each in fields)
        case t.EnumType(_, variants):
            return any(_is_limited(each.type) for variant in variants for each in variant.fields)
        case _:
            return False


def _keys_fit(of: t.Type, step: k.AtKey | k.AtField) -> bool:
    return isinstance(step, k.AtField) or (isinstance(of, t.MapType) and step.key.type == of.key)
