"""Expressions: from syntax to the typed kernel, in one walk from the outside in.

A hint is the type that a place wants. It gives open expressions (``none``, ``{}``, ``[b -> e]``, a variant that two
enums share) their type; ``convert`` then decides whether the result fits. The functions at the end are what other
passes call.
"""

from __future__ import annotations

from typing import assert_never

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.expressions import binders, blocks, builtins, literals, logic, operators
from assay.grammar.elaborate.expressions import temporal as moments
from assay.grammar.elaborate.expressions.action_references import ActionReference, refer
from assay.grammar.elaborate.expressions.assignment_targets import AssignmentTarget, place
from assay.grammar.elaborate.expressions.calls import call_entity, check_function, is_callable
from assay.grammar.elaborate.expressions.logic import ScopedCondition
from assay.grammar.elaborate.expressions.name_resolution import (
    distinct,
    field_index,
    find,
    is_namespace,
    namespace,
    read,
    resolve,
    unknown,
)
from assay.grammar.elaborate.expressions.type_expressions import type_in
from assay.grammar.elaborate.folds import all_elements
from assay.grammar.elaborate.patterns import matching
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.narrowing import narrowed
from assay.grammar.elaborate.scopes.scope import Entity, FunctionEntity, Scope, TypeEntity, VariantEntity
from assay.grammar.elaborate.scopes.type_relations import ERROR, UNKNOWN, erased, type_text, without_option
from assay.grammar.elaborate.types import domains
from assay.grammar.elaborate.types.coercion import convert, convertible
from assay.grammar.elaborate.types.unify import together
from assay.grammar.kernel.types import BOOL, INT, EnumType, MapType, OptionType, RecordType, SeqType, Type
from assay.grammar.parsing.other_languages import method_elsewhere

NAMED_OPERATORS = ("old", "new", "enabled", "occurs", "some")


def elaborate(expr: syntax.Expr, cx: Context, hint: Type | None) -> kernel.Expr:
    """Elaborate any expression; a ``none`` or ``{}`` in the result may still be open."""
    return narrowed(_elaborate(expr, cx, hint), cx.scope)


def _elaborate(expr: syntax.Expr, cx: Context, hint: Type | None) -> kernel.Expr:
    match expr:
        case syntax.IntLit(value):
            return kernel.Const(INT, value, span=expr.span)
        case syntax.BoolLit(truth):
            return kernel.Const(BOOL, truth, span=expr.span)
        case syntax.NoneLit():
            return kernel.Const(hint if isinstance(hint, OptionType) else OptionType(UNKNOWN), None, span=expr.span)
        case syntax.Wildcard():
            return cx.error(
                "E113", expr.span, "`_` stands only for an argument of an action, or for what a pattern leaves unnamed"
            )
        case syntax.Ref():
            return _name(expr, cx, hint)
        case syntax.Attr():
            return _attribute(expr, cx, hint)
        case syntax.Index():
            return _entry(expr, cx)
        case syntax.Call():
            return _call(expr, cx, hint)
        case syntax.Unary():
            return _prefix(expr, cx)
        case syntax.Binary():
            return _infix(expr, cx, hint)
        case syntax.Junction() | syntax.Is():
            return logic.condition(expr, cx).expr
        case syntax.BlockValue() | syntax.BlockIf() | syntax.BlockQuantified():
            return _elaborate(blocks.plain(expr), cx, hint)
        case syntax.Match():
            return matching.matched(expr, cx, hint)
        case _:
            return _compound(expr, cx, hint)


def _compound(expr: syntax.Expr, cx: Context, hint: Type | None) -> kernel.Expr:
    match expr:
        case syntax.IfThenElse():
            return _choice(expr, cx, hint)
        case syntax.Quantified():
            return binders.quantified(expr, cx)
        case syntax.LetIn():
            return binders.let_in(expr, cx, hint)
        case syntax.SetDisplay():
            return literals.set_display(expr, cx, hint)
        case syntax.SeqDisplay():
            return literals.seq_display(expr, cx, hint)
        case syntax.BagDisplay():
            return literals.bag_display(expr, cx, hint)
        case syntax.Tuple():
            return literals.tuple_display(expr, cx, hint)
        case syntax.MapDisplay():
            return literals.map_display(expr, cx, hint)
        case syntax.Filter():
            return binders.filtered(expr, cx)
        case syntax.Image("bag"):
            return all_elements.bag_of_all(expr, cx, hint)
        case syntax.Image():
            return binders.image(expr, cx, hint)
        case syntax.Tabulate():
            return binders.tabulated(expr, cx, hint)
        case syntax.Choose():
            return all_elements.chosen(expr, cx)
        case syntax.Fold():
            return all_elements.folded(expr, cx, hint)
        case syntax.Folding():
            return all_elements.folding(expr, cx)
        case syntax.With():
            return literals.changed(expr, cx, hint)
        case _:
            raise AssertionError(f"an expression of no known form: {expr!r}")


def _name(expr: syntax.Ref, cx: Context, hint: Type | None) -> kernel.Expr:
    entity = _wanted_variant(expr, cx, hint) or find(expr.name, cx)
    return erroneous(expr.span) if entity is None else read(entity, expr, cx, hint)


