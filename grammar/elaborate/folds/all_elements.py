"""Values computed from all elements: ``choose``, ``fold``, and functions over ``e for x in S``.

All become kernel expressions that every engine knows. A sum is that of the values of a map from the elements. A ``fold``
is written out, one step for each element that may be there.
"""

from __future__ import annotations

from dataclasses import replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.expressions.logic import condition
from assay.grammar.elaborate.patterns.binding import bind, bind_in
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.scopes.type_relations import (
    ERROR,
    ErrorType,
    UnknownType,
    erased,
    is_integer,
    mentions,
    same,
    type_text,
)
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.elaborate.types.constant_folding import NotConstantError, constant, values_of
from assay.grammar.elaborate.types.domains import keeps_capacity, longest, sequence_domain, set_domain
from assay.grammar.kernel.types import BOOL, INT, AtomType, BagType, MapType, RangeType, SeqType, SetType, Type
from assay.grammar.values import Value

MOST_STEPS = 64
"""The most elements over which a fold is written out."""

FUNCTIONS = ("sum", "min", "max", "count", "all", "any", "argmin", "argmax")


def chosen(expr: syntax.Choose, cx: Context) -> kernel.Expr:
    """``choose x in S if P``: the only such element."""
    cx = cx.timeless()
    local, domain, inner = bind_in(expr.name, expr.domain, cx, cx)
    test = condition(expr.condition, inner).expr
    if failed(domain, test):
        return erroneous(expr.span)
    if isinstance(test, kernel.Const):
        message = "the condition is the same for all elements, so nothing tells which one is meant"
        return cx.error("E217", expr.span, message, "in an action, `pick x in S` chooses any element")
    found = kernel.Filter(domain.type, local, domain, test, span=expr.span)
    return kernel.Endpoint(local.type, "only", found, span=expr.span)


# ---------------------------------------------------------------------------------------------------- e for x in S


def folding(expr: syntax.Folding, cx: Context) -> kernel.Expr:
    """``sum(e for x in S if P)`` and its kin."""
    cx = cx.timeless()
    name = expr.function.name.text if isinstance(expr.function, syntax.Ref) else ""
    match name:
        case "all" | "any":
            return _quantified(name, expr, cx)
        case "min" | "max":
            return _extreme(name, expr, cx)
        case "sum":
            return _sum(expr, cx)
        case "count":
            return _count(expr, cx)
        case "argmin" | "argmax":
            return _argument("min" if name == "argmin" else "max", expr, cx)
        case _:
            return cx.error(
                "E217", expr.function.span, f"`e for x in S` is an argument of {', '.join(FUNCTIONS)} alone",
                "for a set of values write braces: `{e for x in S}`",
            )  # fmt: skip


def _quantified(name: str, expr: syntax.Folding, cx: Context) -> kernel.Expr:
    body, kind = expr.element, "exists" if name == "any" else "forall"
    if expr.condition is not None and kind == "forall":
        # Conditions stand on the left, where they protect the element: it need not have a value where they fail.
        body = syntax.Binary("implies", expr.condition, body, span=expr.span)
    elif expr.condition is not None:
        body = syntax.Junction("and", (expr.condition, body), span=expr.span)
    return cx.attempt(syntax.Quantified(kind, expr.binders, body, span=expr.span))  # type: ignore[arg-type]


def _image(expr: syntax.Folding, cx: Context) -> kernel.Expr:
    # A set is enough: how often a value occurs does not change the least or the greatest.
    kind: str = "set"
    made = syntax.Image(kind, expr.element, expr.binders, expr.condition, span=expr.span)  # type: ignore[arg-type]
    return cx.infer(made)


def _extreme(op: str, expr: syntax.Folding, cx: Context) -> kernel.Expr:
    values = _image(expr, cx)
    if failed(values):
        return erroneous(expr.span)
    if not isinstance(values.type, SetType) or not is_integer(values.type.item):
        return _not_integer(expr, values.type.item if isinstance(values.type, SetType) else values.type, cx)
    return kernel.Aggregate(values.type.item, op, values, span=expr.span)  # type: ignore[arg-type]


def _not_integer(expr: syntax.Folding, found: Type, cx: Context) -> kernel.Expr:
    return cx.error("E203", expr.element.span, f"an integer is wanted here, found {type_text(found)}")


def _sum(expr: syntax.Folding, cx: Context) -> kernel.Expr:
    """A sum over several names is a sum of sums."""
    bound, test, inner = _bound(expr, cx)
    element = convert(inner.infer(expr.element, INT), INT, cx.diagnostics)
    return _added(expr, bound, test, element)


