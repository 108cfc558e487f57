"""A walk as a scenario of the spec: its calls, and what to expect so that choices are resolved as they were."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from assay.checker.explain import what_changed
from assay.checker.report import Step, Trace
from assay.checker.results.show_instance import show_instance
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.grammar.diagnostics.diagnostic import SpecError

MOST_COMPARED = 200
"""Of so many initial states it is asked how they differ."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def scenario_text(stepper: Stepper, trace: Trace, name: str) -> str:
    """The declaration ``scenario name:``. Where a step picks, what it changed is expected. Of several initial states,
    what tells the first one of the walk apart is expected. The last lines expect what the last step changed.

    Raises ``NoSuchStepError`` for a name that is none.
    """
    if not _NAME.fullmatch(name):
        raise NoSuchStepError(f"`{name}` is no name for a scenario: letters, digits and `_`")
    lines = [f"scenario {name}:"]
    lines += [f"    {line}" for line in _lines(stepper, trace)]
    return "\n".join(lines) + "\n"


def _lines(stepper: Stepper, trace: Trace) -> Iterator[str]:
    first = trace.steps[0]
    yield from _expected(stepper, first, _telling_apart(stepper, first))
    for before, step in zip(trace.steps, trace.steps[1:], strict=False):
        if step.action is None:
            continue
        call = show_instance(stepper.kernel.action(step.action), [value for _, value in step.arguments])
        # An action `expect` without arguments would be read as the beginning of an `expect` line.
        yield f"`{call}`" if call == "expect" else call
        if step.picks or step is trace.steps[-1]:
            changes = what_changed(before.state, step.state, stepper.kernel)
            yield from _expected(stepper, step, [(place, new) for place, _, new in changes])
    if len(trace.steps) == 1:
        yield "expect true"


def _telling_apart(stepper: Stepper, first: Step) -> list[tuple[str, str]]:
    """The places of an initial state, with their values, that have another value in some other initial state."""
    places: dict[str, str] = {}
    for other in islice(stepper.initial_states(), MOST_COMPARED):
        places |= {place: new for place, _, new in what_changed(other.state, first.state, stepper.kernel)}
    return list(places.items())


def _expected(stepper: Stepper, step: Step, places: Iterable[tuple[str, str]]) -> Iterator[str]:
    """``expect x[k] == v`` for each place, where that can be written."""
    stepper.stand_on([step])
    for place, value in places:
        text = f"{place} == {value}"
        if _is_true(stepper, text):
            yield f"expect {text}"


def _is_true(stepper: Stepper, text: str) -> bool:
    try:
        return stepper.evaluate(text).value is True
    except SpecError:
        return False
