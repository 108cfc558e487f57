"""What logs have exercised of a model: its actions, their guards, and pairs of consecutive actions; coverage of many
logs can be added up.

A guard counts as exercised when an action that it guards was taken: if it were false there, the log would have no
explanation. A pair is two actions of which one follows the other, either in what all slices share or in one slice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from assay.checker.interpreter.expressions.traverse import descendants
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.result import Execution, Validation

FORMAT = "1"


class UnfitCoverageError(Exception):
    """A file that is not a coverage file, or coverage of another spec; the message says which."""


@dataclass(frozen=True, slots=True)
class LogCoverage:
    """How often logs exercised each part of a spec; ``logs`` counts the validations that were added up."""

    spec: str
    logs: int
    actions: Mapping[str, int]
    guards: Mapping[tuple[str, str], int]
    pairs: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class UncoveredAction:
    """An action of the model that no log has shown, and the scenarios of the spec that contain it."""

    action: str
    scenarios: tuple[str, ...]


def coverage_of(validation: Validation) -> LogCoverage:
    """What the executions of a validation exercised; nothing, where none was found."""
    actions: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for run in _executions(validation):
        # Inferred events are no evidence: no log showed them.
        logged = (step for step in run.steps if step.event is None or not step.event.is_inferred)
        taken = [step.action for step in logged if step.action is not None]
        actions.update(taken)
        # Hidden steps count: a pair is what the model did, whether a line tells of it or not.
        pairs.update(pairwise(taken))
    guards = {
        (action, label): count
        for action, count in actions.items()
        for label in guard_labels(validation.kernel.action(action))
    }
    return LogCoverage(validation.kernel.name, 1, actions, guards, pairs)


def _executions(validation: Validation) -> Iterator[Execution]:
    every = [validation.execution, *(each.execution for each in validation.slices)]
    yield from (each for each in every if each is not None)


def guard_labels(action: k.Action) -> list[str]:
    """The labels of an action's guards, without those of ``bound``: they are limits of the model."""
    parts = (part for statement in action.body for part in (statement, *descendants(statement)))
    return list(dict.fromkeys(part.label for part in parts if isinstance(part, k.Guard) and part.kind == "when"))


def merge_coverage(parts: Iterable[LogCoverage]) -> LogCoverage:
    """The sum; raises ``UnfitCoverageError`` if the parts are of different specs, or if there are none."""
    every = list(parts)
    names = sorted({each.spec for each in every})
    if len(names) != 1:
        raise UnfitCoverageError(f"coverage of {' and '.join(names) or 'nothing'} cannot be added up")
    actions: Counter[str] = Counter()
    guards: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for each in every:
        actions.update(each.actions)
        guards.update(each.guards)
        pairs.update(each.pairs)
    return LogCoverage(names[0], sum(each.logs for each in every), actions, guards, pairs)


def uncovered_actions(kernel: k.Kernel, coverage: LogCoverage) -> list[UncoveredAction]:
    """The actions that a run of the model can take and that no log has shown."""
    return [UncoveredAction(name, _scenarios(kernel, name)) for name in kernel.next if not coverage.actions.get(name)]


def _scenarios(kernel: k.Kernel, action: str) -> tuple[str, ...]:
    """The scenarios in which an action happens."""
    return tuple(
        scenario.name
        for scenario in kernel.scenarios
        if any(isinstance(step, k.Do) and step.call.action == action for step in scenario.steps)
    )


def all_guards(kernel: k.Kernel) -> list[tuple[str, str]]:
    """The guards of all actions that a run can take, as pairs of action and label."""
    return [(name, label) for name in kernel.next for label in guard_labels(kernel.action(name))]


def as_text(coverage: LogCoverage) -> str:
    """The text of a coverage file: one JSON object."""
    content = {
        "assay_coverage": FORMAT,
        "spec": coverage.spec,
        "logs": coverage.logs,
        "actions": dict(sorted(coverage.actions.items())),
        # Lists, because a pair is no key of a JSON object.
        "guards": [[*key, count] for key, count in sorted(coverage.guards.items())],
        "pairs": [[*key, count] for key, count in sorted(coverage.pairs.items())],
    }
    return json.dumps(content, indent=1) + "\n"


def from_text(text: str) -> LogCoverage:
    """The coverage in a file's text; raises ``UnfitCoverageError``."""
    try:
        content = json.loads(text)
        if content["assay_coverage"] != FORMAT:
            raise UnfitCoverageError(f"coverage in format {content['assay_coverage']}, not {FORMAT}")
        return LogCoverage(
            str(content["spec"]),
            int(content["logs"]),
            {str(name): int(count) for name, count in content["actions"].items()},
            {(str(a), str(b)): int(count) for a, b, count in content["guards"]},
            {(str(a), str(b)): int(count) for a, b, count in content["pairs"]},
        )
    # Too deep, or a number without a limit: a file of something else may hold either.
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UnfitCoverageError("no coverage of logs, as `assay coverage logs --into` writes it") from error
