"""The types of random kernels, and a first value of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom

NODE = t.Sort("Node", ("a", "b", "c"), symmetric=True)
ATOM = t.AtomType(NODE)
SITE = t.Sort("Site", ("x", "y"), symmetric=True)
AT = t.AtomType(SITE)
SMALL = t.RangeType(0, 2)
SHIFTED = t.RangeType(-1, 3)
MODE = t.EnumType(
    "Mode",
    (
        t.VariantType("Idle", ()),
        t.VariantType("Busy", (t.FieldType("since", SMALL),)),
        t.VariantType("Lost", (t.FieldType("by", ATOM), t.FieldType("after", SHIFTED))),
    ),
)
PAIR = t.RecordType("Pair", (t.FieldType("left", SMALL), t.FieldType("right", t.BOOL)))
DEEP = t.RecordType("Deep", (t.FieldType("at", t.OptionType(ATOM)), t.FieldType("seen", t.SetType(ATOM))))
LONG = t.RecordType(
    "Long", (t.FieldType("id", t.RangeType(0, 1 << 30)), t.FieldType("log", t.SeqType(t.RangeType(0, 1 << 15), 3)))
)
LOGGED = t.RecordType("Logged", (t.FieldType("by", ATOM), t.FieldType("log", t.SeqType(t.RangeType(0, 1), 2))))
SENT = t.RecordType(
    "Sent", (t.FieldType("at", t.RangeType(0, 99)), t.FieldType("by", ATOM), t.FieldType("log", t.SeqType(SMALL, 2)))
)
MARK = t.tuple_type((SMALL, ATOM))
VOTES = t.MapType(ATOM, SMALL, 2, partial=True)
WIDE = t.RangeType(0, 99)
LARGE = t.RangeType(-2, 68)
TYPES: tuple[t.Type, ...] = (
    t.BOOL, SMALL, SHIFTED, ATOM, MODE, PAIR, DEEP, t.OptionType(ATOM), t.OptionType(SMALL), t.OptionType(PAIR),
    t.SetType(ATOM), t.SetType(SHIFTED), t.SetType(PAIR), t.SetType(ATOM, 2), t.SetType(WIDE, 2), t.SetType(MODE),
    t.SetType(t.SetType(ATOM)), t.SetType(DEEP, 2), t.SetType(t.SetType(t.RangeType(0, 1))), t.SetType(t.MapType(t.BOOL, t.RangeType(0, 1))),
    t.MapType(ATOM, SMALL), t.MapType(SHIFTED, t.BOOL), t.MapType(ATOM, t.OptionType(ATOM)), t.MapType(ATOM, PAIR),
    t.MapType(ATOM, SMALL, 2, partial=True), t.MapType(WIDE, ATOM, 2, partial=True), t.MapType(t.BOOL, t.SetType(ATOM)),
    t.SetType(LARGE), t.SeqType(LARGE, 9), t.MapType(LARGE, t.BOOL), t.MapType(MODE, ATOM),
    t.SeqType(ATOM, 2), t.SeqType(PAIR, 2), t.BagType(ATOM, 2), t.BagType(WIDE, 2),
    AT, t.SetType(AT), t.MapType(ATOM, AT), t.MapType(AT, t.SetType(ATOM)), t.OptionType(AT), t.SetType(LONG, 2), t.SeqType(LONG, 2),
    t.SetType(LOGGED), t.SetType(LOGGED, 2), t.SetType(t.SeqType(ATOM, 2)), t.SetType(t.OptionType(t.SeqType(SMALL, 1))), t.BagType(LOGGED, 2),
    t.MapType(LOGGED, t.BOOL, 2, partial=True), t.SetType(VOTES), t.SetType(t.BagType(ATOM, 2)), LOGGED, SENT, t.SetType(SENT, 3),
    t.MapType(ATOM, t.SeqType(SMALL, 2)), t.MapType(AT, DEEP), t.MapType(ATOM, MODE), t.BagType(DEEP, 2), t.MapType(DEEP, t.BOOL, 2, partial=True),
    MARK, t.SetType(MARK), t.MapType(ATOM, t.OptionType(MARK)), t.SetType(t.tuple_type((ATOM, MODE, t.SetType(ATOM))), 2),
)  # fmt: skip
SETS = tuple(x for x in TYPES if isinstance(x, t.SetType))


def initial(type_: t.Type, some: Mapping[t.Type, k.Expr] = MappingProxyType({})) -> k.Expr:
    """A first value; ``some`` are the elements in it by their types, by default the first ones."""
    match type_:
        case t.BoolType():
            return k.Const(t.BOOL, False)
        case t.RangeType(low):
            return k.Const(t.INT, max(0, low))
        case t.AtomType(sort):
            return some.get(type_) or k.Const(type_, Atom(sort.name, 0, sort.elements[0]))
        case t.EnumType(_, variants):
            return k.MakeVariant(type_, variants[0].name, ())
        case t.RecordType(_, fields):
            return k.MakeRecord(type_, tuple(initial(f.type, some) for f in fields))
        case t.OptionType():
            return k.Const(type_, None)
        case t.SetType():
            return k.MakeSet(type_, ())
        case t.SeqType():
            return k.MakeSeq(type_, ())
        case t.BagType():
            return k.MakeBag(type_, ())
        case t.MapType(key, value, _, partial):
            if partial:
                return k.MakeMap(type_, ())
            return k.Tabulate(
                type_, k.Local(key, f"i{id(type_)}"), k.TypeDomain(t.SetType(key), key), initial(value, some)
            )
        case _:
            raise AssertionError(type_)
