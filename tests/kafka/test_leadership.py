"""Partitions of recorded clusters: no false alarm, every write of a state with its leader, ISR, epoch and version, and edits found.

``state_writes.tsv`` lists every write of a partition's state that ZooKeeper's transaction log of the recorded runs holds. It is what the
accepted executions are compared with; no test gives it to the validation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report
from assay.checker.symbolic.encode.initial import initial_states
from assay.cli.settings import load
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.result import SliceResult, TraceVerdict, Validation
from assay.traces.validate import validate

from .coverage import LOGGED, check_coverage, never
from .ladder import LADDER, Rung
from .recorded import archive, unpack
from .test_specs import counterexamples, searched

WRITES = Path(__file__).resolve().parents[1] / "corpus" / "state_writes.tsv"
RUNS = ("A0", "A1", "A2", "A3", "A4", "A6", "A9", "B1", "B3")
QUICK = ("A1", "B1")
Written = tuple[str, str, str, str, str]
"""Partition, version, leader (-1 for none), in-sync replicas, leader epoch."""


def answer(paths: list[Path]) -> Validation:
    reading = read_logs(paths)
    return validate(load("kafka/cluster", None, {}), list(reading.events), options=Options(versions=reading.versions))


@cache
def of_run(run: str) -> Validation:
    return answer([archive(run)])


@cache
def writes() -> dict[str, set[Written]]:
    found: dict[str, set[Written]] = defaultdict(set)
    for line in WRITES.read_text(encoding="utf-8").splitlines()[1:]:
        run, partition, version, leader, isr, epoch = line.split("\t")
        found[run].add((partition, version, leader, isr, epoch))
    return found


def test_any_broker_may_join_the_isr_where_no_line_tells_the_assignment() -> None:
    model = Model(load("kafka/cluster", None, {}).kernel, bounded=False)
    names = [each.name for each in model.kernel.variables]
    state = next(iter(initial_states(model)[0]))
    b1, b2 = (Atom("Broker", at, f"b{at + 1}") for at in range(2))
    x = Atom("Partition", 0, "x")
    found = RecordValue((Some(b1), frozenset({b1}), 0, 0, 0))
    known = {"leadership.stored": FrozenMap({x: Some(found)}), "leadership.sent": FrozenMap({x: FrozenMap({0: found})})}
    begun = tuple(known.get(name, value) for name, value in zip(names, state, strict=True))
    ways = model.actions["write_isr_untold"].outcomes(begun, (x,))
    after = [each.state[names.index("leadership.stored")] for each in ways if isinstance(each, Successor)]
    both = RecordValue((Some(b1), frozenset({b1, b2}), 0, 0, 1))
    assert FrozenMap({x: Some(both)}) in after


def written(validation: Validation, result: SliceResult) -> set[Written]:
    """The states of a partition that the accepted execution goes through."""
    at = [variable.name for variable in validation.kernel.variables].index("leadership.stored")
    found: set[Written] = set()
    assert result.execution is not None
    for step in result.execution.steps:
        stored = step.state[at]
        assert isinstance(stored, dict)
        (state,) = stored.values()
        if isinstance(state, Some) and isinstance(state.value, RecordValue):
            leader, isr, epoch, _, version = state.value.fields
            name = leader.value.name if isinstance(leader, Some) else "-1"
            members = ",".join(sorted(broker.name for broker in isr))
            found.add((result.name, str(version), name, members, str(epoch)))
    return found


@pytest.mark.everyday(1)
@pytest.mark.parametrize("run", [pytest.param(run, marks=() if run in QUICK else pytest.mark.slow) for run in RUNS])
def test_every_state_that_zookeeper_stored_is_in_the_accepted_execution_and_no_other(run: str) -> None:
    validation = of_run(run)
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert (validation.violations, validation.properties, validation.counts.unmapped) == ((), (), 0)
    found: set[Written] = set().union(*(written(validation, result) for result in validation.slices))
    assert found == writes()[run]


@pytest.mark.slow
def test_an_unclean_election_is_told_with_its_partition_and_line() -> None:
    told = [(r.name, remark) for r in of_run("B1").slices for remark in r.remarks]
    ((name, remark),) = told
    assert (name, remark.severity) == ("ledger-0", "risk")
    assert remark.event.record.place.file.endswith("broker-3/state-change.log")
    assert remark.event.record.place.line == 399


# A digit of what a line states, each in another kind of line: the value is found at its line, with the log's and the model's.
EDITS = [
    ("broker-1/state-change.log", 74, "leader=3", "leader=1"),
    ("broker-1/state-change.log", 74, "leaderEpoch=2", "leaderEpoch=4"),
    ("broker-2/state-change.log", 54, "zkVersion=0", "zkVersion=2"),
    ("broker-2/state-change.log", 279, "zkVersion=8", "zkVersion=3"),
    ("broker-2/server.log", 1447, "version updated to [8]", "version updated to [7]"),
    ("broker-3/state-change.log", 334, "ZkVersion:10", "ZkVersion:70"),
    ("broker-3/state-change.log", 334, "LeaderEpoch:7", "LeaderEpoch:1"),
    ("broker-2/state-change.log", 214, "starts at leader epoch 4", "starts at leader epoch 6"),
]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack("A1", tmp_path_factory.mktemp("A1"))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "old", "new"), EDITS)
def test_an_edited_digit_is_found_at_its_line_with_both_values(
    file: str, line: int, old: str, new: str, healthy: Path
) -> None:
    path = healthy / file
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("".join(lines), encoding="utf-8")
    try:
        validation = answer([healthy])
    finally:
        path.write_text(before, encoding="utf-8")
    assert validation.verdict is TraceVerdict.INCONSISTENT
    (violation,) = validation.violations
    assert (violation.place.file, violation.place.line) == (str(path), line)
    edited = "".join(c for c in new.rsplit("leader epoch", maxsplit=1)[-1] if c.isdigit())
    stated = [value for part in violation.blame[0].parts for _, value in part.log]
    assert edited in stated
    assert all(part.model for part in violation.blame[0].parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("safeguard", "violated"),
    [
        ("ConditionalWrites", {"leader_epoch_never_decreases": 5, "new_leader_was_in_sync": 5}),
        ("FenceByLeaderEpoch", {"never_obeys_an_older_epoch": 6}),
        ("PreferInSync", {"unclean_only_in_need": 5}),
        ("EpochPerElection", {"one_leader_per_epoch": 4}),
    ],
)
def test_each_safeguard_of_leadership_is_needed(
    safeguard: str, violated: dict[str, int], record_property: Callable[[str, object], None]
) -> None:
    """The properties that are false without it, with the number of states of the shortest run that shows it."""
    report = searched("kafka/leadership", {safeguard: "false"}, "native")
    assert {name: len(trace) for name, trace in counterexamples(report).items()} == violated
    seconds = report.statistics.seconds
    for name, length in violated.items():
        record_property(LADDER, Rung("kafka/leadership", safeguard, name, length, seconds).cells())


JOINED = {
    "small": (11_272, 104_197, 25),
    "disk": (22_312, 212_413, 26),
    "told": (273_184, 3_779_793, 26),
    "default": (904_760, 10_598_753, 27),
}
"""Distinct states, generated states and depth of the models of `kafka/cluster` that are searched."""


def check_joined(model: str) -> Report:
    loaded = load("kafka/cluster", model, {})
    report = engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, "native").report
    assert (report.outcome, report.exit_code) == (Outcome.HOLDS, ExitCode.OK)
    sizes = report.statistics
    assert (sizes.distinct, sizes.generated, sizes.depth) == JOINED[model]
    return report


@pytest.mark.slow
def test_the_joined_model_holds_where_it_is_small() -> None:
    check_joined("small")


@pytest.mark.slow
def test_the_joined_model_holds_where_a_log_directory_fails() -> None:
    check_joined("disk")


@pytest.mark.slow
def test_the_joined_model_holds_with_the_steps_of_which_logs_tell() -> None:
    report = check_joined("told")
    assert never(report.coverage) & LOGGED["kafka/cluster"] == set()


@pytest.mark.slow
def test_the_joined_model_holds_with_two_brokers() -> None:
    report = check_joined("default")
    check_coverage("kafka/cluster", load("kafka/cluster", None, {}).kernel, report.coverage)
