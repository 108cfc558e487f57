"""The spec without some of its rules: what coherent mutants are judged with beside the whole spec, what each guard contributes, wrong specs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.cli.settings import load
from assay.grammar import kernel as k
from assay.traces.coverage import guard_labels
from assay.traces.join import Joiner
from assay.traces.slicing import Split
from assay.traces.validate import validate
from assay.traces.validation import SliceResult, TraceVerdict

from .coherent import Coherent
from .recorded import SPEC, events_of, of_version, retrial

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


def accepted_without(mutant: Coherent, dropped: frozenset[Rule], *, invariants: bool = True) -> bool:
    """Whether the mutant's partition is accepted by a spec that lacks these guards, and its invariants where that is asked."""
    result = _answer(mutant, dropped)
    return result.verdict is not TraceVerdict.INCONSISTENT and not (invariants and result.properties)


def _answer(mutant: Coherent, dropped: frozenset[Rule]) -> SliceResult:
    events = retrial(mutant.run).parts.slices[mutant.partition]
    changed = [new for event in events for new in mutant.change.get(id(event), (event,))]
    return _joiner(mutant.run, dropped).of_slice(mutant.partition, changed).result


@cache
def _joiner(run: str, dropped: frozenset[Rule]) -> Joiner:
    joiner = retrial(run).joiner
    if joiner is None:
        raise ValueError(f"{run} has no slices")
    return Joiner(replace(joiner.joint, split=_without(joiner.joint.split, dropped)))


def _without(split: Split, dropped: frozenset[Rule]) -> Split:
    def kept(action: k.Action) -> k.Action:
        body = tuple(each for each in action.body if not (isinstance(each, k.Guard) and _is_dropped(action.name, each)))
        return replace(action, body=body) if action.name in split.actions else action

    def _is_dropped(action: str, guard: k.Guard) -> bool:
        return guard.kind == "when" and (dropped == EVERY or (action, guard.label) in dropped)

    return replace(split, kernel=replace(split.kernel, actions=tuple(map(kept, split.kernel.actions))))


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
