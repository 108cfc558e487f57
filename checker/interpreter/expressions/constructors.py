"""Constructors of options, collections, records and variants, and the range check of a stored value."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.type_check import range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import Making
from assay.grammar.values import FrozenMap, RecordValue, Some, Value, VariantValue


def making(node: Making, scope: EvaluationScope) -> Meaning:
    """The function that constructs the value."""
    match node:
        case k.Checked():
            return _checked(node, scope)
        case k.MakeSome(_, operand):
            value = scope.meaning(operand)
            return lambda frame: Some(value(frame))
        case k.MakeSet(_, items):
            members = scope.meanings(items)
            return lambda frame: frozenset([member(frame) for member in members])
        case k.MakeSeq(_, items):
            elements = scope.meanings(items)
            return lambda frame: tuple([element(frame) for element in elements])
        case k.MakeBag(_, items):
            counted = scope.meanings(items)
            return lambda frame: FrozenMap(Counter([item(frame) for item in counted]))
        case k.MakeMap(_, entries):
            pairs = [(scope.meaning(key), scope.meaning(value)) for key, value in entries]
            return lambda frame: FrozenMap([(key(frame), image(frame)) for key, image in pairs])
        case k.MakeRecord(_, items):
            fields = scope.meanings(items)
            return lambda frame: RecordValue(tuple([field(frame) for field in fields]))
        case k.MakeVariant(_, variant, items):
            payload = scope.meanings(items)
            return lambda frame: VariantValue(variant, tuple([field(frame) for field in payload]))
        case _:
            assert_never(node)


def _checked(node: k.Checked, scope: EvaluationScope) -> Meaning:
    value, fits = scope.meaning(node.operand), range_check(node.type)
    if fits is None:
        return value

    def checked(frame: Frame) -> Value:
        result: Value = value(frame)
        try:
            fits(result)
        except Undefined as undefined:
            raise undefined.at(node.span) from None
        return result

    return checked
