"""Values, and conditions on values, as kernel expressions. Binders stand for elements of symmetric sets, which have no
names there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from assay.checker.interpreter.values.value_order import sorter
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Atom, Value

Rename = Mapping[Atom, k.Local]
"""The binders that stand for elements."""


def value_term(value: Value, of: t.Type, rename: Rename) -> k.Expr:
    """A value as an expression, with binders in place of elements."""
    if not any(atom in rename for atom in atoms_of(value, of)):
        return k.Const(of, value)
    known: Any = value
    match kind(of):
        case t.AtomType():
            return rename[known]
        case t.EnumType(_, variants):
            fields = next(each.fields for each in variants if each.name == known.variant)
            parts = (value_term(x, f.type, rename) for x, f in zip(known.payload, fields, strict=True))
            return k.MakeVariant(of, known.variant, tuple(parts))
        case t.RecordType(_, fields):
            parts = (value_term(x, f.type, rename) for x, f in zip(known.fields, fields, strict=True))
            return k.MakeRecord(of, tuple(parts))
        case t.OptionType(item):
            return k.MakeSome(of, value_term(known.value, item, rename))
        case t.SetType(item):
            return k.MakeSet(of, tuple(value_term(x, item, rename) for x in sorter(item)(known)))
        case t.SeqType(item):
            return k.MakeSeq(of, tuple(value_term(x, item, rename) for x in known))
        case t.BagType(item):
            return k.MakeBag(
                of, tuple(value_term(x, item, rename) for x in sorter(item)(known) for _ in range(known[x]))
            )
        case t.MapType(key, image):
            entries = ((value_term(x, key, rename), value_term(known[x], image, rename)) for x in sorter(key)(known))
            return k.MakeMap(of, tuple(entries))
        case t.BoolType() | t.IntType() | t.RangeType():
            raise AssertionError("there are no elements in it")
        case other:
            assert_never(other)


def atoms_of(value: Value, of: t.Type) -> list[Atom]:
    """The elements of symmetric sets inside a value, in a fixed order."""
    known: Any = value
    match kind(of):
        case t.BoolType() | t.IntType() | t.RangeType():
            return []
        case t.AtomType(sort):
            return [known] if sort.symmetric else []
        case t.EnumType(_, variants):
            fields = next(each.fields for each in variants if each.name == known.variant)
            return [a for x, f in zip(known.payload, fields, strict=True) for a in atoms_of(x, f.type)]
        case t.RecordType(_, fields):
            return [a for x, f in zip(known.fields, fields, strict=True) for a in atoms_of(x, f.type)]
        case t.OptionType(item):
            return [] if known is None else atoms_of(known.value, item)
        case t.SetType(item) | t.BagType(item):
            return [a for x in sorter(item)(known) for a in atoms_of(x, item)]
        case t.SeqType(item):
            return [a for x in known for a in atoms_of(x, item)]
        case t.MapType(key, image):
            keys = sorter(key)(known)
            return [a for x in keys for a in (*atoms_of(x, key), *atoms_of(known[x], image))]
        case other:
            assert_never(other)


def equals(path: k.Expr, of: t.Type, wanted: Sequence[Value], others: Sequence[Value], rename: Rename) -> k.Expr:
    """The condition that the value at a place is one of ``wanted`` and none of ``others``, which are all remaining
    values."""
    if isinstance(of, t.BoolType) and len(wanted) == 1:
        return path if wanted[0] else k.Not(t.BOOL, path)
    if isinstance(of, t.RangeType | t.IntType):
        return _numbers(path, sorted(wanted), sorted(others))
    if isinstance(of, t.EnumType):
        return _variants(path, of, wanted, others, rename)
    if len(others) < len(wanted):
        return _joined("and", [k.Equal(t.BOOL, path, value_term(x, of, rename), negated=True) for x in others])
    return _joined("or", [k.Equal(t.BOOL, path, value_term(x, of, rename), negated=False) for x in wanted])


def _joined(op: Any, parts: list[k.Expr]) -> k.Expr:
    if not parts:
        return k.Const(t.BOOL, op == "and")
    return parts[0] if len(parts) == 1 else k.Logic(t.BOOL, op, tuple(parts))


def _numbers(path: k.Expr, wanted: list[Any], others: list[Any]) -> k.Expr:
    if not others:
        return k.Const(t.BOOL, True)
    if len(wanted) == 1:
        return k.Equal(t.BOOL, path, k.Const(t.INT, wanted[0]), negated=False)
    if len(others) == 1:
        return k.Equal(t.BOOL, path, k.Const(t.INT, others[0]), negated=True)
    # Both together are all values of the type, so one comparison separates them.
    if wanted[-1] < others[0]:
        return k.Compare(t.BOOL, "<=", path, k.Const(t.INT, wanted[-1]))
    if wanted[0] > others[-1]:
        return k.Compare(t.BOOL, ">=", path, k.Const(t.INT, wanted[0]))
    return _joined("or", [k.Equal(t.BOOL, path, k.Const(t.INT, x), negated=False) for x in wanted])


def _variants(path: k.Expr, of: t.EnumType, wanted: Sequence[Any], others: Sequence[Any], rename: Rename) -> k.Expr:
    """Whole variants by name; for the others, the values one by one."""
    mixed = {x.variant for x in wanted} & {x.variant for x in others}
    if not mixed and len({x.variant for x in others}) < len({x.variant for x in wanted}):
        names = dict.fromkeys(x.variant for x in others)
        return _joined("and", [k.Not(t.BOOL, k.IsVariant(t.BOOL, path, name)) for name in names])
    if mixed and len(others) < len(wanted):
        return _joined("and", [k.Equal(t.BOOL, path, value_term(x, of, rename), negated=True) for x in others])
    parts: list[k.Expr] = [
        k.IsVariant(t.BOOL, path, name) for name in dict.fromkeys(x.variant for x in wanted) if name not in mixed
    ]
    parts += [k.Equal(t.BOOL, path, value_term(x, of, rename), negated=False) for x in wanted if x.variant in mixed]
    return _joined("or", parts)