def _wanted_variant(expr: syntax.Expr, cx: Context, hint: Type | None) -> VariantEntity | None:
    """The variant of the hinted enum that a name denotes although the name is not visible, or offered by several
    modules."""
    # A name with one meaning keeps it, whatever type is wanted. The hint only decides where there are several, or none.
    enum = without_option(hint)
    if (
        not isinstance(expr, syntax.Ref)
        or not isinstance(enum, EnumType)
        or len(distinct(cx.scope.find(expr.name.text))) == 1
    ):
        return None
    variants = [variant for variant in enum.variants if variant.name == expr.name.text]
    return VariantEntity(((enum, variants[0]),), expr.span) if variants else None


def _names_variant(expr: syntax.Attr, scope: Scope) -> bool:
    """Whether the expression is ``E.V`` for the variant V of the enum E."""
    match expr.base:
        case syntax.Ref(name):
            enums = [
                e.type for e in scope.find(name.text) if isinstance(e, TypeEntity) and isinstance(e.type, EnumType)
            ]
            return any(variant.name == expr.name.text for enum in enums for variant in enum.variants)
        case _:
            return False


def _attribute(expr: syntax.Attr, cx: Context, hint: Type | None) -> kernel.Expr:
    # Modules before records: a dot behind one leads to a member, which may be anything that has a name.
    if is_namespace(expr.base, cx.scope):
        entity = resolve(expr, cx)
        return erroneous(expr.span) if entity is None else read(entity, expr, cx, hint)
    if _names_variant(expr, cx.scope):
        advice = f"a variant is written without the name of its enum: `{expr.name.text}`"
        return cx.error("E105", expr.name.span, "an enum is a type, which has no fields", advice)
    record = cx.timeless().infer(expr.base)
    if failed(record):
        return erroneous(expr.span)
    index = field_index(record.type, expr.name, cx)
    if index is None or not isinstance(record.type, RecordType):
        return erroneous(expr.span)
    return kernel.ReadField(record.type.fields[index].type, record, index, span=expr.span)


def _entry(expr: syntax.Index, cx: Context) -> kernel.Expr:
    if is_namespace(expr, cx.scope):
        namespace(expr, cx)
        return cx.error("E103", expr.span, "an instance is not a value; write one of its members after a dot")
    cx = cx.timeless()
    collection = cx.infer(expr.base)
    match collection.type:
        case MapType(key_type, value_type):
            wanted, result = erased(key_type), value_type
        case SeqType(item):
            wanted, result = INT, item
        case _ if failed(collection):
            return erroneous(expr.span)
        case RecordType() as record if record.is_tuple:
            return _part_of_tuple(expr, collection, record, cx)
        case _:
            return cx.error("E203", expr.span, f"a map or a sequence has entries, {type_text(collection.type)} has not")
    # Looked up and not stored: a key outside of its range has no entry, and needs no check of its own.
    key = convert(cx.attempt(expr.key, wanted), wanted, cx.diagnostics)
    return erroneous(expr.span) if failed(key) else kernel.Lookup(result, collection, key, span=expr.span)


def _part_of_tuple(expr: syntax.Index, value: kernel.Expr, of: RecordType, cx: Context) -> kernel.Expr:
    """``t[0]``: which value of a tuple is meant must be known from the text, for each has a type of its own."""
    most = len(of.fields) - 1
    match expr.key:
        case syntax.IntLit(at) if at <= most:
            return kernel.ReadField(of.fields[at].type, value, at, span=expr.span)
        case _:
            message = f"the values of a {type_text(of)} are [0] to [{most}]"
            return cx.error("E203", expr.key.span, message, "`let (a, b) = t` gives names to them")


