"""The spec without some of its rules: what coherent mutants are judged with beside the whole spec, what each guard contributes, wrong specs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.cli.settings import load
from assay.grammar import kernel as k
from assay.traces.coverage import guard_labels
from assay.traces.event import Event
from assay.traces.observe.decomposition import Split
from assay.traces.result import TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_context import Joint
from assay.traces.slices.slice_lines import SliceLines
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.timeline.timeline_classes import Views
from assay.traces.slices.versions.findings import SliceFindings, SliceQuery
from assay.traces.slices.versions.version_check import SliceCheck
from assay.traces.slices.versions.version_history import Own, VersionHistory
from assay.traces.validate import validate

from .coherent import Coherent
from .recorded import SPEC, events_of, of_version, retrial

NODES = 20_000
"""How many states of a slice are looked at where guards are left out: with all of them gone most things may follow from most."""

Rule = tuple[str, str]
"""An action and the label of a guard of it."""

EVERY: frozenset[Rule] = frozenset({("*", "*")})
SPECS = Path(__file__).resolve().parents[2] / "spec"
WRONG = {
    "another than the first replica is elected": ("first(in_order(p, among)) == b", "first(in_order(p, among)) != b"),
    "the leader epoch rises by two": ("if raised then s.epoch + 1", "if raised then s.epoch + 2"),
    "the version rises by two": ("else s.epoch, by, s.version + 1)", "else s.epoch, by, s.version + 2)"),
    "a removed leader goes on leading": ("if s.leader == b then none else s.leader", "s.leader"),
    "a removed replica stays in the ISR": ("else s.isr - {b}, true, by)", "else s.isr, true, by)"),
    "a removal leaves the leader epoch": ("else s.isr - {b}, true, by)", "else s.isr - {b}, false, by)"),
}
"""Specs that are wrong in one place of ``leadership``: the text and what stands in its place."""


class Outcome(Enum):
    """The verdict of a spec without some of its rules on a mutant; undecided if it would take more than ``NODES``
    states.

    The whole spec need not have rejected a mutant that is accepted: it may have called it inconclusive. Such a mutant
    would be explained if unlogged steps had come at other times.
    """

    REJECTED = "rejected"
    BY_INVARIANT = "rejected by an invariant alone"
    ACCEPTED = "accepted"
    NOT_ACCEPTED = "accepted, and inconclusive by the whole spec"
    UNDECIDED = f"not decided within {NODES:,} states"


class _OutOfNodesError(Exception):
    """A slice was looked at in as many states as it may be."""


class _Counted(VersionHistory):
    """The steps of a slice, as long as there are not too many of them: without guards their number has no bound that helps."""

    def __init__(self, model: TraceModel, split: Split, joint: Joint, views: Views, nodes: Iterator[int]) -> None:
        super().__init__(model, split, joint.chain, views, sys.maxsize)
        self._nodes = nodes

    def state_id(self, own: Own, position: int) -> int:
        self._count()
        return super().state_id(own, position)

    def slice_values(self, state: int) -> Own:
        self._count()
        return super().slice_values(state)

    def _count(self) -> None:
        if next(self._nodes, None) is None:
            raise _OutOfNodesError


class Unexplained(Joiner):
    """Slices asked for a verdict alone, within a budget: what is wrong with one is not explained."""

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint)
        self.nodes: Iterator[int] = iter(())

    def outcome(self, name: str, events: Sequence[Event]) -> Outcome:
        """What the spec says of a slice."""
        self.nodes = iter(range(NODES))
        try:
            result = self._slice(name, self.lines(events))
        except _OutOfNodesError:
            return Outcome.UNDECIDED
        if result.verdict is TraceVerdict.INCONSISTENT:
            return Outcome.REJECTED
        return Outcome.BY_INVARIANT if result.properties else Outcome.ACCEPTED

    def check_then_explain(self, lines: SliceLines) -> tuple[VersionHistory, SliceFindings]:
        """The findings within the budget, up to the first mismatch."""
        joint = self.joint
        history = _Counted(self.model, joint.split, joint, self.views, self.nodes)
        asked = SliceQuery(started=lines.started, partial=joint.partial, one_is_enough=True, explained=False)
        return history, SliceCheck(history, self.blamer, lines.few, asked).run()


def outcome_without(mutant: Coherent, dropped: frozenset[Rule]) -> Outcome:
    """What is said of the mutant's partition by a spec that lacks these guards."""
    events = retrial(mutant.run).parts.slices[mutant.partition]
    changed = [new for event in events for new in mutant.change.get(event, (event,))]
    return joiner_without(mutant.run, dropped).outcome(mutant.partition, changed)


