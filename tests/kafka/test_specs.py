"""The bundled specs: how many states they have, that they hold, and that each safeguard, switched off, is missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.kafka.coverage import check_coverage, check_outcomes
from tests.kafka.kraft import SPECS as PINNED_IN_TEST_KRAFT
from tests.kafka.ladder import LADDER, Rung
from tests.stages import slow

from assay.api.bundled import SPECS as FOLDER
from assay.api.bundled import bundled_specs
from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report, Step, Trace
from assay.cli.main import invoke
from assay.cli.settings import load
from assay.grammar.formatting.format import format_module
from assay.grammar.kernel.types import BagType, MapType, SeqType, SetType
from assay.grammar.parsing.parse import parse


@dataclass(frozen=True)
class Size:
    """A spec that holds: its counts, the same as published where the spec's docstring names a source."""

    spec: str
    distinct: int
    generated: int
    depth: int
    bounds: tuple[str, ...] = ()


SIZES = [
    Size("classics/die_hard", 16, 97, 8),
    Size("classics/german", 28_593, 114_805, 27),
    Size("classics/paxos", 3_921, 16_007, 17),
    Size("classics/token_ring", 256, 896, 1),
    Size("classics/transaction_commit", 34, 94, 7),
    Size("classics/two_phase", 288, 1_146, 11),
    Size("kafka/alter_partition", 23_594, 89_340, 12, ("capacity of requests", "versions")),
    Size("kafka/become_follower", 108, 367, 9, ("epochs",)),
    Size("kafka/broker_epoch", 929, 3_739, 17, ("capacity of queue", "epochs")),
    Size("kafka/broker_id", 1_854, 7_287, 9, ("ids",)),
    Size("kafka/chroot", 147, 493, 7),
    Size("kafka/claim", 100, 227, 12, ("epochs",)),
    Size("kafka/controller", 181_168, 1_897_453, 26, ("own_ids", "zxids")),
    Size("kafka/controller_cache", 975, 3_198, 15, ("versions",)),
    Size("kafka/isr_in_zookeeper", 2_070, 6_331, 11, ("versions",)),
    Size("kafka/kraft/abstract_log", 94, 609, 4, ("capacity of committed",)),
    Size("kafka/leadership", 283_684, 2_389_785, 10, ("assignments", "leader_epochs", "versions")),
    Size("kafka/leadership_abstract", 3_401, 27_097, 8, ("epochs",)),
    Size("kafka/log_start", 1_895, 5_121, 14, ("epochs", "log_end")),
    Size("kafka/membership", 27_451, 218_001, 24, ("zxids",)),
    Size("kafka/own_node", 2_720, 17_989, 20),
    Size("kafka/placement", 2_578, 3_112, 12, ("partitions",)),
    Size("kafka/stop_replica", 102, 259, 15, ("capacity of late", "capacity of queue", "epochs")),
    Size("kafka/topics", 2_874, 12_531, 24, ("capacity of late", "capacity of queue", "epochs", "topics")),
    Size("kafka/transaction_coordinator", 15, 17, 11, ("epochs",)),
]
LARGER = [
    ("kafka/alter_partition", "six_versions", 271_952, 16),
    ("kafka/become_follower", "three_partitions", 567, 11),
    ("kafka/broker_epoch", "six_registrations", 3_338, 21),
    ("kafka/chroot", "three_processes", 711, 9),
    ("kafka/claim", "three_processes", 392, 13),
    ("kafka/controller_cache", "four_versions", 8_616, 19),
    ("kafka/isr_in_zookeeper", "six_versions", 10_755, 14),
    ("kafka/log_start", "three_replicas", 15_989, 18),
    ("kafka/own_node", "four_sessions", 17_224, 22),
    ("kafka/placement", "four_brokers", 18_289, 14),
    ("kafka/stop_replica", "five_epochs", 369, 18),
    ("kafka/topics", "three_topics", 10_086, 35),
    ("kafka/transaction_coordinator", "seven_moves", 21, 15),
]
SMALL = [size for size in SIZES if size.distinct < 1_000]


@dataclass(frozen=True)
class Safeguard:
    """A parameter that is true by default, and the shortest run that goes wrong without it; ``length`` counts states.

    ``last`` is the last step of the run, or how it begins.
    """

    spec: str
    parameter: str
    violated: tuple[str, ...]
    length: int
    last: str

    def __str__(self) -> str:
        return f"{self.spec} {self.parameter}"


