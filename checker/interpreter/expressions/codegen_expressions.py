"""Expressions as generated Python source: the values of the reference evaluator in one function, not one function per
node.

Generated code gives a value only where every operation on the way has one. Otherwise it raises one of ``NO_VALUE`` and
the reference evaluator decides (docs/design/generated-evaluator.md). So elements are visited in canonical order
wherever later ones may be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.checker.interpreter.expressions.access import with_entry, with_field
from assay.checker.interpreter.expressions.enumerate_set import interval, may_be_large
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame
from assay.checker.interpreter.expressions.traverse import descendants, free_locals, variables_of
from assay.checker.interpreter.values.domains import domain
from assay.checker.interpreter.values.type_check import range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.interpreter.values.value_order import order_key
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.elaborate.scopes.type_relations import parts
from assay.grammar.elaborate.types.coercion import fits
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import expression
from assay.grammar.values import FrozenMap, RecordValue, Some, VariantValue

NO_VALUE = (Undefined, SpecError, KeyError, IndexError, AttributeError, TypeError, ValueError, ZeroDivisionError)
"""What generated code raises where an operation has no value, or a collection is too large to list."""

_TOTAL = (
    k.Const, k.StateVar, k.Local, k.TypeDomain, k.Not, k.Logic, k.Equal, k.Compare, k.Member, k.Subset, k.IsVariant,
    k.IsSome, k.IfThenElse, k.LetIn, k.Count, k.Times, k.Keys, k.Values, k.Elements, k.ReadField, k.MakeSome,
)  # fmt: skip
"""The nodes that have a value wherever their parts have."""


class PythonWriter:
    """Writes expressions. ``names`` are the Python names of bound variables, ``given`` the objects that the generated
    code needs, by name."""

    def __init__(self, scope: EvaluationScope, local: Callable[[str], str]) -> None:
        self.scope = scope
        self.given: dict[str, Any] = {
            "FrozenMap": FrozenMap, "Some": Some, "RecordValue": RecordValue, "VariantValue": VariantValue,
            "Frame": Frame, "element": _element, "payload": _payload, "with_field": with_field, "put": with_entry,
            "interval": interval,
        }  # fmt: skip
        self.names: dict[str, str] = {}
        self._local = local
        self._bound = self._in_range = 0

    def give(self, value: Any) -> str:
        """A name under which the code gets an object."""
        name = f"g{len(self.given)}"
        self.given[name] = value
        return name

    def bind(self, name: str) -> str:
        """A fresh Python name for a bound variable."""
        self._bound += 1
        found = self.names[name] = f"v{self._bound}"
        return found

    def name(self, name: str) -> str:
        """The source that reads a bound variable."""
        return self.names.get(name) or self._local(name)

    def of(self, node: k.Expr) -> str:
        """The source of an expression."""
        # A constant first: it needs no memo. The memo next: plain code would evaluate the quantifier in each state.
        return self._constant(node) or self._kept(node) or self._plain(node)

    def _constant(self, node: k.Expr) -> str | None:
        """The value of an expression that depends on nothing; None if it depends on something or has no value."""
        if not isinstance(node, _FOLDED) or free_locals(node) or variables_of(node):
            return None
        try:
            value = self.scope.meaning(node)(Frame(()))
        # A guard before it may be false wherever the action is tried: then it is never evaluated.
        except (Undefined, SpecError):
            return None
        # Other values have no literal in Python; the code gets the object itself.
        return repr(value) if isinstance(value, bool | int) else self.give(value)

    def _kept(self, node: k.Expr) -> str | None:
        """A call of the memo for a node; None if its values are not memoised."""
        meaning = self.scope.meaning(node) if isinstance(node, _ASKED) else None
        at = getattr(meaning, "at", None)
        if at is None:
            return None
        assert meaning is not None
        return f"{self.give(at)}(now, ({''.join(f'{self.name(name)}, ' for name in meaning.names)}))"  # type: ignore[attr-defined]

    def _plain(self, node: k.Expr) -> str:
        match expression(node):
            case k.Const(_, value):
                return repr(value) if value is None or isinstance(value, bool | int) else self.give(value)
            case k.StateVar(_, name):
                return f"{'before' if self.scope.old else 'now'}[{self.scope.positions[name]}]"
            case k.Local(_, name):
                return self.name(name)
            case k.Old(_, operand):
                return self._before(operand)
            case k.IfThenElse(_, test, then, otherwise):
                return f"({self.of(then)} if {self.of(test)} else {self.of(otherwise)})"
            case k.LetIn():
                return self._let(node)  # type: ignore[arg-type]
            case _:
                return self._condition(node) or self._value(node) or self._called(node)

    def _before(self, operand: k.Expr) -> str:
        scope, self.scope = self.scope, self.scope.before()
        try:
            return self.of(operand)
        finally:
            self.scope = scope

    def _let(self, node: k.LetIn) -> str:
        value = self.of(node.value)
        name = self.bind(node.binder.name)
        body = self.of(node.body)
        # A call costs more than an assignment, but Python allows no `:=` in the iterable of a comprehension.
        return f"(lambda {name}: {body})({value})" if self._in_range else f"(({name} := {value}), {body})[1]"

    def _called(self, node: k.Expr) -> str:
        """A call of the reference evaluator's function for a node."""
        # Only what the node mentions: the reference evaluator writes the names that it binds into this new frame.
        names = ", ".join(f"{name!r}: {self.name(name)}" for name in sorted(free_locals(node)))
        before = (
            "before" if self.scope.old or any(isinstance(each, k.Old) for each in (node, *descendants(node))) else "()"
        )
        return f"{self.give(self.scope.meaning(node))}(Frame(now, {before}, {{{names}}}))"

    # -------------------------------------------------------------------------------------------------- conditions

    def _condition(self, node: k.Expr) -> str | None:
        match expression(node):
            case k.Not(_, operand):
                return f"(not {self.of(operand)})"
            case k.Logic(_, "implies", (premise, conclusion)):
                return f"({self.of(conclusion)} if {self.of(premise)} else True)"
            case k.Logic(_, op, parts):
                return f"({f' {op} '.join(map(self.of, parts))})"
            case k.Equal(_, left, right, negated):
                return f"({self.of(left)} {'!=' if negated else '=='} {self.of(right)})"
            case k.Compare(_, op, left, right):
                end = "[1]" if isinstance(left.type, t.AtomType) else ""
                return f"({self.of(left)}{end} {op} {self.of(right)}{end})"
            case k.IsVariant(_, operand, variant):
                # Values are named tuples, whose fields Python reads faster by position.
                return f"({self.of(operand)}[0] == {variant!r})"
            case k.IsSome(_, operand):
                return f"({self.of(operand)} is not None)"
            case k.Member(_, item, collection, negated) if not isinstance(collection, k.Interval | k.Subsets):
                # the collection is evaluated after the item
                return f"({self.of(item)} {'not in' if negated else 'in'} {self.of(collection)})"
            case k.Subset(_, left, right, strict) if not isinstance(left.type, t.BagType):
                return f"({self.of(left)} {'<' if strict else '<='} {self.of(right)})"
            case k.Quantified(domain=over) if not self.scope.strict and not may_be_large(over):
                return self._quantified(node)  # type: ignore[arg-type]
            case _:
                return None

    def _quantified(self, node: k.Quantified) -> str:
        # If the body always has a value, the order does not matter, and nothing needs to be sorted.
        elements = self.elements(node.domain, ordered=not is_total(node.body))
        name = self.bind(node.binder.name)
        return f"{'any' if node.kind == 'exists' else 'all'}({self.of(node.body)} for {name} in {elements})"

    def elements(self, node: k.Expr, *, ordered: bool) -> str:
        """The source of the elements of a set or sequence, in canonical order if ``ordered``."""
        match node:
            case k.TypeDomain(_, of) if not may_be_large(node):
                return self.give(domain(of, node.span))
            case k.Interval(_, low, high):
                return f"interval({self._in_domain(low)}, {self._in_domain(high)}, {self.give(node)})"
            case _:
                pass
        value = self._in_domain(node)
        if not ordered or not isinstance(node.type, t.SetType):
            return value
        key = order_key(node.type.item)
        return f"sorted({value})" if key is None else f"sorted({value}, key={self.give(key)})"

    def _in_domain(self, node: k.Expr) -> str:
        """The source of an expression in the domain of a comprehension, where Python does not allow assignment
        expressions."""
        self._in_range += 1
        try:
            return self.of(node)
        finally:
            self._in_range -= 1

    # ------------------------------------------------------------------------------------------------------ values

    def _value(self, node: k.Expr) -> str | None:
        match expression(node):
            case k.Negate(_, operand):
                return f"(-{self.of(operand)})"
            case k.Arithmetic(_, op, left, right):
                return f"({self.of(left)} {op} {self.of(right)})"
            case k.Count(_, operand) if not isinstance(operand.type, t.BagType):
                return f"len({self.of(operand)})"
            case k.MakeSome(_, operand):
                return f"Some({self.of(operand)})"
            case k.MakeSet(_, items):
                return f"frozenset(({self._all(items)}))"
            case k.MakeSeq(_, items):
                return f"({self._all(items)})"
            case k.MakeMap(_, entries):
                return f"FrozenMap(({''.join(f'({self.of(key)}, {self.of(value)}), ' for key, value in entries)}))"
            case k.MakeRecord(_, items):
                return f"RecordValue(({self._all(items)}))"
            case k.MakeVariant(_, variant, items):
                return f"VariantValue({variant!r}, ({self._all(items)}))"
            case k.Checked(_, operand):
                return self.checked(operand, node.type)
            case _:
                return self._collection(node) or self._part(node)

    def _all(self, items: tuple[k.Expr, ...]) -> str:
        return "".join(f"{self.of(item)}, " for item in items)

    def checked(self, node: k.Expr, type_: t.Type) -> str:
        """The source of a value with its range check. Of a collection that grows, what is added is checked alone."""
        match node:
            case k.Combine(_, "union" | "concat" as op, left, right) if _is_in_range(left.type, type_):
                return f"({self.of(left)} {_COMBINED[op]} {self.checked(right, type_)})"
            case _:
                fits = None if _is_in_range(node.type, type_) else range_check(type_)
                value = self.of(node)
                return value if fits is None else f"{self.give(_fitting(fits))}({value})"

    def _collection(self, node: k.Expr) -> str | None:
        match expression(node):
            case k.Filter(_, binder, of, condition) if not isinstance(node.type, t.BagType):
                # No order is needed: every element is looked at, and one without a value ends it in any order.
                elements, name = self.elements(of, ordered=False), self.bind(binder.name)
                make = "tuple" if isinstance(node.type, t.SeqType) else "frozenset"
                return f"{make}([{name} for {name} in {elements} if {self.of(condition)}])"
            # Several generators are left to the reference evaluator: later domains may read earlier binders.
            case k.Image(_, element, (generator,), condition):
                elements, name = self.elements(generator.domain, ordered=False), self.bind(generator.binder.name)
                test = "" if condition is None else f" if {self.of(condition)}"
                make = "tuple" if isinstance(node.type, t.SeqType) else "frozenset"
                return f"{make}([{self.of(element)} for {name} in {elements}{test}])"
            case k.Keys(_, operand) | k.Elements(_, operand):
                return f"frozenset({self.of(operand)})"
            case k.Values(_, operand):
                return f"frozenset({self.of(operand)}.values())"
            case k.Combine(_, op, left, right) if not isinstance(node.type, t.BagType):
                return f"({self.of(left)} {_COMBINED[op]} {self.of(right)})"
            case _:
                return None

    def _part(self, node: k.Expr) -> str | None:
        match expression(node):
            case k.Lookup(_, collection, key) if isinstance(collection.type, t.MapType):
                return f"{self.of(collection)}[{self.of(key)}]"
            case k.Lookup(_, collection, key):
                return f"element({self.of(collection)}, {self.of(key)})"
            case k.Endpoint(_, op, operand) if op != "only":
                return f"{self.of(operand)}[{0 if op == 'first' else -1}]"
            case k.ReadField(_, record, index):
                return f"{self.of(record)}[0][{index}]"
            case k.Payload(_, operand, variant, index):
                return f"payload({self.of(operand)}, {variant!r}, {index})"
            case k.Unwrap(_, operand):
                # Of `none`, which is None, this raises TypeError, one of NO_VALUE.
                return f"{self.of(operand)}[0]"
            case k.UpdateField(_, record, index, value):
                return f"with_field({self.of(record)}, {index}, {self.of(value)})"
            case k.UpdateEntry(_, collection, key, value):
                table, of = collection.type, self.give((collection.type, node.span, key.type))
                # Only a partial map may gain a key; `put` refuses a new key of a total one.
                if isinstance(table, t.MapType) and table.partial:
                    return f"{self.of(collection)}.changed({self.of(key)}, {self.of(value)})"
                return f"put({self.of(collection)}, {self.of(key)}, {self.of(value)}, *{of})"
            case k.Without(_, collection, key):
                return f"{self.of(collection)}.without({self.of(key)})"
            case _:
                return None