def _count(expr: syntax.Folding, cx: Context) -> kernel.Expr:
    """The number of ways to choose the elements; what is counted need not be said: ``count(x for x in S if P)``."""
    bound, test, inner = _bound(expr, cx)
    # Only for its mistakes: what is counted is never evaluated.
    if failed(inner.infer(expr.element)):
        return erroneous(expr.span)
    if len(bound) == 1:
        (local, domain), *_ = bound
        chosen_ones = domain if test is None else kernel.Filter(domain.type, local, domain, test, span=expr.span)
        return erroneous(expr.span) if failed(domain, chosen_ones) else kernel.Count(INT, chosen_ones, span=expr.span)
    return _added(expr, bound, test, kernel.Const(INT, 1, span=expr.span))


Bound = list[tuple[kernel.Local, kernel.Expr]]


def _bound(expr: syntax.Folding, cx: Context) -> tuple[Bound, kernel.Expr | None, Context]:
    """The bound names with their domains, the condition, and the context of the element."""
    inner, bound = cx, []
    for binder in expr.binders:
        domain_cx = inner
        for name in binder.names:
            local, domain, inner = bind_in(name, binder.domain, domain_cx, inner)
            bound.append((local, domain))
    if expr.condition is None:
        return bound, None, inner
    test = condition(expr.condition, inner)
    return bound, test.expr, inner.within(test.when_true)


def _added(expr: syntax.Folding, bound: Bound, test: kernel.Expr | None, element: kernel.Expr) -> kernel.Expr:
    if failed(element, *(domain for _, domain in bound), *([] if test is None else [test])):
        return erroneous(expr.span)
    total = element
    for at, (local, domain) in enumerate(reversed(bound)):
        over = domain if test is None or at else kernel.Filter(domain.type, local, domain, test, span=expr.span)
        # The filter binds `local` already, and no two binders of a kernel have one name.
        key = local if over is domain else kernel.Local(local.type, f"{local.name}'s", span=local.span)
        value = total if over is domain else _renamed(total, local, key)
        table = kernel.Tabulate(MapType(local.type, INT, None, True), key, over, value, span=expr.span)
        total = kernel.Aggregate(INT, "sum", table, span=expr.span)
    return total


def _renamed(value: kernel.Expr, old: kernel.Local, new: kernel.Local) -> kernel.Expr:
    return kernel.LetIn(value.type, old, new, value, span=value.span)


def _argument(op: str, expr: syntax.Folding, cx: Context) -> kernel.Expr:
    """The element of which the value is least or greatest; of several the first, if they have an order."""
    bound, test, inner = _bound(expr, cx)
    if len(bound) != 1 or not isinstance(expr.binders[0].names[0], syntax.Name):
        return cx.error("E217", expr.span, f"`arg{op}` is of one set with one name: `arg{op}(e for x in S)`")
    value = convert(inner.infer(expr.element, INT), INT, cx.diagnostics)
    (local, domain), *_ = bound
    if failed(value, domain, *([] if test is None else [test])):
        return erroneous(expr.span)
    over = domain if test is None else kernel.Filter(domain.type, local, domain, test, span=expr.span)
    # Bound once: the extreme value is looked for in it, and then the elements that have it.
    candidates = kernel.Local(domain.type, cx.fresh("candidates"), span=expr.span)
    best = kernel.Local(INT, cx.fresh(op), span=expr.span)
    values = kernel.Image(SetType(INT), value, (kernel.Generator(local, candidates),), None, span=expr.span)
    extreme = kernel.Aggregate(INT, op, with_fresh_binders(values, cx.fresh), span=expr.span)  # type: ignore[arg-type]
    equal = kernel.Equal(BOOL, value, best, False, span=expr.span)
    reached = with_fresh_binders(kernel.Filter(domain.type, local, candidates, equal, span=expr.span), cx.fresh)
    result = _first(reached, local.type, cx)
    result = kernel.LetIn(local.type, best, extreme, result, span=expr.span)
    return kernel.LetIn(local.type, candidates, with_fresh_binders(over, cx.fresh), result, span=expr.span)


