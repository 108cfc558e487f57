"""The context in which one expression is elaborated, and the supply of unique local names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.elaborate.scopes.erroneous import erroneous
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.scopes.type_relations import ErrorType, UnknownType, mentions
from assay.grammar.kernel.types import OptionType, Type
from assay.grammar.lazy_dataclass import dataclass

Dispatch = Callable[[syntax.Expr, "Context", Type | None], kernel.Expr]


@dataclass(frozen=True, slots=True)
class Context:
    """The context of an expression.

    ``dispatch`` elaborates any expression. ``sizes`` collects the places where a size parameter was read. ``site`` is
    the place of the outermost function call that is being expanded: what a function may do depends on where it is
    called.
    """

    scope: Scope
    diagnostics: Diagnostics
    fresh: Fresh
    dispatch: Dispatch
    sizes: list[Span] = field(default_factory=list)
    site: Span | None = None

    def within(self, scope: Scope) -> Context:
        """The same with another scope."""
        return replace(self, scope=scope)

    def timeless(self) -> Context:
        """The same context where no temporal operator is allowed: anywhere but in the boolean structure of a
        property."""
        return self.within(self.scope.allowing(temporal=False)) if self.scope.permissions.temporal else self

    def error(self, code: str, span: Span, message: str, *notes: Note | str) -> kernel.Expr:
        """Report an error; the result stands for the faulty expression."""
        self.diagnostics.error(code, span, message, *notes)
        return erroneous(span)

    def forbidden(self, code: str, span: Span, message: str, *notes: Note | str) -> kernel.Expr:
        """Report something that is not allowed here; inside a function, at the place of its call."""
        if self.site is None:
            return self.error(code, span, message, *notes)
        return self.error(
            code, self.site, f"{message} (inside the function called here)", Note("it is used here", span), *notes
        )

    def infer(self, expr: syntax.Expr, hint: Type | None = None) -> kernel.Expr:
        """Elaborate an expression whose type must be known from itself or from the hint; the hint is not enforced."""
        return self.settled(self.attempt(expr, hint))

    def settled(self, expr: kernel.Expr) -> kernel.Expr:
        """The expression if its type is completely known; reports E204 otherwise."""
        # What has an error may be open because of it.
        if not mentions(expr.type, UnknownType) or mentions(expr.type, ErrorType):
            return expr
        what = "`none`" if isinstance(expr.type, OptionType) else "what is empty"
        return self.error(
            "E204",
            expr.span,
            f"the type of {what} cannot be known here",
            "write it where a value of one type is wanted",
        )

    def attempt(self, expr: syntax.Expr, hint: Type | None = None) -> kernel.Expr:
        """Elaborate an expression in which a ``none`` or ``{}`` may stay open.

        Nesting that exhausts Python's stack, perhaps through a chain of functions, is reported as E017.
        """
        try:
            return self.dispatch(expr, self, hint)
        except RecursionError:
            return self.error(
                "E017", expr.span, "this is nested too deeply", "give names to parts of it with `def` or `let`"
            )