_ASKED = (k.Quantified, k.Filter, k.Image, k.Tabulate, k.Aggregate, k.Combine)
"""The nodes whose values may be memoised (``quantifier_memo.WORTH_IT``)."""

_FOLDED = (
    *_ASKED,
    k.TypeDomain,
    k.MakeSet,
    k.MakeSeq,
    k.MakeSome,
    k.MakeRecord,
    k.MakeVariant,
    k.MakeMap,
    k.Logic,
    k.Arithmetic,
)
"""The nodes that are computed once, if they depend on nothing."""

_COMBINED: Mapping[str, str] = {"union": "|", "difference": "-", "intersection": "&", "concat": "+"}


def _is_in_range(have: t.Type, want: t.Type) -> bool:
    """Whether the type of an expression alone says that its values are in the ranges of another one. Total maps are
    looked at: they have to be complete."""
    return fits(have, want) and not _has_total_map(want)


def _has_total_map(type_: t.Type) -> bool:
    return (isinstance(type_, t.MapType) and not type_.partial) or any(map(_has_total_map, parts(type_)))


def is_total(node: k.Expr) -> bool:
    """Whether an expression has a value whatever its names stand for."""
    return all(isinstance(each, _TOTAL) for each in (node, *descendants(node)))


def _element(sequence: Any, index: int) -> Any:
    # Python would count from the end of the sequence.
    if index < 0:
        raise IndexError(index)
    return sequence[index]


def _payload(value: Any, variant: str, index: int) -> Any:
    if value[0] != variant:
        raise ValueError(variant)
    return value[1][index]


def _fitting(fits: Callable[[Any], None]) -> Callable[[Any], Any]:
    def fitting(value: Any) -> Any:
        fits(value)
        return value

    return fitting
