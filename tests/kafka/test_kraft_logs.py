"""Recorded KRaft clusters: no false alarm, every record of a partition found, faults recognised, edits reported at their lines.

``kraft_writes.tsv`` lists every record of a partition in the metadata logs of the recorded runs. It is what the accepted executions are
compared with; no test gives it to the validation.
"""

from __future__ import annotations

import lzma
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome
from assay.cli.settings import load
from assay.grammar.values import RecordValue, Some
from assay.report.logs.first_screen import MOST_LINES, first_screen
from assay.traces.diagnosis.node_settings import overview
from assay.traces.event import Event
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.result import SliceResult, TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

from .coverage import check_coverage
from .kraft_edits import EDITS, Edit
from .ladder import LADDER, Rung
from .recorded import archive, unpack

WRITES = Path(__file__).resolve().parents[1] / "corpus" / "kraft_writes.tsv"
RUNS = (pytest.param("C1", marks=pytest.mark.slow), "C2")
USED = {"C1": 9406, "C2": 2379}
USED_OF_BROKERS = {"C1": 8855, "C2": 1783}
Written = tuple[str, str, str, str, str]
"""Partition, partition epoch, leader (-1 for none), in-sync replicas, leader epoch."""


def answer(paths: Iterable[Path]) -> tuple[LogReading, Validation]:
    """What `assay validate` says of logs if no spec is named."""
    reading = read_logs(list(paths))
    return reading, validate_with_selection(reading, None, lambda spec: load(spec, None, {}))[1]


@cache
def of_run(run: str) -> tuple[LogReading, Validation]:
    return answer([archive(run)])


@cache
def writes(run: str) -> frozenset[Written]:
    found: dict[str, set[Written]] = defaultdict(set)
    for line in WRITES.read_text(encoding="utf-8").splitlines()[1:]:
        name, partition, version, leader, isr, epoch = line.split("\t")
        found[name].add((partition, version, leader, isr, epoch))
    return frozenset(found[run])


def written(validation: Validation, result: SliceResult) -> set[Written]:
    """The records of a partition that the accepted execution goes through."""
    at = [variable.name for variable in validation.kernel.variables].index("leadership.stored")
    found: set[Written] = set()
    assert result.execution is not None
    for step in result.execution.steps:
        stored = step.state[at]
        assert isinstance(stored, dict)
        (state,) = stored.values()
        if isinstance(state, Some) and isinstance(state.value, RecordValue):
            leader, isr, epoch, version = state.value.fields
            name = leader.value.name if isinstance(leader, Some) else "-1"
            members = ",".join(sorted(broker.name for broker in isr))
            found.add((result.name, str(version), name, members, str(epoch)))
    return found


def all_written(validation: Validation) -> set[Written]:
    return set().union(*(written(validation, result) for result in validation.slices))


@pytest.mark.parametrize("run", RUNS)
def test_every_record_of_a_partition_is_in_the_accepted_execution_and_no_other(run: str) -> None:
    reading, validation = of_run(run)
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert (validation.violations, validation.properties) == ((), ())
    assert len(first_screen(validation, overview(reading))) <= MOST_LINES
    assert (validation.counts.used, validation.counts.unmapped) == (USED[run], 0)
    assert (validation.kernel.name, validation.clause) == ("kafka.kraft.cluster", "kraft_logs")
    assert all_written(validation) == writes(run)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_from_the_brokers_alone_the_records_are_the_same_and_the_answer_says_what_it_rests_on(
    run: str, tmp_path: Path
) -> None:
    _, validation = answer(path for path in unpack(run, tmp_path).iterdir() if path.name.startswith("broker"))
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert any(each.startswith("no log of a controller was read") for each in validation.rests_on)
    assert (validation.violations, validation.clause) == ((), "broker_logs")
    assert (validation.counts.used, validation.counts.unmapped) == (USED_OF_BROKERS[run], 0)
    assert {result.verdict for result in validation.slices} == {TraceVerdict.CONSISTENT}
    assert all_written(validation) == writes(run)


STATES = {"leader": 2, "isr": 3, "leader_epoch": 4}


def stated(reading: LogReading, field: str) -> set[tuple[str, str]]:
    """The partition epochs of each partition at which a line states a field: the others are inferred by the model."""
    found = set()
    for event in reading.events:
        given = event.fields
        says = given.get("broker") if field == "leader" and event.kind in {"BecameLeader", "IsrUpdated"} else None
        if "version" in given and "partition" in given and (field in given or says is not None):
            found.add((f"{given['topic']}-{given['partition']}", str(given["version"])))
    return found


def test_what_lines_state_and_what_the_model_infers_are_told_apart() -> None:
    """Leader and epoch of some records are stated by no line, and the ISR of more; all are right."""
    reading, validation = of_run("C2")
    records = {(record[0], record[1]) for record in all_written(validation)}
    inferred = {field: len(records - stated(reading, field)) for field in STATES}
    assert inferred == {"leader": 0, "isr": 11, "leader_epoch": 0}


# ------------------------------------------------------------------------------------------------------ what was done


def kinds(reading: LogReading, kind: str) -> list[Event]:
    return [event for event in reading.events if event.kind == kind]


def test_elections_of_the_quorum_are_those_that_the_faults_brought_about() -> None:
    """The active controller was killed at 01:49:07, the quorum lost at 01:52:04, and stopped in the end."""
    _, validation = of_run("C2")
    assert validation.execution is not None
    at = [variable.name for variable in validation.kernel.variables].index("voting.elected")
    elected = validation.execution.steps[-1].state[at]
    assert isinstance(elected, dict)
    assert {epoch: node.name for epoch, node in elected.items()} == {
        1: "102", 3: "102", 4: "101", 5: "102", 6: "101", 8: "101", 9: "102", 10: "103",
    }  # fmt: skip