SAFEGUARDS = [
    Safeguard("classics/paxos", "AdoptVotes", ("agreement",), 13, "vote("),
    Safeguard("classics/paxos", "KeepPromises", ("agreement",), 13, "vote("),
    Safeguard("classics/two_phase", "WaitForAll", ("consistent",), 4, "obey_commit(r2)"),
    Safeguard(
        "kafka/membership",
        "RefuseDuplicateId",
        ("one_process_per_id", "registered_owns_node"),
        7,
        "register(p2, b1, 2)",
    ),
    Safeguard("kafka/membership", "EphemeralNodes", ("registered_by_live_session",), 5, "expire(s1)"),
    Safeguard("kafka/leadership_abstract", "ConditionalWrites", ("leader_in_isr",), 4, "change_isr(x, b1, 0, "),
    Safeguard(
        "kafka/leadership_abstract",
        "EpochPerElection",
        ("told_agree", "told_of_now_is_leader"),
        3,
        "elect(x, b2, ",
    ),
    Safeguard("kafka/controller", "FenceByEpoch", ("never_obeys_an_older_controller",), 16, "obey(p1, b1, 1)"),
    Safeguard("kafka/controller", "FenceWrites", ("never_written_by_an_older_controller",), 16, "write(p1)"),
    Safeguard("kafka/controller", "AtomicElection", ("claimant_has_highest_epoch",), 14, "take_epoch(p1)"),
    Safeguard("kafka/controller_cache", "WatchFirst", ("cache_is_current",), 6, "begin()"),
    Safeguard("kafka/controller_cache", "ReadAgain", ("cache_is_current",), 7, "notice(brokers)"),
    Safeguard("kafka/isr_in_zookeeper", "FenceControllerWrites", ("leader_knows_the_version",), 5, "handle"),
    Safeguard("kafka/broker_epoch", "RefuseEarlier", ("first_request_names_all",), 8, "handle()"),
    Safeguard("kafka/broker_epoch", "AcceptLater", ("told_of_its_replicas",), 7, "learn_epoch()"),
    Safeguard("kafka/stop_replica", "StopCarriesEpoch", ("replica_as_assigned",), 9, "handle_late"),
    Safeguard("kafka/stop_replica", "StopAtSameEpoch", ("replica_as_assigned",), 5, "handle()"),
    Safeguard("kafka/stop_replica", "LateStopsOnly", ("replica_as_assigned",), 7, "handle_late"),
    Safeguard("kafka/own_node", "RetakeOwnNode", ("kept_out_by_others_only",), 8, "be_refused(p1)"),
    Safeguard("kafka/broker_epoch", "CompareEpochs", ("told_of_its_replicas",), 7, "handle()"),
    Safeguard("kafka/claim", "ActWhenNamed", ("who_is_named_acts",), 5, "look(p2)"),
    Safeguard("kafka/become_follower", "SkipFailed", ("follows_in_the_present_epoch",), 7, "handle()"),
    Safeguard("kafka/transaction_coordinator", "ReplaceLeftovers", ("leader_has_loaded",), 7, "load()"),
    Safeguard("kafka/alter_partition", "NotControllerIfBehind", ("news_are_coming",), 6, "deposed_answers()"),
    Safeguard("kafka/broker_id", "ReserveConfigured", ("generated_is_nobody_else_s",), 4, "generate(p2)"),
    Safeguard("kafka/broker_id", "KeepGenerated", ("same_id_for_the_same_data",), 4, "generate(p1)"),
    Safeguard("kafka/topics", "CheckTopicId", ("replica_as_created", "obeys_the_same_topic"), 14, "handle_late"),
    Safeguard("kafka/topics", "LateOnlyToReplicas", ("nothing_left",), 10, "handle_late"),
    Safeguard("kafka/chroot", "CheckClusterId", ("data_stays_in_its_cluster",), 6, "start(p1, right, b1)"),
    Safeguard(
        "kafka/log_start",
        "RaiseHighWatermark",
        ("start_and_high_watermark_are_in_the_log",),
        6,
        "start_over(r2)",
    ),
    Safeguard("kafka/log_start", "CutBeforeRaising", ("shown_is_committed",), 7, "raise_first(r1)"),
    Safeguard("kafka/log_start", "WaitForLowWatermark", ("deleted_is_gone",), 7, "move_leadership(r2)"),
    Safeguard("kafka/placement", "ShiftFollowers", ("followers_are_spread",), 6, "place()"),
    Safeguard("kafka/placement", "KeepStart", ("leadership_is_spread",), 5, "place()"),
    Safeguard("kafka/placement", "RefuseTooFewBrokers", ("every_replica_is_another",), 3, "place()"),
]
QUICK_BY_REFERENCE = [
    each for each in SAFEGUARDS if each.spec != "kafka/controller" and each.parameter != "KeepPromises"
]