def _first(found: kernel.Expr, of: Type, cx: Context) -> kernel.Expr:
    # Of integers the first is the least, and no order needs to be written out.
    if is_integer(of):
        return kernel.Aggregate(of, "min", found, span=found.span)
    if not isinstance(of, AtomType) or of.sort.symmetric:
        # Nothing tells several such elements apart: symmetry reduction may exchange them. So the value is undefined
        # then.
        return kernel.Endpoint(of, "only", found, span=found.span)
    ties, one, other = (kernel.Local(x, cx.fresh("ties"), span=found.span) for x in (found.type, of, of))
    least = kernel.Compare(BOOL, "<=", one, other, span=found.span)
    is_first = kernel.Quantified(BOOL, "forall", other, ties, least, span=found.span)
    chosen_one = kernel.Endpoint(
        of, "only", kernel.Filter(found.type, one, ties, is_first, span=found.span), span=found.span
    )
    return kernel.LetIn(of, ties, found, chosen_one, span=found.span)


# ------------------------------------------------------------------------------------------------------------- fold

Step = tuple[kernel.Expr, kernel.Expr]
"""Whether an element is there, and the element."""


def folded(expr: syntax.Fold, cx: Context, hint: Type | None) -> kernel.Expr:
    """``fold total = 0 for x in s: total + x``."""
    cx = cx.timeless()
    # It may be open, as `[]` is. Then the body tells the type (`_type_so_far`).
    start = cx.attempt(expr.start, hint)
    over = cx.infer(expr.domain)
    if isinstance(over.type, SeqType):
        over, item = sequence_domain(expr.domain, cx)
    else:
        over, item = set_domain(expr.domain, cx)
    so_far = _type_so_far(expr, start, item, cx)
    start = convert(cx.settled(start) if mentions(so_far, UnknownType) else start, so_far, cx.diagnostics)
    if failed(start, over):
        return erroneous(expr.span)
    total, scope = bind(expr.name, so_far, cx)
    element, scope = bind(expr.item, item, cx.within(scope))
    body = convert(cx.within(scope).attempt(expr.body, so_far), so_far, cx.diagnostics)
    whole = kernel.Local(over.type, cx.fresh("elements"), span=expr.domain.span)
    steps = _steps(over, whole, expr, cx)
    if failed(body) or steps is None or not same(body.type, so_far):
        return erroneous(expr.span)
    result = _written_out(start, steps, (total, element, body), so_far, cx)
    if isinstance(over.type, SeqType) and not keeps_capacity(over):
        result = _of_at_most(len(steps), whole, result, cx)
    return kernel.LetIn(so_far, whole, over, result, span=expr.span)


def _of_at_most(most: int, whole: kernel.Local, result: kernel.Expr, cx: Context) -> kernel.Expr:
    """The result, undefined for a sequence of more elements: for these no step is written out."""
    within = RangeType(0, most)
    length = kernel.Checked(within, kernel.Count(INT, whole, span=whole.span), span=whole.span)
    # Bound and not read: engines evaluate it all the same.
    return kernel.LetIn(
        result.type, kernel.Local(within, cx.fresh("length"), span=whole.span), length, result, span=result.span
    )


def bag_of_all(expr: syntax.Image, cx: Context, hint: Type | None) -> kernel.Expr:
    """``bag{e for x in S if P}``: a fold that adds the elements one after the other.

    ``bag{x for x in b if P}`` keeps elements of a bag.
    """
    kept = _kept_of_a_bag(expr, cx)
    if kept is not None:
        return cx.attempt(kept, hint)
    place = expr.span
    names = [
        # A name with a blank in it is none that a spec can write, so it hides nothing.
        (syntax.Name(f"bag {place.line}:{place.column}:{at}", span=place), name, binder.domain)
        for at, (binder, name) in enumerate((binder, name) for binder in expr.binders for name in binder.names)
    ]
    # The innermost fold: it adds the elements, and each outer one hands on what it has so far.
    so_far = syntax.Ref(names[-1][0], span=place)
    body: syntax.Expr = syntax.Binary("+", so_far, syntax.BagDisplay((expr.element,), span=place), span=place)
    if expr.condition is not None:
        body = syntax.IfThenElse(expr.condition, body, so_far, span=place)
    starts = [syntax.BagDisplay((), span=place), *(syntax.Ref(each[0], span=place) for each in names)]
    for start, (total, name, domain) in reversed([*zip(starts, names, strict=False)]):
        body = syntax.Fold(total, start, name, domain, body, span=place)
    return cx.attempt(body, hint)


