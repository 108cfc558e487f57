"""How well a spec fits a task, for the whole spec and for each action.

The questions are those of SysMoBench (Cheng et al., 2025). Is the spec read, and does it run? Does each action do what
it should? Do the properties hold that its author did not see? The last question is our own: is the seeded bug in it,
and do its author's properties find it?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import assay
from assay import Spec
from assay.checker.engines.engine_selection import Engine
from assay.checker.report import Outcome
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_spec
from benchmarks.assistant.task import Task

_SOUND = (Outcome.HOLDS.value, Outcome.UP_TO_BOUND.value)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one answer; shares are from 0 to 1.

    Each is a share of the actions of the task. ``syntax`` is the share that is read without an error. ``taken`` is the
    share that happens in the model, and ``conform`` the share that happens as often as it should. ``runs`` says whether
    its own check ended with everything holding. ``properties`` is the share of the properties kept back that hold.
    With the changed rule, ``breaks`` says whether the property kept back for it is violated, and ``found_by`` names
    the author's properties that are. ``why`` are the first words of what went wrong.
    """

    syntax: float = 0.0
    runs: bool = False
    taken: float = 0.0
    conform: float = 0.0
    states: int = 0
    states_right: bool = False
    properties: float = 0.0
    breaks: bool = False
    found_by: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the answer does all that was asked. That its states are as many as they should be is not."""
        whole = self.syntax == self.taken == self.properties == 1.0
        return whole and self.runs and self.breaks and bool(self.found_by)

    def to_object(self) -> dict[str, object]:
        """The score as a line of the benchmark."""
        return {"passed": self.passed, **{name: getattr(self, name) for name in (each.name for each in fields(self))}}


def scored(task: Task, answer: Path, engine: Engine = "auto") -> Score:
    """The score of a file; that of no file is nothing. The answers of all engines are the same."""
    if not answer.is_file():
        return Score(why=(f"there is no {answer.name}",))
    try:
        spec = assay.load(answer)
    except assay.InputError as error:
        return Score(syntax=_read_share(task, answer.read_text(encoding="utf-8"), error.diagnostics), why=_first(error))
    own = _checked(spec, engine)
    if isinstance(own, str):
        return Score(syntax=1.0, why=(own,))
    taken = {each.action: each.taken for each in own.report.coverage.actions}
    held, wrong = _held_back(task, answer, engine)
    broken, changed = _with_changed_rule(task, answer, engine)
    return Score(
        syntax=_share(name in spec.actions for name in task.actions),
        runs=own.ok,
        taken=_share(taken.get(name, 0) > 0 for name in task.actions),
        conform=_share(taken.get(name, 0) == times for name, times in task.actions.items()),
        states=own.report.statistics.distinct,
        states_right=own.report.statistics.distinct == task.states,
        properties=held,
        breaks=broken,
        found_by=changed,
        why=(*(f"{each.name} is violated" for each in own.violated), *wrong),
    )


def _held_back(task: Task, answer: Path, engine: Engine) -> tuple[float, tuple[str, ...]]:
    """The share of the properties kept back that hold, and the others with what became of them."""
    outcomes = _outcomes(answer, task.properties, {}, engine)
    wrong = [f"{name}: {outcome}" for name, outcome in outcomes.items() if outcome not in _SOUND]
    return 1 - len(wrong) / len(task.properties), tuple(wrong)


def _with_changed_rule(task: Task, answer: Path, engine: Engine) -> tuple[bool, tuple[str, ...]]:
    """Whether the property that the changed rule breaks is violated, and the author's properties that are."""
    kept = {task.breaks: task.properties[task.breaks]}
    broken = _outcomes(answer, kept, {"Broken": "true"}, engine)[task.breaks] == Outcome.VIOLATED.value
    try:
        own = _checked(assay.load(answer, settings={"Broken": True}), engine, keep_going=True)
    except assay.InputError:
        return broken, ()
    # `defined` is built in: that it is violated is no merit of the author's properties.
    return broken, () if isinstance(own, str) else tuple(each.name for each in own.violated if each.kind != "defined")


def _outcomes(
    answer: Path, properties: Mapping[str, str], settings: Mapping[str, str], engine: Engine
) -> dict[str, str]:
    """The outcome of each property that is appended to an answer, or why there is none. If they are not read together,
    each is asked alone: an answer may lack a name that one of them uses.
    """
    try:
        loaded = load_spec(answer, overrides=settings, added=tuple(properties.values()))
    except SpecError as error:
        if len(properties) == 1:
            return dict.fromkeys(properties, error.diagnostics[0].message)
        parts = (_outcomes(answer, {name: text}, settings, engine) for name, text in properties.items())
        return {name: outcome for part in parts for name, outcome in part.items()}
    found = _checked(Spec(answer.name, loaded), engine, properties=frozenset(properties), keep_going=True)
    return {name: found if isinstance(found, str) else found[name].outcome.value for name in properties}


def _checked(
    spec: Spec, engine: Engine, *, properties: frozenset[str] | None = None, keep_going: bool = False
) -> assay.CheckAnswer | str:
    """The answer about a spec, or why there is none."""
    try:
        options = assay.SearchOptions(properties=properties, keep_going=keep_going, timeout=60.0, max_states=200_000)
        return assay.check(spec, engine=engine, options=options)
    except assay.InputError as error:
        return error.diagnostics[0].message


def _read_share(task: Task, text: str, diagnostics: Iterable[assay.Diagnostic]) -> float:
    """The share of the actions in whose text there is no error, of a spec that has errors."""
    wrong = {each.span.line for each in diagnostics}
    places = _places(text)
    return _share(name in places and not wrong & set(places[name]) for name in task.actions)


def _places(text: str) -> dict[str, range]:
    """The lines of each action, counted from 1."""
    found = {}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if begun := re.match(r"action (\w+)", line):
            end = next((n for n in range(number + 1, len(lines) + 1) if re.match(r"\S", lines[n - 1])), len(lines) + 1)
            found[begun[1]] = range(number, end)
    return found


def _share(answers: Iterable[bool]) -> float:
    found = list(answers)
    return sum(found) / len(found)


def _first(error: assay.InputError) -> tuple[str, ...]:
    return tuple(f"{each.span.line}: {each.code} {each.message}" for each in error.diagnostics[:3])
