"""The larger specs refine the smaller ones, and no longer do without a safeguard."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.kafka.coverage import check_coverage_of_own_lines

from assay.checker.engines import engine_selection
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report
from assay.cli.settings import load

CONTROLLER = "refines kafka.controller"
LEADERSHIP = "refines kafka.leadership_abstract"
LOG = "refines kafka.replication.abstract_log"
VOTING = "refines kafka.kraft.voting"
METADATA_LOG = "refines kafka.kraft.abstract_log"
RECORDS = "refines kafka.kraft.leadership"


@dataclass(frozen=True)
class Refines:
    """A model whose every step is one of each refined module."""

    spec: str
    model: str
    properties: tuple[str, ...]
    distinct: int
    depth: int

    def __str__(self) -> str:
        return f"{self.spec} {self.model}"


@dataclass(frozen=True)
class Departs:
    """A safeguard without which a step is none of the refined module: the length of the shortest run, and its last action."""

    spec: str
    model: str
    parameter: str
    refinement: str
    length: int
    last: str

    def __str__(self) -> str:
        return f"{self.spec} {self.parameter}"


QUICK = [
    Refines("kafka/cluster_refinement", "small", (CONTROLLER, LEADERSHIP), 11_272, 25),
    Refines("kafka/cluster_refinement", "disk", (CONTROLLER, LEADERSHIP), 22_312, 26),
    Refines("kafka/replication/kip320_refinement", "r2l2m2e2", (LOG,), 6_017, 18),
    Refines("kafka/kraft/partition_refinement", "r2e3", (RECORDS,), 95_953, 23),
]
LONG = [
    Refines("kafka/cluster_refinement", "default", (CONTROLLER, LEADERSHIP), 904_760, 27),
    Refines("kafka/replication/kip320_refinement", "r3l2m2e2", (LOG,), 741_910, 26),
    Refines("kafka/kraft/partition_refinement", "r3e2", (RECORDS,), 657_019, 22),
    Refines("kafka/kraft/quorum_refinement", "n3e2l2", (VOTING, METADATA_LOG), 85_427, 22),
]
WITHOUT = [
    Departs("kafka/kraft/partition_refinement", "r2e3", "FenceOneAtATime", RECORDS, 3, "fence_batch"),
    Departs("kafka/cluster_refinement", "default", "EpochPerElection", LEADERSHIP, 12, "cluster.elect_leader"),
    Departs(
        "kafka/cluster_refinement",
        "default",
        "ConditionalWrites",
        LEADERSHIP,
        11,
        "cluster.change_isr_with_the_dead",
    ),
    Departs("kafka/cluster_refinement", "default", "FenceByLeaderEpoch", LEADERSHIP, 12, "cluster.leadership.obey"),
    Departs("kafka/kraft/partition_refinement", "r2e3", "FencedStayOut", RECORDS, 7, "take_proposal"),
    Departs("kafka/kraft/partition_refinement", "r2e3", "CleanElections", RECORDS, 7, "fence"),
    Departs("kafka/kraft/quorum_refinement", "n3e2l2", "PersistVote", VOTING, 3, "quorum.restart"),
]
LONG_WITHOUT = [
    Departs("kafka/kraft/quorum_refinement", "n3e2l2", "CompareLogs", METADATA_LOG, 14, "quorum.commit"),
    Departs("kafka/kraft/quorum_refinement", "n3e2l2", "CheckLastEpoch", METADATA_LOG, 12, "quorum.fetch"),
    Departs("kafka/replication/kip320_refinement", "r3l2m2e2", "EpochBeforeExpansion", LOG, 18, "leader_advance_hw"),
]


def searched(spec: str, model: str, settings: dict[str, str], properties: tuple[str, ...]) -> Report:
    loaded = load(spec, model, settings)
    options = SearchOptions(properties=frozenset(properties), check_deadlock=False)
    return engine_selection.check(loaded.kernel, options, loaded.sources, "native").report


def refinements(report: Report) -> list[PropertyResult]:
    return [each for each in report.properties if each.kind == "refinement"]


def check_refines(case: Refines) -> None:
    report = searched(case.spec, case.model, {}, case.properties)
    assert [(each.name, each.outcome) for each in refinements(report)] == [
        (name, Outcome.HOLDS) for name in case.properties
    ]
    assert (report.statistics.distinct, report.statistics.depth) == (case.distinct, case.depth)
    check_coverage_of_own_lines(case.spec, load(case.spec, case.model, {}).kernel, report.coverage)


@pytest.mark.slow
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_a_spec_refines_what_it_says(case: Refines) -> None:
    check_refines(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", LONG, ids=str)
def test_a_larger_model_refines_what_its_spec_says(case: Refines) -> None:
    check_refines(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", WITHOUT, ids=str)
def test_without_a_safeguard_a_step_is_none_of_the_refined_module(case: Departs) -> None:
    check_departs(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", LONG_WITHOUT, ids=str)
def test_without_a_safeguard_a_committed_record_is_lost(case: Departs) -> None:
    check_departs(case)


def check_departs(case: Departs) -> None:
    (found,) = refinements(searched(case.spec, case.model, {case.parameter: "false"}, (case.refinement,)))
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert (len(found.trace), found.trace.steps[-1].action) == (case.length, case.last)
    assert found.abstract is not None
