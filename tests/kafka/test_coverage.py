"""Scenarios run, in models that are too large for a search too; and what no search exercises is exercised by one of them, or explained."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from tests.kafka import kraft, test_kraft_logs, test_refinement, test_replication, test_specs
from tests.kafka.coverage import ELSEWHERE, IDLE, LESSONS, LOGGED, SWITCHED_OFF, kernels, observed
from tests.stages import everyday

from assay.api.bundled import bundled_specs
from assay.checker.engines import engine_selection
from assay.checker.interpreter.actions.action import guards
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.results.scenario import check_scenario
from assay.cli.settings import load
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.load import Loaded


@cache
def loaded(spec: str, model: str | None = None) -> Loaded:
    return load(spec, model, {})


@pytest.mark.everyday(1)
@pytest.mark.parametrize("spec", LESSONS)
def test_every_scenario_runs_in_the_model_for_scenarios(spec: str) -> None:
    name, number = LESSONS[spec]
    lessons = loaded(spec, name)
    model = Model(lessons.kernel)
    found = {each.name: check_scenario(model, each, lessons.sources).outcome for each in lessons.kernel.scenarios}
    assert set(found.values()) == {Outcome.HOLDS}
    assert len(found) == number


def guard(kernel: k.Kernel, action: str, label: str) -> k.Guard:
    (found,) = [each for each in guards(kernel.action(action)) if each.label == label]
    return found


@cache
def refused_in(spec: str) -> frozenset[Span]:
    """The guards that scenarios name as the only obstacle, in the default model or in the one for scenarios."""
    return frozenset(each.span for each in refused_by(spec))


def refused_by(spec: str) -> Iterator[k.Guard]:
    for kernel in kernels(spec):
        for scenario in kernel.scenarios:
            for step in scenario.steps:
                if scenario.inapplicable is None and isinstance(step, k.Refuse) and step.label is not None:
                    yield guard(kernel, step.call.action, step.label)


def explained(found: k.Guard, sources: dict[str, str]) -> bool:
    """Whether a comment stands directly above the guard."""
    lines = sources[found.span.file].splitlines()
    return lines[found.span.line - 2].lstrip().startswith("#")


def of_another_module(span: Span, spec: str) -> str | None:
    """The spec that the place is in, if it is not this one."""
    used = span.file.removesuffix(".assay").partition("spec/")[2]
    return None if used == spec else used


@cache
def decided_in(spec: str) -> frozenset[Span]:
    """The guards of a spec that are the only obstacle somewhere in its own search, or that a scenario needs."""
    kernel = loaded(spec).kernel
    taken = set(kernel.next) - set(SWITCHED_OFF.get(spec, {}))
    searched = {
        each.span
        for name in taken
        for each in guards(kernel.action(name))
        if f"{name}.{each.label}" not in IDLE.get(spec, set())
    }
    return frozenset(searched | refused_in(spec))


@pytest.mark.everyday(9)
@pytest.mark.parametrize("spec", IDLE)
def test_a_guard_that_no_state_needs_is_needed_by_a_scenario_or_explained_beside_it(spec: str) -> None:
    kernel, sources = loaded(spec).kernel, dict(loaded(spec).sources)
    unexplained = {
        name
        for name in IDLE[spec]
        for found in [guard(kernel, *name.rsplit(".", 1))]
        if found.span not in refused_in(spec) and not explained(found, sources)
        for used in [of_another_module(found.span, spec)]
        if used is None or found.span not in decided_in(used)
    }
    assert unexplained == set()


def performed(spec: str) -> set[str]:
    """What scenarios do."""
    steps = (step for kernel in kernels(spec) for scenario in kernel.scenarios for step in scenario.steps)
    return {step.call.action for step in steps if isinstance(step, k.Do)}


@pytest.mark.parametrize(
    ("spec", "action"), everyday([(spec, action) for spec, found in ELSEWHERE.items() for action in sorted(found)], 4)
)
def test_an_action_that_no_state_allows_is_done_in_a_scenario_or_in_the_search_of_its_module(
    spec: str, action: str
) -> None:
    used = of_another_module(loaded(spec).kernel.action(action).span, spec)
    assert action in performed(spec) or (used is not None and action.rpartition(".")[2] in kernels(used)[0].next)


@pytest.mark.everyday(2)
@pytest.mark.parametrize("spec", ["kafka/kraft/cluster", "kafka/cluster"])
def test_a_step_of_which_only_logs_tell_is_done_in_a_scenario_or_in_the_model_for_them(spec: str) -> None:
    left_out = observed(kernels(spec)[0])
    assert left_out - performed(spec) == LOGGED.get(spec, set())
    assert len(left_out) > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "action", "parameter"), [(spec, *each) for spec, found in SWITCHED_OFF.items() for each in found.items()]
)
def test_an_action_that_never_happens_does_with_a_safeguard_off(spec: str, action: str, parameter: str) -> None:
    without = load(spec, None, {parameter: "false"})
    report = engine_selection.check(without.kernel, SearchOptions(), without.sources, "native").report
    (taken,) = [each.taken for each in report.coverage.actions if each.action == action]
    assert taken > 0


def test_every_spec_is_asked_whether_all_of_it_is_exercised() -> None:
    """By the tests that pin its states; what the versions of replication share is asked about in each of them."""
    versions = (*(spec for spec, _ in test_replication.COVERED), test_replication.ONE_LOG.spec)
    asked = {
        *(each.spec for each in test_specs.SIZES),
        *kraft.SPECS,
        *(spec for spec, *_ in test_kraft_logs.DEFAULTS),
        *(each.spec for each in (*test_refinement.QUICK, *test_refinement.LONG)),
        *(f"kafka/replication/{version}" for version in versions),
        "kafka/cluster",
    }
    shared = {f"kafka/replication/{name}" for name in test_replication.SHARED}
    assert {
        spec for spec in bundled_specs() if spec not in shared and not spec.startswith(("systems/", "objects/"))
    } == asked
