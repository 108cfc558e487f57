"""Reading parts of values, and updating values in one part."""

from __future__ import annotations

from typing import Any, assert_never

from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import Undefined, integer_text
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel.node_unions import Access, Changing
from assay.grammar.kernel.types import MapType, Type
from assay.grammar.values import RecordValue


def access(node: Access, scope: EvaluationScope) -> Meaning:
    """The function that reads the part."""
    match node:
        case k.Lookup():
            return _lookup(node, scope)
        case k.Endpoint():
            return _endpoint(node, scope)
        case k.ReadField(_, record, index):
            value = scope.meaning(record)
            return lambda frame: value(frame).fields[index]
        case k.Payload():
            return _payload(node, scope)
        case k.Unwrap():
            return _unwrap(node, scope)
        case _:
            assert_never(node)


def _lookup(node: k.Lookup, scope: EvaluationScope) -> Meaning:
    collection, key = scope.meaning(node.collection), scope.meaning(node.key)
    of, key_type = node.collection.type, node.key.type
    # A negative index is no error in Python, so a sequence cannot be asked as a map is below.
    if not isinstance(of, MapType):
        return lambda frame: entry(collection(frame), key(frame), of, node.span, key_type)

    def lookup(frame: Frame) -> Any:
        table, wanted = collection(frame), key(frame)
        try:
            return table[wanted]
        except KeyError:
            raise _no_key(table, wanted, of, node.span, key_type) from None

    return lookup


def _no_key(table: Any, key: Any, of: Type, span: Span, key_type: Type) -> Undefined:
    return Undefined(f"no key {show_value(key, key_type)} in {show_value(table, of)}", span)


def entry(collection: Any, key: Any, of: Type, span: Span, key_type: Type) -> Any:
    """The entry of a map or the element of a sequence; undefined if the key is absent or the index outside."""
    if not isinstance(of, MapType):
        check_index(collection, key, span)
    elif key not in collection:
        raise _no_key(collection, key, of, span, key_type)
    return collection[key]


def check_index(sequence: Any, index: int, span: Span) -> None:
    """Raise ``Undefined`` unless the sequence has an element at the index."""
    if not 0 <= index < len(sequence):
        raise Undefined(f"no element {integer_text(index)} in a sequence of {len(sequence)}", span)


def _endpoint(node: k.Endpoint, scope: EvaluationScope) -> Meaning:
    sequence, index = scope.meaning(node.operand), 0 if node.op == "first" else -1
    if node.op == "only":
        return lambda frame: _only(sequence(frame), node)

    def endpoint(frame: Frame) -> Any:
        elements = sequence(frame)
        if not elements:
            raise Undefined(f"`{node.op}` of an empty sequence", node.span)
        return elements[index]

    return endpoint


def _only(items: Any, node: k.Endpoint) -> Any:
    if isinstance(node.operand, k.MakeSet) and not node.operand.items:
        # The unrolling of a recursive function ends in `choose` from a literal empty set, which no spec can write.
        raise Undefined("the recursion comes back to arguments that it had before, and does not end", node.span)
    if len(items) != 1:
        shown = show_value(items, node.operand.type)
        has = f"has {len(items)}; in an action, `pick` takes any of them" if items else "has none"
        raise Undefined(f"one element is chosen from {shown}, which {has}", node.span)
    (item,) = items
    return item


def _payload(node: k.Payload, scope: EvaluationScope) -> Meaning:
    value, variant, index = scope.meaning(node.operand), node.variant, node.index

    def payload(frame: Frame) -> Any:
        read = value(frame)
        if read.variant != variant:
            raise Undefined(f"the payload of {variant} in {show_value(read, node.operand.type)}", node.span)
        return read.payload[index]

    return payload


def _unwrap(node: k.Unwrap, scope: EvaluationScope) -> Meaning:
    value = scope.meaning(node.operand)

    def unwrap(frame: Frame) -> Any:
        option = value(frame)
        if option is None:
            raise Undefined("the value of `none`", node.span)
        return option.value

    return unwrap


def changing(node: Changing, scope: EvaluationScope) -> Meaning:
    """The function that makes the updated value."""
    match node:
        case k.UpdateEntry():
            return _update_entry(node, scope)
        case k.UpdateField(_, record, index, value):
            whole, new = scope.meaning(record), scope.meaning(value)
            return lambda frame: with_field(whole(frame), index, new(frame))
        case k.Without(_, collection, key):
            table, absent = scope.meaning(collection), scope.meaning(key)
            return lambda frame: table(frame).without(absent(frame))
        case _:
            assert_never(node)


def with_field(record: RecordValue, index: int, value: Any) -> RecordValue:
    """The record with another value in one field."""
    return RecordValue((*record.fields[:index], value, *record.fields[index + 1 :]))


def _update_entry(node: k.UpdateEntry, scope: EvaluationScope) -> Meaning:
    collection, key, value = scope.meaning(node.collection), scope.meaning(node.key), scope.meaning(node.value)
    of, key_type = node.collection.type, node.key.type
    return lambda frame: with_entry(collection(frame), key(frame), value(frame), of, node.span, key_type)


def with_entry(collection: Any, key: Any, value: Any, of: Type, span: Span, key_type: Type) -> Any:
    """The map or sequence with another entry. Only a partial map may gain a key."""
    if not isinstance(of, MapType):
        # An assignment to an index never makes a sequence longer.
        check_index(collection, key, span)
        return (*collection[:key], value, *collection[key + 1 :])
    if not of.partial and key not in collection:
        raise _no_key(collection, key, of, span, key_type)
    return collection.changed(key, value)
