"""A refinement as a TLA+ module: the abstract module, instantiated by the mapping, and what every step must be there.

It states what assay checks: each action is one of those that the mapping names for it, not just any step of the
abstract module. A value for which the abstract side is too small is a violation for TLC, where assay calls the
refinement undecided.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.expressions.formula import Formula, apply, conjunction, disjunction, implication, quantified
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.temporal import NoCounterpartError
from assay.checker.tla.expressions.types import definition, type_set
from assay.grammar import kernel as k

STUTTERS = Formula("Abstract!vars' = Abstract!vars")


def refining(node: k.Refinement, side: TlaExport, steps: Sequence[str], scope: TlaScope) -> list[str]:
    """The definitions in a module that extends that of the system, whose ``steps`` are these actions. Raises
    ``NoCounterpartError``."""
    images = zip(side.variables, (scope.formula(value).text for value in node.values), strict=True)
    # A line of a configuration is nearly one of `INSTANCE … WITH`.
    bound = [line.replace(" = ", " <- ") for line in side.constants]
    bound += [f"{name} <- {image}" for name, image in images]
    instance = [f"Abstract == INSTANCE {side.name} WITH"]
    instance += [f"    {each}{',' if at < len(bound) - 1 else ''}" for at, each in enumerate(bound)]
    mapped = [_mapped(node.mapping(name), node.abstract, side, scope) for name in steps]
    return [
        *instance, "",
        # An invariant of its own: a value outside the abstract type makes no step illegal for TLC.
        "Image == Abstract!TypeOK", "",
        *definition("Mapped", conjunction(mapped)), "",
        "Refines == Abstract!Init /\\ [][Mapped]_vars", "",
    ]  # fmt: skip


def _mapped(mapping: k.ActionMapping, abstract: k.Kernel, side: TlaExport, scope: TlaScope) -> Formula:
    """A step of this action is what the mapping says."""
    action = scope.parts.actions[mapping.action]
    inner, arguments, ranges = scope, [], []
    for at, parameter in enumerate(action.parameters):
        binder = mapping.parameters[at] if mapping.parameters else parameter.binder
        name, inner = inner.bind(binder, fits=True)
        arguments.append(Formula(name))
        ranges.append((name, scope.formula(parameter.domain)))
    ways = [_called(call, abstract.action(call.action), side, inner) for call in mapping.calls]
    ways += [Formula("Abstract!Next")] if mapping.anything else []
    ways += [STUTTERS] if mapping.stutters or mapping.anything else []
    happens = apply(scope.parts.names.of("action", mapping.action), arguments)
    made = implication(happens, disjunction(ways))
    for name, domain in reversed(ranges):
        made = quantified("\\A", name, domain, made)
    return made


def _called(call: k.ActionCall, action: k.Action, side: TlaExport, scope: TlaScope) -> Formula:
    inner, arguments, ranges = scope, [], []
    for argument, parameter in zip(call.arguments, action.parameters, strict=True):
        if argument is not None:
            arguments.append(scope.formula(argument))
            continue
        # A domain that is a part of a type may name things of the abstract module, which this one lacks.
        if not isinstance(parameter.domain, k.TypeDomain):
            raise NoCounterpartError(f"`_` stands for a part of a type in `{action.name}`", call.span)
        name, inner = inner.bind(parameter.binder, fits=True)
        arguments.append(Formula(name))
        ranges.append((name, type_set(parameter.binder.type, scope.parts)))
    made = apply(f"Abstract!{side.actions[action.name]}", arguments)
    for name, domain in reversed(ranges):
        made = quantified("\\E", name, domain, made)
    return made
