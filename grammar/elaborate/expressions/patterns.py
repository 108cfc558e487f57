"""``x is Pattern``: the test, and the values of the pattern's variables where the match is certain."""

from __future__ import annotations

from dataclasses import dataclass

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.locals import define
from assay.grammar.elaborate.expressions.name_resolution import qualified, resolve
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.narrowing import known_present, widened
from assay.grammar.elaborate.scopes.scope import Scope, VariantEntity
from assay.grammar.elaborate.scopes.type_relations import ERROR, type_text, without_option
from assay.grammar.kernel.types import BOOL, EnumType, OptionType, VariantType


@dataclass(frozen=True, slots=True)
class PatternTest:
    """A pattern test without its negation; ``when_true`` and ``when_false`` are the scopes where it holds and where it
    does not."""

    expr: kernel.Expr
    when_true: Scope
    when_false: Scope


def match_pattern(expr: syntax.Is, cx: Context) -> PatternTest:
    """Elaborate the test of a pattern, without the ``not`` of ``is not``."""
    pattern = expr.pattern
    if expr.negated:
        _forbid_binders(pattern, cx)
    subject = cx.infer(expr.subject)
    keyword = pattern.variant.parts[0].text if len(pattern.variant.parts) == 1 else ""
    if keyword in ("some", "none"):
        subject = widened(subject)
    if failed(subject):
        return _failure(expr, cx)
    match subject.type:
        case OptionType() if keyword in ("some", "none"):
            return _match_option(expr, keyword, subject, cx)
        case EnumType() as enum if keyword not in ("some", "none"):
            return _match_variant(expr, enum, subject, cx)
        case _:
            return _not_matchable(expr, keyword, subject, cx)


def _forbid_binders(pattern: syntax.Pattern, cx: Context) -> None:
    for name in pattern.binders or ():
        if name is not None:
            cx.error(
                "E112",
                name.span,
                f"`{name.text}` would be in scope nowhere: `is not` makes no match certain",
                "write `_` for it",
            )


def _not_matchable(expr: syntax.Is, keyword: str, subject: kernel.Expr, cx: Context) -> PatternTest:
    found = type_text(subject.type)
    if keyword:
        advice = ["only a value of an optional type such as T? is matched with `some` and `none`"]
    elif isinstance(without_option(subject.type), EnumType):
        advice = ["the value may be none here: write `x is some(v) and v is …`, or test it with `!= none` before"]
    else:
        advice = []
    cx.error("E206", expr.pattern.span, f"{found} has no variant {expr.pattern.variant}", *advice)
    return _failure(expr, cx)


def _match_option(expr: syntax.Is, keyword: str, subject: kernel.Expr, cx: Context) -> PatternTest:
    pattern = expr.pattern
    present = kernel.IsSome(BOOL, subject, span=expr.span)
    known = known_present(subject, cx.scope)
    if keyword == "none":
        _check_count(pattern, 0, cx)
        return PatternTest(kernel.Not(BOOL, present, span=expr.span), cx.scope, known)
    if pattern.binders is None:
        return PatternTest(present, known, cx.scope)
    if not _check_count(pattern, 1, cx) or not isinstance(subject.type, OptionType):
        return _failure(expr, cx)
    value = kernel.Unwrap(subject.type.item, subject, span=expr.span)
    return PatternTest(present, _bind(pattern.binders, (value,), cx.within(known)), cx.scope)


def _match_variant(expr: syntax.Is, enum: EnumType, subject: kernel.Expr, cx: Context) -> PatternTest:
    variant = _variant(expr.pattern, enum, cx)
    if variant is None:
        return _failure(expr, cx)
    test = kernel.IsVariant(BOOL, subject, variant.name, span=expr.span)
    binders = expr.pattern.binders
    if binders is None:
        return PatternTest(test, cx.scope, cx.scope)
    if not _check_count(expr.pattern, len(variant.fields), cx):
        return _failure(expr, cx)
    values = tuple(
        kernel.Payload(field.type, subject, variant.name, index, span=expr.span)
        for index, field in enumerate(variant.fields)
    )
    return PatternTest(test, _bind(binders, values, cx), cx.scope)


def _variant(pattern: syntax.Pattern, enum: EnumType, cx: Context) -> VariantType | None:
    """The variant of the pattern: the subject's type decides between enums that share its name."""
    *prefix, last = pattern.variant.parts
    if prefix and not _is_variant_of(pattern.variant, enum, cx):
        return None
    for variant in enum.variants:
        if variant.name == last.text:
            return variant
    names = [variant.name for variant in enum.variants]
    guess = did_you_mean(last.text, names)
    advice = f"did you mean `{guess}`?" if guess else f"its variants are {', '.join(names)}"
    cx.error("E206", last.span, f"{enum.name} has no variant {last.text}", advice)
    return None


def _is_variant_of(path: syntax.DottedName, enum: EnumType, cx: Context) -> bool:
    """Whether a dotted name denotes a variant of the enum; reports it if not."""
    entity = resolve(qualified(path), cx)
    if entity is None:
        return False
    if isinstance(entity, VariantEntity) and any(candidate == enum for candidate, _ in entity.candidates):
        return True
    cx.error("E206", path.span, f"{path} is no variant of {enum.name}")
    return False


def _check_count(pattern: syntax.Pattern, wanted: int, cx: Context) -> bool:
    given = len(pattern.binders or ())
    if given == wanted:
        return True
    things = "name" if wanted == 1 else "names"
    cx.error(
        "E206",
        pattern.span,
        f"{pattern.variant} has {wanted} {things} to bind, {given} given",
        "write `_` for what is not needed",
    )
    return False


def _bind(binders: tuple[syntax.Name | None, ...], values: tuple[kernel.Expr, ...], cx: Context) -> Scope:
    for name, value in zip(binders, values, strict=True):
        if name is not None:
            cx = cx.within(define(name, value, cx))
    return cx.scope


def _failure(expr: syntax.Is, cx: Context) -> PatternTest:
    """After an error the pattern's variables are declared all the same, so that their uses are not reported too."""
    scope = cx.scope
    for name in expr.pattern.binders or ():
        if name is not None:
            scope = define(name, kernel.Const(ERROR, None, span=name.span), cx.within(scope))
    return PatternTest(erroneous(expr.span), scope, cx.scope)
