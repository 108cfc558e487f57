"""Coverage of a search: actions that fired, guards that mattered, quantifiers whose domain was not always empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.checker.interpreter.actions.action import ActionMeaning, guards
from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import ActionCoverage, Coverage, EmptyQuantifier, GuardCoverage
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentitySet


def coverage(
    steps: list[ActionMeaning],
    taken: Mapping[str, int],
    fresh: Mapping[str, int],
    empty: Sequence[EmptyQuantifier],
) -> Coverage:
    """The coverage of the steps of a system, from the counts of a search."""
    actions = tuple(
        ActionCoverage(step.node.name, step.node.span, taken.get(step.node.name, 0), fresh.get(step.node.name, 0))
        for step in steps
    )
    lines = tuple(
        GuardCoverage(step.node.name, guard.label, guard.span, guard.label in step.decisive)
        for step in steps
        for guard in guards(step.node)
    )
    return Coverage(actions, lines, tuple(empty))


def empty_quantifiers(
    properties: list[k.Property], evaluated: IdentitySet[k.Expr], nonempty: IdentitySet[k.Expr], sources: Sources
) -> tuple[EmptyQuantifier, ...]:
    """The quantifiers that were evaluated, and had an empty domain whenever they were."""
    return tuple(
        EmptyQuantifier(each.name, expression_text(quantifier, sources), quantifier.span)
        for each in properties
        for quantifier in _quantifiers(each)
        if quantifier in evaluated and quantifier not in nonempty
    )


def _quantifiers(of: k.Property) -> Iterator[k.Quantified]:
    for conjunct in of.conjuncts:
        for expr in (conjunct.condition, *descendants(conjunct.condition)):
            if isinstance(expr, k.Quantified):
                yield expr
