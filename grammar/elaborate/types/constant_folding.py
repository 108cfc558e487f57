"""Constant folding, for what must be known before anything runs: ranges, capacities, bindings and assumptions.

It covers booleans, integers, elements, options, records, variants and sets of them. Maps, sequences and bags have no
constants: an assumption with one is reported as not computable.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations, product

from assay.grammar import kernel
from assay.grammar.elaborate.types.cardinality import LIMIT, cardinality
from assay.grammar.kernel.types import AtomType, BoolType, EnumType, OptionType, RangeType, RecordType, SetType, Type
from assay.grammar.values import Atom, RecordValue, Some, Value, VariantValue, sort_key

Env = Mapping[str, Value]

# 65,536 subsets.
LARGEST_POWER_SET = 16


class NotConstantError(Exception):
    """The expression has no statically known value: it reads state, is undefined, or is of a kind that is
    not folded."""


def constant(expr: kernel.Expr) -> Value | None:
    """The value of a closed expression; None if it is not statically known (and for ``none`` itself, see
    ``folded``)."""
    result = folded(expr)
    return None if result is None else result.value


def folded(expr: kernel.Expr) -> kernel.Const | None:
    """The expression as a constant, or None where it is not one."""
    try:
        return kernel.Const(expr.type, _value(expr, {}), span=expr.span)
    except NotConstantError:
        return None


def values_of(type_: Type) -> Iterator[Value]:
    """All values of a small type, in canonical order. Raises ``NotConstantError`` for a large one."""
    if cardinality(type_) > LIMIT:
        raise NotConstantError
    match type_:
        case BoolType():
            return iter((False, True))
        case RangeType(low, high):
            return iter(range(low, high + 1))
        case AtomType(sort) if not sort.elements:
            raise NotConstantError  # the size of the set is left open
        case AtomType(sort):
            return (Atom(sort.name, index, name) for index, name in enumerate(sort.elements))
        case OptionType(item):
            return chain((None,), map(Some, values_of(item)))
        case RecordType(_, fields):
            return map(RecordValue, product(*(values_of(field.type) for field in fields)))
        case EnumType(_, variants):
            return (
                VariantValue(variant.name, payload)
                for variant in variants
                for payload in product(*(values_of(field.type) for field in variant.fields))
            )
        case _:
            raise NotConstantError


def _value(expr: kernel.Expr, env: Env) -> Value:
    match expr:
        case kernel.Const(_, value):
            return value
        case kernel.Local(_, name) if name in env:
            return env[name]
        case kernel.Not(_, operand):
            return not _value(operand, env)
        case kernel.Logic(_, op, parts):
            return _logic(op, parts, env)
        case kernel.Equal(_, left, right, negated):
            return (_value(left, env) == _value(right, env)) != negated
        case kernel.Compare(_, op, left, right):
            return ORDERS[op](_position(_value(left, env)), _position(_value(right, env)))
        case kernel.IfThenElse(_, condition, then, otherwise):
            # The other branch need not have a value.
            return _value(then if _value(condition, env) else otherwise, env)
        case kernel.LetIn(_, binder, value, body):
            return _value(body, {**env, binder.name: _value(value, env)})
        case kernel.Negate(_, operand):
            return -_integer(operand, env)
        case kernel.Arithmetic(_, op, left, right):
            return _arithmetic(op, _integer(left, env), _integer(right, env))
        case kernel.Quantified(_, kind, binder, domain, body):
            # In canonical order, as in the evaluator: it decides whether an undefined element is reached.
            items = sorted(_set(domain, env), key=sort_key)
            results = (_value(body, {**env, binder.name: item}) for item in items)
            return all(results) if kind == "forall" else any(results)
        case kernel.Checked(type_, operand):
            return _within(type_, _value(operand, env))
        case _:
            return _structure(expr, env)


def _structure(expr: kernel.Expr, env: Env) -> Value:
    match expr:
        case kernel.MakeSome(_, operand):
            return Some(_value(operand, env))
        case kernel.IsSome(_, operand):
            return _value(operand, env) is not None
        case kernel.Unwrap(_, operand):
            present = _value(operand, env)
            return present.value if isinstance(present, Some) else _undefined()
        case kernel.MakeRecord(_, items):
            return RecordValue(tuple(_value(item, env) for item in items))
        case kernel.ReadField(_, record, index):
            fields = _value(record, env)
            return fields.fields[index] if isinstance(fields, RecordValue) else _undefined()
        case kernel.MakeVariant(_, variant, items):
            return VariantValue(variant, tuple(_value(item, env) for item in items))
        case kernel.IsVariant(_, operand, variant):
            return _variant(operand, env).variant == variant
        case kernel.Payload(_, operand, variant, index):
            value = _variant(operand, env)
            return value.payload[index] if value.variant == variant else _undefined()
        case kernel.Member(_, item, collection, negated):
            return (_value(item, env) in _set(collection, env)) != negated
        case kernel.Subset(_, left, right, strict):
            smaller, larger = _set(left, env), _set(right, env)
            return smaller < larger if strict else smaller <= larger
        case kernel.Count(_, operand):
            return _count(operand, env)
        case kernel.Aggregate(_, op, operand):
            return _aggregate(op, _set(operand, env))
        case _:
            return _set(expr, env)


def _set(expr: kernel.Expr, env: Env) -> frozenset[Value]:
    match expr:
        case kernel.Const(_, frozenset() as value):
            return value
        case kernel.Local(_, name):
            bound = env.get(name)
            return bound if isinstance(bound, frozenset) else _undefined()
        case kernel.TypeDomain(_, of):
            return frozenset(values_of(of))
        case kernel.MakeSet(_, items):
            return frozenset(_value(item, env) for item in items)
        case kernel.Interval(_, low, high):
            return _interval(_integer(low, env), _integer(high, env))
        case kernel.Filter(_, binder, domain, condition):
            return frozenset(item for item in _set(domain, env) if _value(condition, {**env, binder.name: item}))
        case kernel.Image(_, element, generators, condition):
            return frozenset(_value(element, inner) for inner in _bindings(generators, condition, env))
        case kernel.Combine(_, "union" | "difference" | "intersection" as op, left, right):
            return COMBINATIONS[op](_set(left, env), _set(right, env))
        case kernel.Subsets(_, operand):
            return _subsets(_set(operand, env))
        case kernel.IfThenElse(_, condition, then, otherwise):
            return _set(then if _value(condition, env) else otherwise, env)
        case kernel.LetIn(_, binder, value, body):
            return _set(body, {**env, binder.name: _value(value, env)})
        case _:
            return _undefined()


ORDERS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

COMBINATIONS: dict[str, Callable[[frozenset[Value], frozenset[Value]], frozenset[Value]]] = {
    "union": operator.or_,
    "difference": operator.sub,
    "intersection": operator.and_,
}


def _undefined() -> frozenset[Value]:
    raise NotConstantError


def _integer(expr: kernel.Expr, env: Env) -> int:
    value = _value(expr, env)
    if not isinstance(value, int):
        raise NotConstantError
    return value


def _position(value: Value) -> int:
    match value:
        case Atom(_, index, _):
            return index
        case int():
            return value
        case _:
            raise NotConstantError


def _variant(expr: kernel.Expr, env: Env) -> VariantValue:
    value = _value(expr, env)
    if not isinstance(value, VariantValue):
        raise NotConstantError
    return value


def _logic(op: str, parts: tuple[kernel.Expr, ...], env: Env) -> bool:
    # Left to right, and no further than needed: `n != 0 and 10 // n > 1` has a value for n = 0.
    match op:
        case "and":
            return all(_value(part, env) for part in parts)
        case "or":
            return any(_value(part, env) for part in parts)
        case _:
            return not _value(parts[0], env) or bool(_value(parts[1], env))


def _arithmetic(op: str, left: int, right: int) -> int:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        # Undefined, and no exception of Python: another part of the expression may decide without it.
        case _ if right == 0:
            raise NotConstantError
        case "//":
            return left // right
        case _:
            return left % right


def _within(type_: Type, value: Value) -> Value:
    if not lies_in(value, type_):
        raise NotConstantError
    return value


def lies_in(value: Value, type_: Type) -> bool:
    """Whether a value is within the ranges of a type; it is of that type otherwise."""
    match type_, value:
        case RangeType(low, high), int():
            return low <= value <= high
        case OptionType(item), Some(inside):
            return lies_in(inside, item)
        case SetType(item), frozenset():
            return all(lies_in(each, item) for each in value)
        case RecordType(_, fields), RecordValue(parts):
            return all(lies_in(part, field.type) for part, field in zip(parts, fields, strict=True))
        case EnumType(_, variants), VariantValue(name, payload):
            fields = next(variant.fields for variant in variants if variant.name == name)
            return all(lies_in(part, field.type) for part, field in zip(payload, fields, strict=True))
        case _:
            return True


def _count(operand: kernel.Expr, env: Env) -> int:
    """The size of a collection. That of a whole type is known without its elements."""
    if isinstance(operand, kernel.TypeDomain) and isinstance(operand.of, RangeType):
        return operand.of.high - operand.of.low + 1
    return len(_set(operand, env))


def _aggregate(op: str, items: frozenset[Value]) -> int:
    # All are integers; the check tells the type checker so.
    numbers = [item for item in items if isinstance(item, int)]
    match op:
        case "sum":
            return sum(numbers)
        case _ if not numbers:
            raise NotConstantError
        case "min":
            return min(numbers)
        case _:
            return max(numbers)


def _interval(low: int, high: int) -> frozenset[Value]:
    # Before the set is made: the ends may be any numbers of a spec.
    if high - low >= LIMIT:
        raise NotConstantError
    return frozenset(range(low, high + 1))


def _subsets(items: frozenset[Value]) -> frozenset[Value]:
    if len(items) > LARGEST_POWER_SET:
        raise NotConstantError
    return frozenset(frozenset(part) for size in range(len(items) + 1) for part in combinations(items, size))


def _bindings(generators: tuple[kernel.Generator, ...], condition: kernel.Expr | None, env: Env) -> Iterator[Env]:
    if not generators:
        if condition is None or _value(condition, env):
            yield env
        return
    first, *rest = generators
    for item in _set(first.domain, env):
        yield from _bindings(tuple(rest), condition, {**env, first.binder.name: item})
