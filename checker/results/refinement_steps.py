"""Why a step has no abstract counterpart: both of its images, and the abstract instances that come closest."""

from __future__ import annotations

from collections.abc import Iterator

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.values.show import show_value
from assay.checker.print_kernel import Sources, expression_text, span_text
from assay.checker.refinement.mapping import BeyondError, OutsideError, Refined
from assay.checker.report import AbstractSide, Attempt, State, Step
from assay.checker.results.deadlock_reason import describe_guard
from assay.checker.results.show_instance import show_instance
from assay.grammar import kernel as k

MOST_ATTEMPTS = 3
"""How many abstract instances are reported."""


def abstract_side(refined: Refined, state: State, step: Step | None, sources: Sources) -> AbstractSide:
    """The abstract side of a step from a state, or (without a step) of an initial state, and why nothing matches it
    there."""
    kernel = refined.node.abstract
    if step is None:
        after, outside = _image(refined, state)
        expected = f"an initial state of {kernel.name}"
        return AbstractSide(
            kernel, None, after, expected, refined.node.span, outside, tuple(_other_starts(refined, after))
        )
    mapping = refined.mapping(step.action or "")
    before, _ = _image(refined, state)
    after, outside = _image(refined, step.state)
    expected, place = _expected(mapping, sources), mapping.span
    if before is None or after is None:
        return AbstractSide(kernel, before, after, expected, place, outside)
    found = [
        attempt
        for action, arguments in _candidates(refined, mapping, state, step)
        for attempt in _attempts(action, arguments, before, after, kernel, sources)
    ]
    # Enabled instances first, then those that change least otherwise.
    found.sort(key=lambda each: (len(each.guards), len(each.differs), each.why or ""))
    missing = tuple(_missing(refined, state, step))
    return AbstractSide(kernel, before, after, expected, place, None, (*missing, *found[:MOST_ATTEMPTS]))


def reason_of(side: AbstractSide) -> str:
    """The reason in one line."""
    if side.outside is not None:
        return side.outside
    if side.before is None:
        return f"the initial state is none of {side.abstract.name}"
    # Said in its own words: "the step is not …" would make a reader look for a change.
    if side.before == side.after:
        return f"{side.abstract.name} stays as it is, but the step is to be {side.expected}"
    return f"the step is not {side.expected} of {side.abstract.name}"


def _image(refined: Refined, state: State) -> tuple[State | None, str | None]:
    try:
        return refined.image(state), None
    except (BeyondError, OutsideError) as error:
        return None, str(error)


def _expected(mapping: k.ActionMapping, sources: Sources) -> str:
    """The mapping of the action, as written."""
    words = [span_text(call.span, sources) or _call_text(call, sources) for call in mapping.calls]
    words += ["a stutter"] if mapping.stutters else []
    words += ["any step or a stutter"] if mapping.anything else []
    return " or ".join(words)


def _call_text(call: k.ActionCall, sources: Sources) -> str:
    arguments = ["_" if each is None else expression_text(each, sources) for each in call.arguments]
    return f"{call.action}({', '.join(arguments)})" if arguments else call.action


def _candidates(
    refined: Refined, mapping: k.ActionMapping, state: State, step: Step
) -> Iterator[tuple[ActionMeaning, Arguments]]:
    if mapping.anything:
        for action in refined.abstract.steps:
            yield from ((action, arguments) for arguments in action.instances)
        return
    arguments = tuple(value for _, value in step.arguments)
    for call in refined.calls(step.action or "", state, arguments):
        yield from ((call.action, instance) for instance in call.instances())


def _missing(refined: Refined, state: State, step: Step) -> Iterator[Attempt]:
    """Calls with arguments that the abstract action does not accept."""
    arguments = tuple(value for _, value in step.arguments)
    for call in refined.calls(step.action or "", state, arguments):
        # An argument outside the abstract domain; such a call appears in no outcome.
        if not call.instances():
            pairs = zip(call.action.node.parameters, call.arguments, call.given, strict=True)
            shown = ", ".join(show_value(value, p.binder.type) if given else "_" for p, value, given in pairs)
            yield Attempt(f"{call.action.node.name}({shown})", why="there is no such instance")


def _attempts(
    action: ActionMeaning, arguments: Arguments, before: State, after: State, kernel: k.Kernel, sources: Sources
) -> Iterator[Attempt]:
    """Why an instance does not lead from one abstract state to another, for the combination of picks that comes
    closest."""
    found = action.outcomes(before, arguments)
    name = show_instance(action.node, arguments)
    if not found:
        fewest = min(action.false_guards(before, arguments), key=len, default=())
        yield Attempt(name, tuple(describe_guard(guard, sources) for guard in fewest))
        return
    attempts = []
    for outcome in found:
        shown = show_instance(action.node, arguments, outcome.picks)
        match outcome:
            case Successor(_, state):
                attempts.append(Attempt(shown, differs=tuple(_differences(kernel, state, after))))
            case Cut(_, label):
                attempts.append(Attempt(shown, why=f"it is cut by the {label}"))
            case Stuck(_, message, _):
                attempts.append(Attempt(shown, why=f"it is undefined: {message}"))
    yield min(attempts, key=lambda each: (len(each.differs), each.why or ""))


def _differences(kernel: k.Kernel, made: State, wanted: State) -> Iterator[tuple[str, str]]:
    for variable, value, other in zip(kernel.variables, made, wanted, strict=True):
        if value != other:
            yield variable.name, show_value(value, variable.type)


def _other_starts(refined: Refined, after: State | None) -> Iterator[Attempt]:
    """The abstract initial states that differ least."""
    if after is None:
        return
    kernel = refined.node.abstract
    starts = [each.state for each in refined.abstract.init.outcomes() if isinstance(each, Successor)]
    found = [Attempt("an initial state", differs=tuple(_differences(kernel, state, after))) for state in starts]
    yield from sorted(found, key=lambda each: len(each.differs))[:MOST_ATTEMPTS]