def _kept_of_a_bag(expr: syntax.Image, cx: Context) -> syntax.Expr | None:
    """``bag{x in b if P}``, where ``bag{x for x in b if P}`` means that."""
    match expr:
        case syntax.Image(_, syntax.Ref(element), (syntax.Binder((syntax.Name() as name,), domain),), condition):
            quiet = replace(cx.timeless(), diagnostics=Diagnostics(), fresh=Fresh())
            if element != name or not isinstance(quiet.infer(domain).type, BagType):
                return None
            return domain if condition is None else syntax.Filter("bag", name, domain, condition, span=expr.span)
        case _:
            return None


def _type_so_far(expr: syntax.Fold, start: kernel.Expr, item: Type, cx: Context) -> Type:
    """The type of what is folded: that of the start, or if the start is open, as `[]` is, that of the body."""
    if not mentions(start.type, UnknownType):
        return erased(start.type)
    # The body is elaborated twice, here to see what type it has. Mistakes are reported the second time.
    quiet = replace(cx, diagnostics=Diagnostics(), fresh=Fresh())
    _, scope = bind(expr.name, start.type, quiet)
    _, scope = bind(expr.item, item, quiet.within(scope))
    found = erased(quiet.within(scope).attempt(expr.body).type)
    return start.type if mentions(found, ErrorType) else found


def _written_out(
    start: kernel.Expr, steps: list[Step], each: tuple[kernel.Local, kernel.Local, kernel.Expr], of: Type, cx: Context
) -> kernel.Expr:
    total, element, body = each
    # Each step is bound once. Put into each other, a body that reads the total twice would double at each of 64 steps.
    names = [kernel.Local(of, cx.fresh("so_far"), span=start.span) for _ in steps]
    values = [start]
    for before, (there, item) in zip(names, steps, strict=True):
        inner = kernel.LetIn(of, element, item, kernel.LetIn(of, total, before, body, span=body.span), span=body.span)
        changed = with_fresh_binders(inner, cx.fresh)
        values.append(kernel.IfThenElse(of, with_fresh_binders(there, cx.fresh), changed, before, span=body.span))
    result = values[-1]
    for name, value in reversed([*zip(names, values[:-1], strict=True)]):
        result = kernel.LetIn(of, name, value, result, span=body.span)
    return result


def _steps(over: kernel.Expr, whole: kernel.Local, expr: syntax.Fold, cx: Context) -> list[Step] | None:
    """The elements that may be there, in order; None after an error."""
    place = expr.domain.span
    if isinstance(over.type, SeqType):
        most = longest(over)
        if most is None or most > MOST_STEPS:
            size = "any length" if most is None else f"up to {most:,} elements"
            message = f"a fold is written out for at most {MOST_STEPS} elements, and this sequence has {size}"
            cx.error("E217", place, message, "fold over a sequence with a capacity: a variable, or a part of one")
            return None
        return [_element_at(whole, at) for at in range(most)]
    item = over.type.item if isinstance(over.type, SetType) else ERROR
    values = _ordered(over, item)
    if values is not None and len(values) <= MOST_STEPS:
        known = [kernel.Const(item, value, span=place) for value in values]
        # A step for each value that the set may hold, which changes nothing where it does not.
        return [(kernel.Member(BOOL, value, whole, False, span=place), value) for value in known]
    message = (
        f"a fold, or `bag{{… for …}}`, goes through a sequence, or a set of at most {MOST_STEPS} ordered values; "
        f"found {type_text(over.type)}"
    )
    if isinstance(over, kernel.Interval):
        advice = (
            "give the range fixed ends, and leave elements out inside: `for i in 0 .. 9: if i < n then … else total`"
        )
    else:
        advice = "of a set without an order take `sum`, `min`, `max` or `count`: `sum(e for x in S)`"
    cx.error("E217", place, message, advice)
    return None


def _ordered(over: kernel.Expr, item: Type) -> list[Value] | None:
    """The values that a set may hold, if they have an order and are known; a range of numbers may also be empty."""
    if isinstance(over, kernel.Interval) and isinstance(known := constant(over), frozenset):
        return sorted(known)
    if not (isinstance(item, AtomType) and not item.sort.symmetric) and not isinstance(item, RangeType):
        return None
    try:
        return [*values_of(item)]
    except NotConstantError:
        return None


def _element_at(whole: kernel.Local, at: int) -> Step:
    index = kernel.Const(INT, at, span=whole.span)
    there = kernel.Compare(BOOL, "<", index, kernel.Count(INT, whole, span=whole.span), span=whole.span)
    item = whole.type.item if isinstance(whole.type, SeqType) else ERROR
    return there, kernel.Lookup(item, whole, index, span=whole.span)
