"""Every expression of the kernel as a TLA+ formula.

What is undefined in the language becomes an expression that TLC refuses to evaluate, wherever the formula stays
readable; docs/cli.md lists the exceptions. TLC evaluates conjunctions, disjunctions and implications from left to right
too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.liveness.translate import is_temporal
from assay.checker.tla.expressions.collections import access, changing, collecting, contents, elements
from assay.checker.tla.expressions.constants import constant, function, record_value, some
from assay.checker.tla.expressions.formula import (
    Formula,
    apply,
    branch,
    compare,
    conjunction,
    disjunction,
    implication,
    let,
    listed,
    negation,
    quantified,
)
from assay.checker.tla.expressions.integers import integer
from assay.checker.tla.expressions.known_types import elements_fit, fits
from assay.checker.tla.expressions.range_checks import in_range
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.temporal import NoCounterpartError, in_time
from assay.checker.tla.expressions.types import is_variant, type_set, variant_value, wide_set
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Condition, Control, Leaf, Making, expression

Body = Callable[[TlaScope], Formula]


def write(expr: k.Expr, scope: TlaScope) -> Formula:
    """The expression in a scope. Raises ``NoCounterpartError`` for what TLA+ or TLC cannot express."""
    node = expression(expr)
    match node:
        case k.Const() | k.StateVar() | k.Local() | k.TypeDomain() | k.Old():
            return _leaf(node, scope)
        case k.IfThenElse() | k.LetIn():
            return _control(node, scope)
        case (
            k.Not() | k.Logic() | k.Equal() | k.Compare() | k.Quantified()
            | k.Member() | k.Subset() | k.IsVariant() | k.IsSome()
        ):  # fmt: skip
            return _condition(node, scope)
        case k.Negate() | k.Arithmetic() | k.Count() | k.Times() | k.Aggregate():
            return integer(node, scope)
        case (
            k.Checked() | k.MakeSome() | k.MakeSet() | k.MakeSeq() | k.MakeBag()
            | k.MakeMap() | k.MakeRecord() | k.MakeVariant()
        ):  # fmt: skip
            return _making(node, scope)
        case (
            k.Filter() | k.Image() | k.Tabulate() | k.Interval() | k.Combine()
            | k.Subsets() | k.Keys() | k.Values() | k.Elements() | k.Slice()
        ):  # fmt: skip
            return collecting(node, scope)
        case k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap():
            return access(node, scope)
        case k.UpdateEntry() | k.UpdateField() | k.Without():
            return changing(node, scope)
        case k.Temporal() | k.ActionAtom():
            return in_time(node, scope)
        case _:
            assert_never(node)


def _leaf(node: Leaf, scope: TlaScope) -> Formula:
    match node:
        case k.Const(of, value):
            return constant(value, of, scope.parts)
        case k.StateVar(_, name):
            return scope.variable(name)
        case k.Local(_, name):
            return scope.local(name)
        case k.TypeDomain(_, of):
            return type_set(of, scope.parts)
        case k.Old(_, operand):
            return scope.before().formula(operand)
        case _:
            assert_never(node)


def _control(node: Control, scope: TlaScope) -> Formula:
    match node:
        case k.IfThenElse(_, condition, then, otherwise):
            return branch(scope.formula(condition), scope.formula(then), scope.formula(otherwise))
        case k.LetIn(_, binder, value, body):
            if is_temporal(body):
                raise NoCounterpartError("a name in TLA+ does not keep a value until later", node.span)
            return let_in(binder, value, scope, lambda inner: inner.formula(body))
        case _:
            assert_never(node)


def let_in(binder: k.Local, value: k.Expr, scope: TlaScope, body: Body) -> Formula:
    """The body with a name for a value; a value that is a name or a constant gets no other name."""
    known = fits(value, binder.type, scope.fitting)
    meant = scope.formula(value)
    # In the scope of the value: an unprimed variable stays unprimed under its other name.
    if isinstance(value, k.Local | k.Const | k.StateVar):
        return body(scope.alias(binder, meant, fits=known))
    name, inner = scope.bind(binder, fits=known)
    return let(name, meant, body(inner))


def _condition(node: Condition, scope: TlaScope) -> Formula:
    match node:
        case k.Not(_, operand):
            return negation(scope.formula(operand))
        case k.Logic():
            return _logic(node, scope)
        case k.Equal(_, left, right, negated):
            return compare(scope.formula(left), "#" if negated else "=", scope.formula(right))
        case k.Compare():
            return _order(node, scope)
        case k.Quantified(_, kind, binder, domain, body):
            # TLA+ would evaluate the set in each state; TLC expands the quantifier once, at the beginning.
            if is_temporal(body) and variables_of(domain):
                raise NoCounterpartError(
                    "TLC does not ask of the elements of a set that changes what happens later", node.span
                )
            name, inner = scope.bind(binder, fits=elements_fit(domain, scope.fitting))
            sign = "\\A" if kind == "forall" else "\\E"
            return quantified(sign, name, elements(domain, scope), inner.formula(body))
        case k.Member(_, item, collection, negated):
            inside = contents(scope.formula(collection), collection.type, scope)
            return compare(scope.formula(item), "\\notin" if negated else "\\in", inside)
        case k.Subset():
            return _subset(node, scope)
        case k.IsVariant(_, operand, variant):
            assert isinstance(operand.type, t.EnumType)
            return is_variant(scope.formula(operand), operand.type, variant)
        case k.IsSome(_, operand):
            # `none` is a model value, which TLC compares with values of every kind.
            return compare(scope.formula(operand), "#", scope.parts.none)
        case _:
            assert_never(node)


def _logic(node: k.Logic, scope: TlaScope) -> Formula:
    parts = [scope.formula(part) for part in node.parts]
    match node.op:
        case "and":
            return conjunction(parts)
        case "or":
            return disjunction(parts)
        case "implies":
            premise, conclusion = parts
            return implication(premise, conclusion)
        case _:
            assert_never(node.op)


def _order(node: k.Compare, scope: TlaScope) -> Formula:
    left, right = scope.formula(node.left), scope.formula(node.right)
    if isinstance(node.left.type, t.AtomType):
        rank = scope.parts.rank(node.left.type.sort)
        # TLC knows no order of model values.
        left, right = Formula(f"{rank}[{left.text}]"), Formula(f"{rank}[{right.text}]")
    return compare(left, node.op, right)


def _subset(node: k.Subset, scope: TlaScope) -> Formula:
    left, right = scope.formula(node.left), scope.formula(node.right)
    if isinstance(node.left.type, t.BagType):
        within = apply(scope.parts.use("BagWithin"), [left, right])
    else:
        within = compare(left, "\\subseteq", right)
    return conjunction([within, compare(left, "#", right)]) if node.strict else within


def _making(node: Making, scope: TlaScope) -> Formula:
    match node:
        case k.Checked():
            return _checked(node, scope)
        case k.MakeSome(_, operand):
            return some(scope.formula(operand), operand.type)
        case k.MakeSet(_, items):
            return Formula(f"{{{listed(map(scope.formula, items))}}}")
        case k.MakeSeq(_, items):
            return Formula(f"<<{listed(map(scope.formula, items))}>>")
        case k.MakeBag(_, items):
            if not items:
                return Formula(scope.parts.use("EmptyMap"))
            return Formula(f"{scope.parts.use('BagOf')}(<<{listed(map(scope.formula, items))}>>)")
        case k.MakeMap(_, entries):
            return function([(scope.formula(key), scope.formula(value)) for key, value in entries], scope.parts)
        case k.MakeRecord(of, items):
            assert isinstance(of, t.RecordType)
            return record_value(of, [scope.formula(item) for item in items])
        case k.MakeVariant(of, variant, items):
            assert isinstance(of, t.EnumType)
            return variant_value(of, variant, [scope.formula(item) for item in items], scope.parts)
        case _:
            assert_never(node)


def _checked(node: k.Checked, scope: TlaScope) -> Formula:
    value = scope.formula(node.operand)
    if fits(node.operand, node.type, scope.fitting):
        return value
    # `x \in SUBSET S` and the like are asked without listing the set; else the parts are asked one by one.
    known = wide_set(node.type, scope.parts)
    if known is not None:
        return apply(scope.parts.use("Checked"), [value, known])
    name, inner = scope.fresh("v")
    answer = in_range(Formula(name), node.type, inner)
    return Formula(f"{scope.parts.use('CheckedIf')}({value.text}, LAMBDA {name} : {answer.text})")