def _call(expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    match expr.function:
        case syntax.Ref(name):
            return _call_name(name, expr, cx, hint)
        case syntax.Attr(base) if is_namespace(base, cx.scope):
            entity = resolve(expr.function, cx)
            return erroneous(expr.span) if entity is None else call_entity(entity, expr, cx, hint)
        case _:
            known = method_elsewhere(expr.function.name.text) if isinstance(expr.function, syntax.Attr) else None
            advice = [] if known is None else [f"nothing is called on a value here: write {known}"]
            return cx.error("E103", expr.function.span, "only a function, a record or a variant is called", *advice)


def _call_name(name: syntax.Name, expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    """A call of a name: one that is both a variable and a built-in function denotes the function here."""
    found = cx.scope.find(name.text)
    # So a variable may be called `count` or `old`: only what can be called hides a function of the language.
    if not any(is_callable(entity) for entity in found):
        if name.text in NAMED_OPERATORS:
            return _named_operator(name.text, expr, cx, hint)
        if name.text in builtins.TABLE:
            return builtins.built_in(name.text, expr, cx)
    if not found and _wanted_variant(expr.function, cx, hint) is None:
        return unknown(name, (*cx.scope.names(), *builtins.TABLE, *NAMED_OPERATORS), cx)
    entity: Entity | None = _wanted_variant(expr.function, cx, hint) or find(name, cx)
    return erroneous(expr.span) if entity is None else call_entity(entity, expr, cx, hint)


def _named_operator(name: str, expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    match name:
        case "old":
            return moments.old(expr, cx, hint)
        case "new":
            return moments.new(expr, cx, hint)
        case "enabled":
            return moments.action_atom("enabled", expr, cx)
        case "occurs":
            return moments.action_atom("occurs", expr, cx)
        case _:
            return _some(expr, cx, hint)


def _some(expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    if len(expr.arguments) != 1 or expr.arguments[0].name is not None:
        return cx.error("E205", expr.span, f"some(v) takes one value, {len(expr.arguments)} given")
    wanted = hint.item if isinstance(hint, OptionType) else None
    value = cx.timeless().infer(expr.arguments[0].value, wanted)
    if failed(value):
        return erroneous(expr.span)
    if wanted is not None and convertible(value, wanted):
        return kernel.MakeSome(OptionType(wanted), convert(value, wanted, cx.diagnostics, put=True), span=expr.span)
    # The value does not fit. Whoever gave the hint says so, with both types.
    return kernel.MakeSome(OptionType(value.type), value, span=expr.span)


def _prefix(expr: syntax.Unary, cx: Context) -> kernel.Expr:
    match expr.op:
        case "not":
            return logic.condition(expr, cx).expr
        case "-":
            return operators.negative(expr, cx.timeless())
        case "always" | "eventually":
            return moments.temporal(expr.op, expr, (expr.operand,), cx)
        case _:
            assert_never(expr.op)


def _infix(expr: syntax.Binary, cx: Context, hint: Type | None) -> kernel.Expr:
    match expr.op:
        case "implies":
            return logic.condition(expr, cx).expr
        case "until" | "leads_to":
            return moments.temporal(expr.op, expr, (expr.left, expr.right), cx)
        case _:
            return operators.infix(expr, cx.timeless(), hint)


def _choice(expr: syntax.IfThenElse, cx: Context, hint: Type | None) -> kernel.Expr:
    test = logic.condition(expr.condition, cx.timeless())
    # The condition has no temporal operators, and the branches may have some if the whole may.
    then, otherwise = (cx.within(logic.restored(scope, cx.scope)) for scope in (test.when_true, test.when_false))

    def mismatch(left: str, right: str) -> str:
        return f"the branches have different types: {left} and {right}"

    (yes, no), common = together([(expr.then, then), (expr.otherwise, otherwise)], hint, mismatch)
    if failed(test.expr, yes, no) or common == ERROR:
        return erroneous(expr.span)
    return kernel.IfThenElse(common, test.expr, yes, no, span=expr.span)


# ---------------------------------------------------------------------------------------- for other passes


def context(scope: Scope, diagnostics: Diagnostics, fresh: Fresh) -> Context:
    """The context in which a pass elaborates expressions."""
    return Context(scope, diagnostics, fresh, elaborate)


def elaborate_expression(
    expr: syntax.Expr, scope: Scope, diagnostics: Diagnostics, fresh: Fresh, expected: Type | None = None
) -> kernel.Expr:
    """The typed expression, converted to the expected type.

    Integers at the top are not checked against ranges: whoever stores the value conforms it (``convert`` with ``put``
    checks). After an error the result is ``failed``.
    """
    cx = context(scope, diagnostics, fresh)
    if expected is None:
        return cx.infer(expr)
    return convert(cx.attempt(expr, expected), expected, diagnostics)


def elaborate_condition(expr: syntax.Expr, scope: Scope, diagnostics: Diagnostics, fresh: Fresh) -> ScopedCondition:
    """A boolean expression, with the scopes of what follows where it is true and where it is false."""
    return logic.condition(expr, context(scope, diagnostics, fresh))


def elaborate_type(type_expr: syntax.TypeExpr, scope: Scope, diagnostics: Diagnostics) -> Type:
    """The kernel type. After an error it contains ``ErrorType``, which suppresses follow-up errors."""
    return type_in(type_expr, Context(scope, diagnostics, Fresh(), elaborate))


def elaborate_domain(
    expr: syntax.Expr, scope: Scope, diagnostics: Diagnostics, fresh: Fresh
) -> tuple[kernel.Expr, Type]:
    """A set to enumerate (``pick``, ``for``, an action's parameter), small enough for that, with the type of its
    elements."""
    return domains.set_domain(expr, context(scope, diagnostics, fresh))


def as_place(target: syntax.Expr, scope: Scope, diagnostics: Diagnostics, fresh: Fresh) -> AssignmentTarget | None:
    """The target of an assignment; None after an error."""
    return place(target, context(scope, diagnostics, fresh))


def action_reference(expr: syntax.Expr, scope: Scope, diagnostics: Diagnostics, fresh: Fresh) -> ActionReference | None:
    """An action with its arguments; None after an error."""
    return refer(expr, context(scope, diagnostics, fresh))


def check_definition(entity: FunctionEntity, diagnostics: Diagnostics) -> None:
    """Report the mistakes in a function, whether it is called or not."""
    check_function(entity, context(entity.home, diagnostics, Fresh()))
