"""Displays of sets, sequences, bags and maps, and values updated at one place."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.name_resolution import field_index
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.type_relations import ERROR, UNKNOWN, erased, join, type_text, without_option
from assay.grammar.elaborate.types.coercion import convert, converted_if_possible, fits
from assay.grammar.elaborate.types.unify import together
from assay.grammar.kernel.types import INT, BagType, MapType, RecordType, SeqType, SetType, Type, tuple_type


def _different(left: str, right: str) -> str:
    return f"the items have different types: {left} and {right}"


def set_display(expr: syntax.SetDisplay, cx: Context, hint: Type | None) -> kernel.Expr:
    """``{a, b}``; an empty one is what the hint wants: a set, a bag or a partial map."""
    wanted = without_option(hint)
    if not expr.items:
        return _empty(expr, wanted)
    items, item = _items(expr.items, cx, wanted.item if isinstance(wanted, SetType) else None)
    return _made(expr, kernel.MakeSet(SetType(item), items, span=expr.span))


def _empty(expr: syntax.Expr, wanted: Type | None) -> kernel.Expr:
    match wanted:
        case SetType():
            return kernel.MakeSet(wanted, (), span=expr.span)
        case BagType():
            return kernel.MakeBag(wanted, (), span=expr.span)
        case MapType(partial=True):
            return kernel.MakeMap(wanted, (), span=expr.span)
        case _:
            return kernel.MakeSet(SetType(UNKNOWN), (), span=expr.span)


def seq_display(expr: syntax.SeqDisplay, cx: Context, hint: Type | None) -> kernel.Expr:
    """``[a, b]``."""
    wanted = without_option(hint)
    if not expr.items:
        return kernel.MakeSeq(wanted if isinstance(wanted, SeqType) else SeqType(UNKNOWN), (), span=expr.span)
    items, item = _items(expr.items, cx, wanted.item if isinstance(wanted, SeqType) else None)
    return _made(expr, kernel.MakeSeq(SeqType(item), items, span=expr.span))


def bag_display(expr: syntax.BagDisplay, cx: Context, hint: Type | None) -> kernel.Expr:
    """``bag{a, a}``."""
    wanted = without_option(hint)
    if not expr.items:
        return kernel.MakeBag(wanted if isinstance(wanted, BagType) else BagType(UNKNOWN), (), span=expr.span)
    items, item = _items(expr.items, cx, wanted.item if isinstance(wanted, BagType) else None)
    return _made(expr, kernel.MakeBag(BagType(item), items, span=expr.span))


def tuple_display(expr: syntax.Tuple, cx: Context, hint: Type | None) -> kernel.Expr:
    """``(a, b)``: each value has a type of its own."""
    wanted = without_option(hint)
    inner = cx.timeless()
    hints: list[Type | None] = [None] * len(expr.items)
    if isinstance(wanted, RecordType) and wanted.is_tuple and len(wanted.fields) == len(expr.items):
        hints = [field.type for field in wanted.fields]
    # Each value by itself: one that does not fit leaves the others as they are wanted.
    items = tuple(
        converted_if_possible(inner.attempt(item, each), each) for item, each in zip(expr.items, hints, strict=True)
    )
    if failed(*items):
        return erroneous(expr.span)
    return kernel.MakeRecord(tuple_type(item.type for item in items), items, span=expr.span)


def map_display(expr: syntax.MapDisplay, cx: Context, hint: Type | None) -> kernel.Expr:
    """``{k -> v}``, a partial map."""
    wanted = without_option(hint)
    wanted_map = wanted if isinstance(wanted, MapType) else None
    keys, key = _items([e.key for e in expr.entries], cx, None if wanted_map is None else wanted_map.key)
    values, value = _items([e.value for e in expr.entries], cx, None if wanted_map is None else wanted_map.value)
    if failed(*keys, *values) or ERROR in (key, value):
        return erroneous(expr.span)
    return kernel.MakeMap(MapType(key, value, None, True), tuple(zip(keys, values, strict=True)), span=expr.span)


def _items(
    items: tuple[syntax.Expr, ...] | list[syntax.Expr], cx: Context, hint: Type | None
) -> tuple[tuple[kernel.Expr, ...], Type]:
    inner = cx.timeless()
    values, common = together([(item, inner) for item in items], hint, _different)
    return tuple(values), common


def _made(expr: syntax.Expr, display: kernel.MakeSet | kernel.MakeSeq | kernel.MakeBag) -> kernel.Expr:
    return erroneous(expr.span) if failed(display, *display.items) else display


def changed(expr: syntax.With, cx: Context, hint: Type | None) -> kernel.Expr:
    """``base with {…}``: a record by field, a map or sequence by entry."""
    cx = cx.timeless()
    # Each change applies to the result of those before it. Of two changes of one entry the last counts.
    result = cx.infer(expr.base, hint)
    for update in expr.updates:
        if failed(result):
            break
        match update:
            case syntax.FieldUpdate():
                result = _changed_field(result, update, cx)
            case syntax.MapEntry():
                result = _changed_entry(result, update, cx)
    return erroneous(expr.span) if failed(result) else result


def _changed_field(base: kernel.Expr, update: syntax.FieldUpdate, cx: Context) -> kernel.Expr:
    index = field_index(base.type, update.name, cx)
    if index is None or not isinstance(base.type, RecordType):
        return erroneous(update.span)
    wanted = base.type.fields[index].type
    value = convert(cx.attempt(update.value, wanted), wanted, cx.diagnostics, put=True)
    return value if failed(value) else kernel.UpdateField(base.type, base, index, value, span=update.span)


def _changed_entry(base: kernel.Expr, update: syntax.MapEntry, cx: Context) -> kernel.Expr:
    match base.type:
        case MapType(key_type, value_type, _, partial):
            key, value = _fitted(update.key, key_type, cx), _fitted(update.value, value_type, cx)
            if failed(key, value):
                return erroneous(update.span)
            # A total map has its keys for good, and another key is undefined. A partial one gains the key.
            keys = _widened(key_type, key.type) if partial else key_type
            # Without a capacity: the map may have one key more now, and what stores it looks at the number of keys.
            result: Type = MapType(keys, _widened(value_type, value.type), None, partial)
        case SeqType(item, capacity):
            key, value = convert(cx.infer(update.key, INT), INT, cx.diagnostics), _fitted(update.value, item, cx)
            if failed(key, value):
                return erroneous(update.span)
            result = SeqType(_widened(item, value.type), capacity)
        case _:
            return cx.error(
                "E203", update.span, f"a map or a sequence is changed at a key, found {type_text(base.type)}"
            )
    return kernel.UpdateEntry(result, base, key, value, span=update.span)


def _fitted(expr: syntax.Expr, wanted: Type, cx: Context) -> kernel.Expr:
    return convert(cx.attempt(expr, wanted), wanted, cx.diagnostics)


def _widened(declared: Type, given: Type) -> Type:
    """The type of a map that gets a value which may be outside its range."""
    return declared if fits(given, declared) else join(declared, given) or erased(declared)
