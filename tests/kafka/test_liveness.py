"""Liveness of the protocols: what happens some time, under which fairness, and the bugs after which it never does."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from assay.checker.engines import engine_selection
from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.lasso_semantics import Run
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult
from assay.cli.settings import load
from assay.grammar.kernel import Kernel


@dataclass(frozen=True)
class Bug:
    """A safeguard without which something never happens; ``steps`` are those of the run up to where it stops, ``last`` is the last of them."""

    spec: str
    property: str
    switch: str
    steps: int
    last: str


BUGS = [
    pytest.param(Bug("isr_in_zookeeper", "views_converge", "FenceControllerWrites", 4, "handle"), id="KAFKA-2729"),
    pytest.param(Bug("broker_epoch", "told_in_the_end", "CompareEpochs", 6, "handle"), id="KAFKA-1120"),
    pytest.param(Bug("claim", "controller_returns", "ActWhenNamed", 4, "look"), id="KAFKA-13407"),
    pytest.param(Bug("stop_replica", "stray_replica_goes", "StopAtSameEpoch", 4, "handle"), id="KAFKA-13972"),
    pytest.param(Bug("broker_epoch", "told_in_the_end", "AcceptLater", 6, "learn_epoch"), id="KAFKA-9839"),
    pytest.param(Bug("assignment", "preferred_leads_again", "AutoRebalance", 2, "reassign"), id="by configuration"),
]
PROPERTIES = [
    ("kafka/isr_in_zookeeper", "views_converge", None),
    ("kafka/broker_epoch", "told_in_the_end", None),
    ("kafka/claim", "controller_returns", None),
    ("kafka/stop_replica", "stray_replica_goes", None),
    ("kafka/assignment", "preferred_leads_again", None),
    ("kafka/isr", "offline_partition_gets_a_leader", "r2v4"),
    pytest.param("kafka/isr", "views_converge", "r2v4", marks=pytest.mark.slow),
]


def decided(kernel: Kernel, name: str, engine: engine_selection.Engine = "native") -> PropertyResult:
    """The answer about a temporal property alone, so that no violation of another one ends the search."""
    options = SearchOptions(frozenset({name}), check_deadlock=False, threads=1)
    report = engine_selection.check(kernel, options, engine=engine).report
    return next(each for each in report.properties if each.name == name)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("bug", BUGS)
def test_without_its_safeguard_the_system_never_recovers(bug: Bug) -> None:
    kernel = load(f"kafka/{bug.spec}", None, {bug.switch: "false"}).kernel
    found = decided(kernel, bug.property)
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    run = Run(Model(kernel), found.trace)
    assert (run.stops, run.unfair()) == (True, [])
    assert (len(found.trace) - 1, found.trace.steps[-1].action) == (bug.steps, bug.last)


@pytest.mark.everyday(2)
@pytest.mark.parametrize(("spec", "name", "model"), PROPERTIES)
def test_what_is_promised_happens_some_time_and_by_fairness_alone(spec: str, name: str, model: str | None) -> None:
    kernel = load(spec, model, {}).kernel
    unfair = replace(kernel, actions=tuple(replace(action, fairness=None) for action in kernel.actions))
    assert (decided(kernel, name).outcome, decided(unfair, name).outcome) == (Outcome.HOLDS, Outcome.VIOLATED)


@pytest.mark.slow
def test_the_reference_engine_says_the_same() -> None:
    for safeguard in ("true", "false"):
        kernel = load("kafka/stop_replica", None, {"StopAtSameEpoch": safeguard}).kernel
        fast, slow = (decided(kernel, "stray_replica_goes", engine) for engine in ("native", "reference"))
        assert (fast.outcome, fast.trace, fast.remarks) == (slow.outcome, slow.trace, slow.remarks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "name"), [("kafka/controller", "controller_returns"), ("kafka/isr", "offline_partition_gets_a_leader")]
)
def test_a_controller_and_a_leader_return_in_the_larger_models(spec: str, name: str) -> None:
    kernel = load(spec, None, {}).kernel
    unfair = replace(kernel, actions=tuple(replace(action, fairness=None) for action in kernel.actions))
    assert (decided(kernel, name).outcome, decided(unfair, name).outcome) == (Outcome.HOLDS, Outcome.VIOLATED)
