"""The replication ladder: verdicts, numbers of states and lengths of the published TLA+ modules, and what each rule is for.

Lengths count states. Published numbers are those of TLC for the modules of the same names in
github.com/hachikuji/kafka-specification. The other numbers are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from tests.kafka.coverage import check_coverage, check_outcomes
from tests.kafka.ladder import LADDER as TABLE
from tests.kafka.ladder import Rung
from tests.stages import everyday, slow

from assay.api.bundled import bundled_specs
from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, PropertyResult, Report
from assay.cli.settings import load

LADDER = ("truncate_to_hw", "kip101", "kip279", "kip320_first_try", "kip320", "async_isr")
SHARED = ("partition", "unfenced")
REFINING = ("abstract_log", "kip320_refinement")
"""What KIP-320 refines, and that it does: `test_refinement` asks about both."""


@dataclass(frozen=True)
class Holds:
    """A model of which every property holds; None is the default model."""

    spec: str
    model: str | None
    distinct: int
    depth: int

    def __str__(self) -> str:
        return f"{self.spec} {self.model}"


@dataclass(frozen=True)
class Loses:
    """A model in which a committed record may be lost: the length of the shortest run, and all states if nothing stops the search."""

    spec: str
    model: str
    length: int
    last: str
    distinct: int
    depth: int

    def __str__(self) -> str:
        return f"{self.spec} {self.model}"


HOLDS = [
    Holds("kip279", "r2l2m2e2", 9_027, 18),
    Holds("kip320_first_try", "r2l2m2e2", 8_429, 18),
    Holds("kip320", "r2l2m2e2", 5_973, 18),
    Holds("kip320", "r2l2m2e3", 28_939, 22),
    Holds("kip320", "r3l2m2e1", 39_619, 22),
    Holds("kip320", "r3l2m2e2", 737_794, 26),
    Holds("async_isr", "r3o1v3", 8_020, 18),
]
LARGEST = Holds("kip320", "r3l3m3e2", 4_093_531, 31)
ONE_LOG = Holds("abstract_log", None, 161, 5)
LOSES = [
    Loses("truncate_to_hw", "r2l2m2e2", 10, "become_follower", 10_131, 20),
    Loses("truncate_to_hw", "r3l2m2e2", 9, "become_follower", 1_988_158, 28),
    Loses("kip101", "r2l2m2e2", 12, "become_follower", 9_045, 18),
    Loses("kip101", "r3l2m2e2", 11, "become_follower", 1_613_089, 26),
    Loses("kip279", "r3l2m2e2", 11, "become_follower", 1_616_461, 26),
    Loses("kip320_first_try", "r3l2m2e2", 13, "follower_truncate", 1_437_076, 28),
]
IN_THREE_REPLICAS = [row for row in LOSES if row.distinct >= 100_000]


@dataclass(frozen=True)
class Switch:
    """A rule that is switched off, in three replicas, and the properties that are lost with the length of the shortest run to each."""

    spec: str
    parameter: str
    lost: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.spec} {self.parameter}"


SWITCHES = [
    Switch("async_isr", "CountPending", (("valid_high_watermark", 7),)),
    Switch("kip320", "FenceFetch", (("weak_isr", 13), ("epochs_rise", 11))),
    Switch("kip320", "FenceTruncation", (("strong_isr", 14), ("weak_isr", 14), ("follower_prefix", 11))),
    Switch("kip320", "FenceHighWatermark", (("strong_isr", 13), ("weak_isr", 13))),
    Switch("kip320", "EpochBeforeExpansion", (("strong_isr", 12), ("weak_isr", 14))),
    Switch("async_isr", "CheckVersion", (("valid_high_watermark", 7), ("isr_is_counted", 5))),
]


def searched(
    spec: str,
    model: str | None,
    settings: dict[str, str] | None = None,
    engine: Engine = "native",
    properties: frozenset[str] | None = None,
    keep_going: bool = False,
) -> Report:
    loaded = load(f"kafka/replication/{spec}", model, settings or {})
    options = SearchOptions(properties=properties, keep_going=keep_going)
    return engine_selection.check(loaded.kernel, options, loaded.sources, engine).report


@cache
def whole(spec: str, model: str) -> Report:
    """The answer about all properties, in all states."""
    return searched(spec, model, keep_going=True)


def lost(report: Report) -> tuple[tuple[str, int], ...]:
    """The properties of the search that are violated, with the lengths of their runs; a scenario is no search."""
    return tuple((each.name, len(each.trace)) for each in violated(report) if each.trace is not None)


def violated(report: Report) -> list[PropertyResult]:
    return [each for each in report.properties if each.outcome is Outcome.VIOLATED and each.kind != "scenario"]


def record(record_property: Callable[[str, object], None], spec: str, what: str, report: Report) -> None:
    """Rows of the table of bugs: a version in a model, or a rule that was switched off."""
    for name, length in lost(report):
        rung = Rung(f"kafka/replication/{spec}", what, name, length, report.statistics.seconds)
        record_property(TABLE, rung.cells())


def size(report: Report) -> tuple[int, int]:
    return report.statistics.distinct, report.statistics.depth


def test_every_spec_of_replication_is_pinned_here() -> None:
    names = [name for name in bundled_specs() if name.startswith("kafka/replication/")]
    assert names == sorted(f"kafka/replication/{name}" for name in (*LADDER, *SHARED, *REFINING))
    assert {row.spec for row in HOLDS} | {row.spec for row in LOSES} == set(LADDER)


@pytest.mark.parametrize("row", everyday(HOLDS, 1), ids=str)
def test_a_version_holds_with_the_published_number_of_states_and_depth(row: Holds) -> None:
    report = searched(row.spec, row.model)
    assert size(report) == (row.distinct, row.depth)
    assert report.exit_code is ExitCode.OK
    name = f"kafka/replication/{row.spec}"
    check_outcomes(name, load(name, row.model, {}).kernel, report)


def test_the_log_that_only_grows_holds_and_all_of_it_is_exercised() -> None:
    report = searched(ONE_LOG.spec, ONE_LOG.model)
    assert size(report) == (ONE_LOG.distinct, ONE_LOG.depth)
    assert report.exit_code is ExitCode.OK
    name = f"kafka/replication/{ONE_LOG.spec}"
    check_coverage(name, load(name, ONE_LOG.model, {}).kernel, report.coverage)


@pytest.mark.slow
def test_kip320_holds_with_logs_of_three_records_in_the_published_number_of_states() -> None:
    report = searched(LARGEST.spec, LARGEST.model)
    assert size(report) == (LARGEST.distinct, LARGEST.depth)
    assert report.exit_code is ExitCode.OK


@pytest.mark.parametrize("row", everyday(LOSES, 1), ids=str)
def test_a_version_loses_a_committed_record_in_a_run_of_the_published_length(
    row: Loses, record_property: Callable[[str, object], None]
) -> None:
    report = searched(row.spec, row.model, properties=frozenset({"strong_isr"}))
    assert lost(report) == (("strong_isr", row.length),)
    (found,) = violated(report)
    assert found.trace is not None
    assert found.trace.steps[-1].action == row.last
    record(record_property, row.spec, row.model, report)


@pytest.mark.parametrize("row", [slow(row) for row in LOSES if row.distinct < 100_000], ids=str)
def test_a_version_that_loses_records_has_all_states_of_its_module(row: Loses) -> None:
    report = whole(row.spec, row.model)
    assert size(report) == (row.distinct, row.depth)
    assert lost(report) == (("strong_isr", row.length),)


@pytest.mark.slow
@pytest.mark.parametrize("row", IN_THREE_REPLICAS, ids=str)
def test_every_scenario_and_state_of_a_version_with_three_replicas_is_found(row: Loses) -> None:
    report = whole(row.spec, row.model)
    assert size(report) == (row.distinct, row.depth)
    assert lost(report) == (("strong_isr", row.length),)
    others = {each.outcome for each in report.properties if each.name != "strong_isr"}
    assert others == {Outcome.HOLDS}


@pytest.mark.parametrize("spec", everyday(["truncate_to_hw", "kip101", "kip279", "kip320_first_try", "kip320"], 1))
def test_the_reference_engine_counts_the_same_with_one_record(spec: str) -> None:
    settings = {"Replica": "{r1, r2}", "MaxRecords": "1", "MaxLeaderEpoch": "1"}
    ours, theirs = (searched(spec, None, settings, engine, keep_going=True) for engine in ("native", "reference"))
    assert size(ours) == size(theirs)
    assert ours.statistics.generated == theirs.statistics.generated
    assert [(each.name, each.outcome) for each in ours.properties] == [
        (each.name, each.outcome) for each in theirs.properties
    ]


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in HOLDS if row.distinct < 10_000], ids=str)
def test_the_reference_engine_counts_the_published_states(row: Holds) -> None:
    report = searched(row.spec, row.model, engine="reference")
    assert size(report) == (row.distinct, row.depth)
    assert report.exit_code is ExitCode.OK


@pytest.mark.parametrize("switch", everyday(SWITCHES, 1), ids=str)
def test_a_rule_switched_off_is_missed(switch: Switch, record_property: Callable[[str, object], None]) -> None:
    report = searched(switch.spec, None, {switch.parameter: "false"}, keep_going=True)
    assert lost(report) == switch.lost
    record(record_property, switch.spec, switch.parameter, report)


@pytest.mark.parametrize("spec", everyday(SHARED, 1))
def test_what_the_versions_share_holds_by_itself(spec: str) -> None:
    report = searched(spec, None)
    assert report.exit_code is ExitCode.OK


@pytest.mark.parametrize(("spec", "length"), [("kip279", 10), slow(("kip320_first_try", 10))])
def test_before_kip320_epochs_in_a_log_may_be_out_of_order(spec: str, length: int) -> None:
    report = searched(spec, "r2l2m2e2")
    (found,) = [each for each in report.properties if each.name == "epochs_out_of_order"]
    assert found.outcome is Outcome.HOLDS
    assert found.trace is not None
    assert len(found.trace) == length


@pytest.mark.slow
def test_only_a_partition_without_any_member_in_sync_stops_for_good() -> None:
    loaded = load("kafka/replication/kip320", "r2l2m2e2", {})
    assert loaded.kernel.terminal
    report = whole("kip320", "r2l2m2e2")
    (deadlock,) = [each for each in report.properties if each.name == "deadlock"]
    assert deadlock.outcome is Outcome.HOLDS


COVERED = [("kip320", "r3l2m2e1"), ("async_isr", "r3o1v3"), *((row.spec, row.model) for row in IN_THREE_REPLICAS)]


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "model"), [COVERED[0], *map(slow, COVERED[1:])])
def test_every_action_happens_and_every_guard_decides_somewhere_or_is_explained(spec: str, model: str) -> None:
    name = f"kafka/replication/{spec}"
    check_coverage(name, load(name, model, {}).kernel, whole(spec, model).coverage)