@cache
def joiner_without(run: str, dropped: frozenset[Rule]) -> Unexplained:
    """Who answers about a run's partitions by a spec that lacks these guards."""
    joiner = retrial(run).joiner
    if joiner is None:
        raise ValueError(f"{run} has no slices")
    return Unexplained(replace(joiner.joint, split=_without(joiner.joint.split, dropped)))


def _without(split: Split, dropped: frozenset[Rule]) -> Split:
    return replace(split, kernel=without_guards(split.kernel, split.actions, dropped))


def without_guards(kernel: k.Kernel, actions: Collection[str], dropped: frozenset[Rule]) -> k.Kernel:
    """The kernel without some guards, or all, of these actions."""

    def kept(action: k.Action) -> k.Action:
        body = tuple(each for each in action.body if not (isinstance(each, k.Guard) and _is_dropped(action.name, each)))
        return replace(action, body=body) if action.name in actions else action

    def _is_dropped(action: str, guard: k.Guard) -> bool:
        # Bounds stay: they limit the model, and are no rules of the protocol.
        return guard.kind == "when" and (dropped == EVERY or (action, guard.label) in dropped)

    return replace(kernel, actions=tuple(map(kept, kernel.actions)))


def needed_guards(mutant: Coherent, but: Collection[Rule]) -> frozenset[Rule]:
    """The guards that alone may stand in the way of a mutant, without those of ``but``. The mutant is blamed on them,
    or they are guards of other actions that it breaks too.
    """
    asked = retrial(mutant.run)
    violations = asked.judge(mutant.change).violations
    found = {
        (blame.action, part.label)
        for violation in violations[:1]
        for blame in violation.blame
        for part in blame.parts
        if part.kind == "guard"
    }
    if violations and asked.joiner is not None:
        labels = {*mutant.labels, *mutant.beside}
        split = asked.joiner.joint.split
        own = (action for action in split.kernel.actions if action.name in split.actions)
        every = ((action.name, label) for action in own for label in guard_labels(action))
        found |= {rule for rule in every if rule[1] in labels}
    return frozenset(found - set(but))


def exercised(runs: Iterable[str]) -> frozenset[Rule]:
    """The guards of the actions that partitions of these runs took."""
    found: set[Rule] = set()
    for run in runs:
        asked = retrial(run)
        if asked.joiner is None:
            continue
        kernel = asked.joiner.joint.split.kernel
        for name, events in asked.parts.slices.items():
            execution = asked.joiner.of_slice(name, events).result.execution
            taken = {step.action for step in execution.steps if step.action} if execution is not None else set()
            found |= {(action, label) for action in taken for label in guard_labels(kernel.action(action))}
    return frozenset(found)


def wrong_specs(run: str, names: Iterable[str] = tuple(WRONG)) -> Iterator[dict[str, Any]]:
    """The answer of each wrong spec of these names about a healthy run."""
    for name in names:
        old, new = WRONG[name]
        with TemporaryDirectory() as folder:
            shutil.copytree(SPECS, folder, dirs_exist_ok=True)
            path = Path(folder, "kafka", "leadership.assay")
            text = path.read_text(encoding="utf-8")
            if old not in text:
                raise ValueError(f"the spec has no {old!r}")
            path.write_text(text.replace(old, new), encoding="utf-8")
            loaded = load(str(Path(folder, f"{SPEC}.assay")), None, {})
            yield {
                "wrong": name,
                "run": run,
                "verdict": validate(loaded, events_of(run), options=of_version(run)).verdict.value,
            }
