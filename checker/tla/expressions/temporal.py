"""Temporal operators and action atoms, as far as TLA+ has them and TLC checks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import children, descendants
from assay.checker.tla.expressions.formula import IMPLIES, PREFIX, TIGHT, Formula, apply, negation, quantified, row
from assay.checker.tla.expressions.scope import TlaScope
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity, Span
from assay.grammar.kernel.node_unions import InTime

NO_COUNTERPART = "E808"


class NoCounterpartError(Exception):
    """A construct that TLA+ cannot express or TLC does not check, with its place."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what = what
        self.span = span

    def diagnostic(self, severity: Severity) -> Diagnostic:
        """The message for people."""
        return Diagnostic(NO_COUNTERPART, self.span, self.what, severity=severity)


def in_time(node: InTime, scope: TlaScope) -> Formula:
    r"""The temporal formula.

    Formulas with two nested operators below another are refused. For a system with a single behaviour, TLC 2.15 says of
    ``[](~[]A \/ <>B)`` that it is violated, and that its negation is violated.
    """
    match node:
        case k.Temporal(_, "until"):
            raise NoCounterpartError("TLA+ has no `until`", node.span)
        # A chain such as `always eventually always p` has as many operators as it is deep, and passes.
        case k.Temporal() if sum(isinstance(each, k.Temporal) for each in descendants(node)) > _depth(node) - 1:
            raise NoCounterpartError("TLC does not always answer rightly where one formula holds two others", node.span)
        case k.Temporal(_, op, operands):
            return _temporal(op, operands, scope)
        case k.ActionAtom(_, "enabled", action, arguments):
            step = call(action, arguments, scope)
            return Formula(f"ENABLED <<{step.text}>>_vars", PREFIX)
        case k.ActionAtom():
            raise _occurs_inside(node)
        case _:
            assert_never(node)


def is_never(node: k.Expr) -> bool:
    """Whether it says that an action never occurs. TLC accepts that as a property, but not inside a formula."""
    match node:
        case k.Temporal(_, "always", (k.Not(_, k.ActionAtom(_, "occurs")),)):
            return True
        case _:
            return False


def _occurs_inside(node: k.Expr) -> NoCounterpartError:
    what = "TLC checks `occurs` only in `always eventually occurs(…)` and `always not occurs(…)`, by themselves"
    return NoCounterpartError(what, node.span)


def _depth(node: k.Node) -> int:
    """How deeply temporal operators are nested."""
    inner = max((_depth(each) for each in children(node)), default=0)
    return inner + isinstance(node, k.Temporal)


def _temporal(op: str, operands: tuple[k.Expr, ...], scope: TlaScope) -> Formula:
    known = _of_steps(operands[0], scope) if op == "always" else None
    if known is not None:
        return known
    for each in (inner for operand in operands for inner in descendants(operand)):
        if isinstance(each, k.ActionAtom) and each.op == "occurs":
            raise _occurs_inside(each)
    # With parentheses: `~>` binds as loosely as `=>` does.
    if op == "leads_to":
        left, right = (scope.formula(operand).within(TIGHT) for operand in operands)
        return Formula(f"{left} ~> {right}", IMPLIES)
    return Formula(f"{'[]' if op == 'always' else '<>'}{scope.formula(operands[0]).within(TIGHT)}", PREFIX)


def _of_steps(operand: k.Expr, scope: TlaScope) -> Formula | None:
    """The two forms in which TLC checks that an action occurs."""
    match operand:
        case k.Temporal(_, "eventually", (k.ActionAtom(_, "occurs", action, arguments),)):
            return Formula(f"[]<><<{call(action, arguments, scope).text}>>_vars", PREFIX)
        case k.Not(_, k.ActionAtom(_, "occurs", action, arguments)):
            return Formula(f"[][{negation(call(action, arguments, scope)).text}]_vars", PREFIX)
        case _:
            return None


def call(action: str, arguments: Sequence[k.Expr | None] | None, scope: TlaScope) -> Formula:
    """An instance of an action; arguments that are not given are existentially quantified."""
    node = scope.parts.actions[action]
    given = [None] * len(node.parameters) if arguments is None else list(arguments)
    # An action that is no step is defined only because a property mentions it.
    scope.parts.called.setdefault(action)
    inner, values, ranges = scope, [], []
    for parameter, argument in zip(node.parameters, given, strict=True):
        if argument is not None:
            values.append(scope.formula(argument))
            continue
        name, inner = inner.bind(parameter.binder, fits=True)
        ranges.append((name, scope.formula(parameter.domain)))
        values.append(Formula(name))
    made = apply(scope.parts.names.of("action", action), values)
    for name, domain in reversed(ranges):
        made = quantified("\\E", name, domain, made)
    return made


def fairness(kernel: k.Kernel, scope: TlaScope) -> list[Formula]:
    """The fairness of actions and of groups of actions: of some instance, or of each instance for the parameters it is
    ``per``."""
    steps = [kernel.action(name) for name in kernel.next]
    alone = [(each.fairness.strong, [(each, each.fairness.per)]) for each in steps if each.fairness is not None]
    groups = [(g.strong, [(kernel.action(name), per) for name, per in g.members]) for g in kernel.fair_together]
    return [_fair(strong, members, scope) for strong, members in [*alone, *groups]]


def _fair(strong: bool, members: Sequence[tuple[k.Action, tuple[str, ...]]], scope: TlaScope) -> Formula:
    """The fairness of one of several actions, whose parameters for what it is ``per`` range over the same values."""
    first, per = members[0]
    inner, ranges, binders = scope, [], []
    # In the order of `per`: the other members name their parameters in the same order.
    for parameter in (each for name in per for each in first.parameters if each.binder.name == name):
        name, inner = inner.bind(parameter.binder, fits=True)
        ranges.append((name, scope.formula(parameter.domain)))
        binders.append(parameter.binder)
    ways = []
    for action, names in members:
        given = dict(zip(names, binders, strict=True))
        ways.append(call(action.name, [given.get(each.binder.name) for each in action.parameters], inner).text)
    # One fairness of the disjunction: of each alone would ask for more than the spec says.
    happens = ways[0] if len(ways) == 1 else " \\/ ".join(f"({way})" for way in ways)
    made = Formula(f"{'SF_vars' if strong else 'WF_vars'}({happens})")
    for name, domain in reversed(ranges):
        made = quantified("\\A", name, domain, made)
    return made


def unchanging(variables: Sequence[k.Variable], scope: TlaScope) -> Formula:
    """These variables keep their values."""
    named = [scope.variable(variable.name).text for variable in variables]
    # As a row, which may be broken into lines: large specs leave dozens of variables as they are.
    return Formula(f"UNCHANGED {named[0]}", PREFIX) if len(named) == 1 else row("UNCHANGED <<", named, ">>", PREFIX)
