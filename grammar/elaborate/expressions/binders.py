"""Quantifiers, comprehensions and tabulated maps: expressions with bound variables."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.logic import condition
from assay.grammar.elaborate.patterns.binding import bind, bind_in
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.scope import TypeEntity
from assay.grammar.elaborate.scopes.type_relations import ErrorType, mentions, without_option
from assay.grammar.elaborate.types.coercion import converted_if_possible
from assay.grammar.elaborate.types.domains import check_enumerable_type, set_domain
from assay.grammar.kernel.types import BOOL, MapType, SeqType, SetType, Type


def quantified(expr: syntax.Quantified, cx: Context) -> kernel.Expr:
    """``forall``/``exists``, one kernel quantifier for each name."""
    bound: list[tuple[kernel.Local, kernel.Expr]] = []
    inner = cx
    for binder in expr.binders:
        # In `x, y in S` both range over one set, so S is read where neither of them is known.
        domain_cx = inner
        for name in binder.names:
            local, domain, inner = bind_in(name, binder.domain, domain_cx, inner, searched=True)
            bound.append((local, domain))
    body = condition(expr.body, inner).expr
    if failed(body, *(domain for _, domain in bound)):
        return erroneous(expr.span)
    for local, domain in reversed(bound):
        body = kernel.Quantified(BOOL, expr.kind, local, domain, body, span=expr.span)
    return body


def filtered(expr: syntax.Filter, cx: Context) -> kernel.Expr:
    """``{x in S if P}``, ``[x in s if P]`` or ``bag{x in b if P}``."""
    cx = cx.timeless()
    local, domain, inner = bind_in(expr.name, expr.domain, cx, cx, kind=expr.kind)
    test = condition(expr.condition, inner).expr
    if failed(domain, test):
        return erroneous(expr.span)
    return kernel.Filter(domain.type, local, domain, test, span=expr.span)


def image(expr: syntax.Image, cx: Context, hint: Type | None) -> kernel.Expr:
    """``{e for x in S if P}`` or ``[e for x in s if P]``; the element is elaborated where the condition holds."""
    inner = cx.timeless()
    generators: list[kernel.Generator] = []
    for binder in expr.binders:
        domain_cx = inner
        for name in binder.names:
            local, domain, inner = bind_in(name, binder.domain, domain_cx, inner, kind=expr.kind)
            generators.append(kernel.Generator(local, domain, span=binder.span))
    _check_one_sequence(expr, generators, cx)
    test = None if expr.condition is None else condition(expr.condition, inner)
    # The condition is read first although it stands last: what it establishes holds where the element is made.
    element = _element(expr, inner if test is None else inner.within(test.when_true), hint)
    if failed(element, *(generator.domain for generator in generators), *([] if test is None else [test.expr])):
        return erroneous(expr.span)
    result = SetType(element.type) if expr.kind == "set" else SeqType(element.type)
    return kernel.Image(result, element, tuple(generators), None if test is None else test.expr, span=expr.span)


def _check_one_sequence(expr: syntax.Image, generators: list[kernel.Generator], cx: Context) -> None:
    if expr.kind == "seq" and len(generators) > 1:
        cx.error(
            "E212",
            generators[1].binder.span,
            "a sequence is made from one sequence, with one name",
            "make a set, in braces",
        )


def _element(expr: syntax.Image, cx: Context, hint: Type | None) -> kernel.Expr:
    wanted = without_option(hint)
    item = wanted.item if isinstance(wanted, SetType | SeqType) else None
    return cx.settled(converted_if_possible(cx.attempt(expr.element, item), item))


def tabulated(expr: syntax.Tabulate, cx: Context, hint: Type | None) -> kernel.Expr:
    """``[b -> e]`` over the key type of the hint, or ``[b in S -> e]``."""
    cx = cx.timeless()
    wanted = without_option(hint)
    wanted_map = wanted if isinstance(wanted, MapType) else None
    if expr.domain is None and wanted is not None and mentions(wanted, ErrorType):
        return erroneous(expr.span)  # the type that is wanted was reported
    if expr.domain is not None:
        domain, item = set_domain(expr.domain, cx)
    else:
        domain, item = _key_domain(expr, wanted_map, cx)
    # Without a domain the type of the name is not known either, so nothing in the value could be understood.
    if failed(domain) and expr.domain is None:
        return domain
    local, scope = bind(expr.name, item, cx)
    inner = cx.within(scope)
    wanted_value = None if wanted_map is None else wanted_map.value
    value = cx.settled(converted_if_possible(inner.attempt(expr.value, wanted_value), wanted_value))
    if failed(domain, value):
        return erroneous(expr.span)
    # Over a whole type each key has an entry, so the map is total.
    partial = not isinstance(domain, kernel.TypeDomain) or (wanted_map is not None and wanted_map.partial)
    return kernel.Tabulate(MapType(item, value.type, None, partial), local, domain, value, span=expr.span)


def _key_domain(expr: syntax.Tabulate, wanted: MapType | None, cx: Context) -> tuple[kernel.Expr, Type]:
    if wanted is None:
        message = "the keys of this map are not known here"
        advice = "write the set of keys: `[k in S -> …]`"
        meant = cx.scope.find(expr.value.name.text) if isinstance(expr.value, syntax.Ref) else ()
        if any(isinstance(each, TypeEntity) for each in meant):
            advice = "the set of all maps is the name of their type: `type M = map[K, V]`, and `m in M`"
        missing = cx.error("E204", expr.span, message, advice)
        return missing, missing.type
    domain = kernel.TypeDomain(SetType(wanted.key), wanted.key, span=expr.span)
    if not check_enumerable_type(wanted.key, domain, cx.diagnostics):
        return erroneous(expr.span), wanted.key
    return domain, wanted.key


def let_in(expr: syntax.LetIn, cx: Context, hint: Type | None) -> kernel.Expr:
    """``let x = value: body``."""
    value = cx.timeless().infer(expr.value)
    local, scope = bind(expr.name, value.type, cx)
    # Also after an error in the value, so that mistakes in the body are found as well.
    body = cx.within(scope).attempt(expr.body, hint)
    if failed(value):
        return erroneous(expr.span)
    return kernel.LetIn(body.type, local, value, body, span=expr.span)