def test_brokers_that_were_killed_or_paused_were_fenced_and_one_was_fenced_twice() -> None:
    _, validation = of_run("C2")
    assert validation.execution is not None
    steps = [(step.action, step.event) for step in validation.execution.steps if step.event is not None]
    fenced = [
        (event.fields["broker"], event.fields.get("broker_epoch")) for action, event in steps if action == "fence"
    ]
    again = [event.fields["broker"] for action, event in steps if action == "fence_again"]
    assert fenced == [(1, None), (2, 10), (1, 437), (1, None), (2, None), (3, None)]
    assert again == [1, 1]


@pytest.mark.slow
def test_a_second_process_with_the_id_of_a_broker_is_refused() -> None:
    reading, _ = of_run("C1")
    refused = kinds(reading, "IncarnationRefused")
    assert {event.run.node for event in refused} == {"broker-3-duplicate"}
    assert reading.explain(refused[0]) == "Broker 3 may not register: DUPLICATE_BROKER_REGISTRATION."
    (result,) = {result.hidden.get("leadership.touch", 0) > 0 for result in of_run("C1")[1].slices if result.hidden}
    assert result


# ------------------------------------------------------------------------------------------------------ edits


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {run: unpack(run, tmp_path_factory.mktemp(run)) for run in ("C1", "C2")}


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_an_edited_digit_of_a_partition_is_reported_at_its_line(edit: Edit, logs: dict[str, Path]) -> None:
    path = logs[edit.run] / edit.file
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    assert edit.old in lines[edit.line - 1]
    lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new, 1)
    path.write_text("".join(lines), encoding="utf-8")
    try:
        _, validation = answer([logs[edit.run]])
    finally:
        path.write_text(before, encoding="utf-8")
    assert validation.verdict is TraceVerdict.INCONSISTENT
    assert (validation.violations[0].place.file, validation.violations[0].place.line) == (str(path), edit.line)


def test_each_edit_changes_one_digit() -> None:
    for edit in EDITS:
        ((old, new),) = [(a, b) for a, b in zip(edit.old, edit.new, strict=True) if a != b]
        assert (old + new).isdigit()
    assert len(set(map(str, EDITS))) >= 24


# ------------------------------------------------------------------------------------------------------ the specs


DEFAULTS = [
    ("kafka/kraft/leadership", 32_808, 1_638_961, 10),
    ("kafka/kraft/cluster", 3_268_512, 89_815_585, 21),
]
"""Distinct states, generated states and depth of the default models."""


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "distinct", "generated", "depth"), DEFAULTS)
def test_what_a_check_without_a_model_searches_holds(spec: str, distinct: int, generated: int, depth: int) -> None:
    loaded = load(spec, None, {})
    report = engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, "native").report
    assert report.exit_code is ExitCode.OK
    statistics = report.statistics
    assert (statistics.distinct, statistics.generated, statistics.depth) == (distinct, generated, depth)
    check_coverage(spec, loaded.kernel, report.coverage)


def violated_in_leadership(switched_off: str | None) -> tuple[dict[str, int], float]:
    """The properties that are false in the runs of up to five states, with the lengths of theirs, and the seconds of the search."""
    loaded = load("kafka/kraft/leadership", None, {} if switched_off is None else {switched_off: "false"})
    report = engine_selection.check(loaded.kernel, SearchOptions(max_depth=4), loaded.sources, "native").report
    found = [each for each in report.properties if each.kind in {"invariant", "transition"}]
    traces = {each.name: each.trace for each in found if each.outcome is Outcome.VIOLATED}
    return {name: len(trace) for name, trace in traces.items() if trace is not None}, report.statistics.seconds


@pytest.mark.slow
def test_leadership_holds_in_its_short_runs() -> None:
    assert violated_in_leadership(None)[0] == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("safeguard", "violated", "length"),
    [("EpochPerLeader", "one_leader_per_epoch", 3), ("PreferInSync", "unclean_only_in_need", 4)],
)
def test_each_safeguard_of_leadership_is_needed(
    safeguard: str, violated: str, length: int, record_property: Callable[[str, object], None]
) -> None:
    found, seconds = violated_in_leadership(safeguard)
    assert found == {violated: length}
    record_property(LADDER, Rung("kafka/kraft/leadership", safeguard, violated, length, seconds).cells())


# ------------------------------------------------------------------------------------------------------ the metadata log

DUMP = archive("C2").with_name("C2-metadata.txt.xz")


@pytest.mark.slow
def test_a_dump_of_the_metadata_log_is_explained_record_by_record() -> None:
    _, validation = answer([DUMP])
    assert (validation.verdict, validation.clause) == (TraceVerdict.CONSISTENT, "metadata_log")
    assert (validation.counts.unmapped, dict(validation.hidden)) == (0, {})
    assert all_written(validation) == writes("C2")


@pytest.mark.slow
def test_a_record_that_elects_a_fenced_leader_is_reported(tmp_path: Path) -> None:
    """When broker 1 was let go, orders-0 went from it to broker 2: the record is changed to name broker 1 again."""
    lines = lzma.decompress(DUMP.read_bytes()).decode().splitlines(keepends=True)
    wanted = '"isr":[3,2],"leader":2'
    (at,) = [i for i, line in enumerate(lines) if wanted in line and "S73PmVhjQ4aVXUCzKmwIew" in line][:1]
    lines[at] = lines[at].replace(wanted, '"isr":[3,2],"leader":1')
    dump = tmp_path / "metadata.txt"
    dump.write_text("".join(lines))
    _, validation = answer([dump])
    assert validation.verdict is TraceVerdict.INCONSISTENT
    assert validation.violations[0].place.line == at + 1
