"""Binders: a name, or a tuple of patterns that every value fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.locals import declare
from assay.grammar.elaborate.patterns.fitting import fitted
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.types.domains import bag_domain, sequence_domain, set_domain
from assay.grammar.kernel.types import Type


def bind(bound: syntax.Bound, type_: Type, cx: Context) -> tuple[kernel.Local, Scope]:
    """A new local for the value, and the scope in which the names of what is bound are visible."""
    if isinstance(bound, syntax.Name):
        return declare(bound, type_, cx)
    # The value itself has no name in the spec, and answers show one made of the names of its parts.
    local = kernel.Local(type_, cx.fresh("_".join(_names(bound)) or "tuple"), span=bound.span)
    return local, unpacked(bound, local, cx)


def bind_in(
    name: syntax.Bound,
    domain: syntax.Expr,
    domain_cx: Context,
    cx: Context,
    *,
    kind: Literal["set", "seq", "bag"] = "set",
    searched: bool = False,
) -> tuple[kernel.Local, kernel.Expr, Context]:
    """A bound variable with its domain, read in ``domain_cx``, and the context in which the variable is visible."""
    if kind == "set":
        found, item = set_domain(domain, domain_cx, searched=searched)
    else:
        found, item = sequence_domain(domain, domain_cx) if kind == "seq" else bag_domain(domain, domain_cx)
    local, scope = bind(name, item, cx)
    return local, found, cx.within(scope)


def _names(pattern: syntax.SubPattern) -> Iterator[str]:
    """The names that a pattern binds, from which the value gets a name in answers."""
    match pattern:
        case syntax.Name(text):
            yield text
        case syntax.TuplePattern(parts) | syntax.Pattern(_, tuple() as parts):
            for part in parts:
                yield from _names(part)
        case _:
            pass


def unpacked(pattern: syntax.TuplePattern, value: kernel.Expr, cx: Context) -> Scope:
    """The scope in which the names of a pattern stand for the parts of a value."""
    found = fitted(pattern, value, cx, pattern.span)
    # The test is the constant true exactly if every value fits (`fitting.PatternTest`).
    if not failed(found.expr) and not isinstance(found.expr, kernel.Const):
        message = "a binder takes apart every value, and some do not fit this pattern"
        cx.error("E206", pattern.span, message, "write names here, and test the values with `is` or `match`")
    return found.when_true