DEAR = {"classics/paxos", "kafka/controller", "kafka/placement"}
"""Compiling or searching them takes seconds: in the slow stage."""


def searched(spec: str, settings: dict[str, str], engine: Engine) -> Report:
    loaded = load(spec, None, settings)
    return engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, engine).report


def counterexamples(report: Report) -> dict[str, Trace]:
    """The violated properties with their runs; a scenario that needs the safeguard is violated too, and is no search.

    Temporal properties are the concern of `test_liveness`.
    """
    return {
        each.name: each.trace
        for each in report.properties
        if each.outcome is Outcome.VIOLATED and each.kind not in {"scenario", "temporal"} and each.trace is not None
    }


def step_text(step: Step) -> str:
    return f"{step.action}({', '.join(str(getattr(value, 'name', value)) for _, value in step.arguments)})"


def actions(trace: Trace) -> list[str]:
    return [step_text(step) for step in trace.steps[1:]]


def check_size(size: Size, engine: Engine) -> None:
    report = searched(size.spec, {}, engine)
    kernel = load(size.spec, None, {}).kernel
    check_coverage(size.spec, kernel, report.coverage)
    check_outcomes(size.spec, kernel, report)
    statistics = report.statistics
    assert (statistics.distinct, statistics.generated, statistics.depth) == (size.distinct, size.generated, size.depth)
    assert (report.engine, report.exit_code) == (engine, ExitCode.OK)
    assert tuple(sorted(label for label, hits in report.bounds.items() if hits)) == size.bounds


def check_safeguard(safeguard: Safeguard, engine: Engine) -> float:
    """Seconds of the search."""
    report = searched(safeguard.spec, {safeguard.parameter: "false"}, engine)
    assert (report.engine, report.exit_code) == (engine, ExitCode.VIOLATED)
    found = counterexamples(report)
    assert tuple(found) == safeguard.violated
    for trace in found.values():
        assert len(trace) == safeguard.length
        assert actions(trace)[-1].startswith(safeguard.last)
    return report.statistics.seconds


def test_every_bundled_spec_is_pinned_here_or_among_those_of_replication() -> None:
    # test_replication.py, test_leadership.py, test_kraft_logs.py, test_refinement.py
    kraft = (f"kafka/kraft/{name}" for name in ("cluster", "leadership", "partition_refinement", "quorum_refinement"))
    # Those of systems and objects are held against traces: test_etcd_raft.py, tests/unit/traces/calls/.
    elsewhere = ("systems/", "objects/", "kafka/replication/", "kafka/cluster", *kraft)
    others = [spec for spec in bundled_specs() if not spec.startswith(elsewhere) and spec not in PINNED_IN_TEST_KRAFT]
    assert [size.spec for size in SIZES] == others


def test_the_index_names_every_spec_with_its_states_and_safeguards(checkout: Path) -> None:
    lines = (checkout / "spec" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(" `"): cells for cells in (line.split("|") for line in lines) if len(cells) > 3}
    assert {name for name in rows if "/" in name} == set(bundled_specs())
    for size in SIZES:
        if "replication" not in size.spec:
            assert [cell.strip() for cell in rows[size.spec][3:5]] == [f"{size.distinct:,}", str(size.depth)]
    for safeguard in SAFEGUARDS:
        assert f"`{safeguard.parameter}`" in rows[safeguard.spec][5]


@pytest.mark.parametrize("spec", bundled_specs())
def test_a_bundled_spec_is_in_its_canonical_form(spec: str) -> None:
    text = (FOLDER / f"{spec}.assay").read_text(encoding="utf-8")
    parsed = parse(text, spec)
    assert parsed.diagnostics == ()
    assert format_module(parsed.module) == text


@pytest.mark.everyday(9)
@pytest.mark.parametrize(
    "size",
    [each if each.distinct < 3_000 and each.spec not in DEAR else slow(each) for each in SIZES],
    ids=lambda size: size.spec,
)
def test_the_native_engine_counts_the_states_of_a_spec_that_holds(size: Size) -> None:
    check_size(size, "native")


