"""Values in the language's own notation."""

from __future__ import annotations

from typing import Any, assert_never

from assay.checker.interpreter.values.undefined import integer_text
from assay.checker.interpreter.values.value_order import sorter
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value


def show_value(value: Value, type_: t.Type) -> str:
    """The value as one would write it in a spec; sets and maps in canonical order."""
    shown: Any = value
    match kind(type_):
        case t.BoolType():
            return "true" if shown else "false"
        case t.IntType() | t.RangeType():
            return integer_text(shown)
        case t.AtomType():
            return str(shown.name)
        case t.EnumType(_, variants):
            fields = next(variant.fields for variant in variants if variant.name == shown.variant)
            return f"{shown.variant}({_list(shown.payload, fields)})" if fields else str(shown.variant)
        case t.RecordType("", fields):
            return f"({', '.join(show_value(v, f.type) for v, f in zip(shown.fields, fields, strict=True))})"
        case t.RecordType(name, fields):
            return f"{name}({_list(shown.fields, fields)})"
        case t.OptionType(item):
            return _show_option(shown, item)
        case t.SetType(item):
            return "{" + ", ".join(show_value(x, item) for x in sorter(item)(shown)) + "}"
        case t.SeqType(item):
            return "[" + ", ".join(show_value(x, item) for x in shown) + "]"
        case t.MapType(key, image):
            entries = (f"{show_value(k, key)} -> {show_value(shown[k], image)}" for k in sorter(key)(shown))
            return "{" + ", ".join(entries) + "}"
        case t.BagType(item):
            items = (show_value(x, item) for x in sorter(item)(shown) for _ in range(shown[x]))
            return "bag{" + ", ".join(items) + "}"
        case other:
            assert_never(other)


def _show_option(value: Any, item: t.Type) -> str:
    if value is None:
        return "none"
    inner = show_value(value.value, item)
    # Of `T??`, `none` and `some(none)` would look alike; elsewhere a value of T is written as itself.
    return f"some({inner})" if isinstance(item, t.OptionType) else inner


def _list(values: tuple[Value, ...], fields: tuple[t.FieldType, ...]) -> str:
    # The language takes the only field without its name, too.
    if len(fields) == 1:
        return show_value(values[0], fields[0].type)
    return ", ".join(f"{f.name} = {show_value(v, f.type)}" for f, v in zip(fields, values, strict=True))
