"""``match``: the value of the first case that fits, and whether the cases cover every value."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.expressions.logic import restored
from assay.grammar.elaborate.patterns.exhaustiveness import Cell, cell, reachable, uncovered
from assay.grammar.elaborate.patterns.fitting import PatternTest, fitted, forbid_binders, is_about_presence
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.narrowing import widened
from assay.grammar.elaborate.scopes.type_relations import ERROR
from assay.grammar.elaborate.types.unify import together
from assay.grammar.kernel.types import BOOL, Type

_ALTERNATIVES = "several patterns with `or` between them bind nothing"


def matched(expr: syntax.Match, cx: Context, hint: Type | None) -> kernel.Expr:
    """``match x {…}``: the value of the first case that fits."""
    plain = cx.timeless()
    given = _as_matched(plain.infer(expr.subject), [case.patterns for case in expr.cases])
    if failed(given):
        return erroneous(expr.span)
    subject, bound = given, None
    # Each test and each pattern variable reads it, so what is longer than a name is evaluated once.
    if not isinstance(given, kernel.Local | kernel.StateVar):
        subject = bound = kernel.Local(given.type, cx.fresh("matched"), span=given.span)
    tests = _tests(expr.cases, subject, plain)
    values = [(case.value, plain.within(test.when_true)) for case, test in zip(expr.cases, tests, strict=True)]
    if expr.otherwise is not None:
        # Each test knows that those before it failed (`_tests`). So the last one tells `else` all of them.
        values.append((expr.otherwise, plain.within(tests[-1].when_false) if tests else plain))
    if not covers([case.patterns for case in expr.cases], expr.otherwise, tests, subject, expr.span, cx):
        return erroneous(expr.span)

    def mismatch(left: str, right: str) -> str:
        return f"the cases have different types: {left} and {right}"

    found, common = together(values, hint, mismatch)
    if failed(*found) or common == ERROR:
        return erroneous(expr.span)
    # Without `else` the cases cover every value (`covers`), so the last one needs no test.
    result = found[-1]
    for test, value in reversed([*zip(tests, found[:-1], strict=False)]):
        result = kernel.IfThenElse(common, test.expr, value, result, span=expr.span)
    return result if bound is None else kernel.LetIn(result.type, bound, given, result, span=expr.span)


def _as_matched(subject: kernel.Expr, cases: Sequence[Sequence[syntax.CasePattern]]) -> kernel.Expr:
    """The value as the cases take it: an optional one, though it is known to be present, if one asks for ``some``."""
    asked = any(is_about_presence(pattern) for patterns in cases for pattern in patterns)
    return widened(subject) if asked else subject


def _tests(cases: Sequence[syntax.MatchCase], subject: kernel.Expr, cx: Context) -> list[PatternTest]:
    """The test of each case where those before it fail."""
    found: list[PatternTest] = []
    for case in cases:
        test = _either(case.patterns, subject, cx, case.patterns[0].span.to(case.patterns[-1].span))
        found.append(PatternTest(test.expr, restored(test.when_true, cx.scope), restored(test.when_false, cx.scope)))
        cx = cx.within(found[-1].when_false)
    return found


def _either(patterns: Sequence[syntax.CasePattern], subject: kernel.Expr, cx: Context, span: Span) -> PatternTest:
    if len(patterns) == 1:
        return fitted(patterns[0], subject, cx, span)
    for pattern in patterns:
        forbid_binders(pattern, cx, _ALTERNATIVES)
    tests = tuple(fitted(pattern, subject, cx, span).expr for pattern in patterns)
    whole = erroneous(span) if failed(*tests) else kernel.Logic(BOOL, "or", tests, span=span)
    return PatternTest(whole, cx.scope, cx.scope)


def covers(
    cases: Sequence[Sequence[syntax.CasePattern]],
    otherwise: object,
    tests: Sequence[PatternTest],
    subject: kernel.Expr,
    span: Span,
    cx: Context,
) -> bool:
    """Whether the cases cover every value and each can be reached; reports what does not (E215, E216)."""
    if any(failed(test.expr) for test in tests):
        return False
    before: list[Cell] = []
    fine = True
    patterns = [pattern for each in cases for pattern in each]
    type_ = subject.type
    for pattern in patterns:
        found = cell(pattern, type_)
        if not reachable(before, found, type_):
            cx.error("E216", pattern.span, "no value comes to this case: those before it take all that fit")
            fine = False
        before.append(found)
    missing = uncovered(before, type_)
    if otherwise is None and missing is not None:
        message = f"`match` has no case for `{missing}`"
        cx.error("E215", span, message, "add the case, or `else` for all that is left")
        return False
    if otherwise is not None and missing is None and fine and isinstance(otherwise, syntax.Node):
        cx.error("E216", otherwise.span, "nothing is left for `else`: the cases before it take every value")
        return False
    return fine


def action_match(statement: syntax.ActionMatch, cx: Context) -> syntax.If | None:
    """The ``if`` that a ``match`` in an action stands for; None after an error."""
    patterns = [case.patterns for case in statement.cases]
    subject = _as_matched(cx.timeless().infer(statement.subject), patterns)
    if failed(subject):
        return None
    # The tests are made for their mistakes alone. Those of the `if` are made again, with what its branches establish.
    quiet = [_either(each, subject, cx, statement.span) for each in patterns]
    rest = statement.otherwise[0] if statement.otherwise else None
    if not covers(patterns, rest, quiet, subject, statement.span, cx):
        return None
    branches = tuple((_condition(statement.subject, case), case.body) for case in statement.cases)
    if not branches:  # `else` alone: what is matched needs a value all the same
        has_a_value = syntax.Binary("==", statement.subject, statement.subject, span=statement.span)
        return syntax.If(((has_a_value, statement.otherwise or ()),), (), span=statement.span)
    return syntax.If(branches, statement.otherwise or (), span=statement.span)


def _condition(subject: syntax.Expr, case: syntax.ActionCase) -> syntax.Expr:
    tests = tuple(syntax.Is(subject, pattern, False, span=case.span) for pattern in case.patterns)
    return tests[0] if len(tests) == 1 else syntax.Junction("or", tests, span=case.span)