@pytest.mark.everyday(6)
@pytest.mark.parametrize("size", SMALL, ids=lambda size: size.spec)
def test_the_reference_engine_counts_the_same(size: Size) -> None:
    check_size(size, "reference")


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "model", "distinct", "depth"), LARGER)
def test_a_named_model_holds_with_its_number_of_states(spec: str, model: str, distinct: int, depth: int) -> None:
    loaded = load(spec, model, {})
    report = engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, "native").report
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    assert report.exit_code is ExitCode.OK


@pytest.mark.slow
def test_the_reference_engine_counts_the_same_states_of_membership() -> None:
    check_size(next(size for size in SIZES if size.spec == "kafka/membership"), "reference")


@pytest.mark.everyday(4)
@pytest.mark.parametrize("safeguard", [slow(each) if each.spec in DEAR else each for each in SAFEGUARDS], ids=str)
def test_without_a_safeguard_the_native_engine_finds_the_shortest_run_that_goes_wrong(
    safeguard: Safeguard, record_property: Callable[[str, object], None]
) -> None:
    seconds = check_safeguard(safeguard, "native")
    violated = ", ".join(safeguard.violated)
    record_property(LADDER, Rung(safeguard.spec, safeguard.parameter, violated, safeguard.length, seconds).cells())


@pytest.mark.everyday(2)
@pytest.mark.parametrize(
    "safeguard", [slow(each) if each.spec in DEAR else each for each in QUICK_BY_REFERENCE], ids=str
)
def test_without_a_safeguard_the_reference_engine_finds_the_same_run(safeguard: Safeguard) -> None:
    check_safeguard(safeguard, "reference")


@pytest.mark.slow
def test_without_a_safeguard_of_the_controller_the_reference_engine_finds_the_same_run() -> None:
    """The quickest of those that take long: the native engine's runs of the others are replayed by the reference engine."""
    (safeguard,) = (each for each in SAFEGUARDS if each.parameter == "AtomicElection")
    check_safeguard(safeguard, "reference")


@pytest.mark.slow
def test_two_writes_with_the_session_lost_in_between_leave_the_claimant_with_an_old_epoch() -> None:
    """KAFKA-6082: the former claimant takes the next epoch after its session, and so its claim, has gone."""
    report = searched("kafka/controller", {"AtomicElection": "false"}, "native")
    run = actions(counterexamples(report)["claimant_has_highest_epoch"])
    decisive = ["claim_only(p1)", "expire(s1)", "claim_only(p2)", "take_epoch(p2)", "take_epoch(p1)"]
    assert [step for step in run if step in decisive] == decisive


@pytest.mark.slow
def test_a_request_of_the_deposed_controller_is_obeyed_after_one_of_its_successor() -> None:
    run = actions(counterexamples(searched("kafka/controller", {"FenceByEpoch": "false"}, "native")).popitem()[1])
    obeyed = [action for action in run if action.startswith("obey(p1")]
    assert obeyed == ["obey(p1, b2, 2)", "obey(p1, b1, 1)"]
    assert run.index("expire(s1)") < run.index("elect(p2)")


def test_the_command_line_answers_two_phase_commit_with_the_published_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = invoke(["check", "classics/two_phase", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["verdict"]) == (0, "holds")
    states = answer["states"]
    assert (states["distinct"], states["generated"], states["depth"]) == (288, 1_146, 11)


@pytest.mark.slow
def test_the_command_line_exits_1_with_fencing_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(["check", "kafka/controller", "--set", "FenceByEpoch=false", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["verdict"]) == (1, "violated")
    (found,) = [each for each in answer["properties"] if each["name"] == "never_obeys_an_older_controller"]
    assert len(found["trace"]) == 16


@pytest.mark.slow
def test_no_clause_leaves_an_argument_open_that_is_a_set_of_what_logs_name() -> None:
    """Thirty brokers have a billion subsets; a `pick` from few is not meant."""
    kernels = [(load(str(path), None, {}).kernel, path) for path in FOLDER.rglob("*.assay")]
    looked_at = 0
    for kernel, path in kernels:
        for clause in kernel.traces:
            called = [call for rule in clause.rules for steps in rule.steps for call in steps]
            given = [(call.action, call.arguments) for call in called]
            given += [
                (name, (None,) * len(kernel.action(name).parameters)) for name in (*clause.hidden, *clause.numbered)
            ]
            for name, arguments in given:
                looked_at += 1
                pairs = zip(kernel.action(name).parameters, arguments, strict=True)
                open_ = [each.binder for each, argument in pairs if argument is None]
                assert not [
                    (path.name, clause.name, name, each.name)
                    for each in open_
                    if isinstance(each.type, SetType | SeqType | BagType | MapType)
                ]
    assert looked_at > 100
