"""Real clusters, recorded while they were being broken: none is a false alarm, and what was done to them is found in the answer.

The recordings hold only what the nodes logged. What is pinned about faults comes from the recorder's own list of what it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.stages import everyday, slow

from assay.report.logs.first_screen import MOST_LINES, first_screen
from assay.traces.diagnosis.node_settings import overview
from assay.traces.event import Event
from assay.traces.log_reader import LogReading
from assay.traces.result import TraceVerdict

from .recorded import archive, elections, unpack, validate_paths, validated_run, zombies


@dataclass(frozen=True)
class Recording:
    """A ZooKeeper-mode run: events of use to the model, in all and of brokers alone; elected processes; living deposed controllers."""

    run: str
    version: str
    used: int
    used_of_brokers: int
    elected: tuple[str, ...]
    zombies: frozenset[tuple[str, int]] = frozenset()

    def __str__(self) -> str:
        return self.run


RECORDINGS = [
    Recording("A0", "2.8.2", 796, 796, ("broker-3",)),
    Recording("A1", "2.8.2", 1225, 1223, ("broker-2", "broker-1", "broker-3", "broker-2#2", "broker-3#2")),
    Recording(
        "A2",
        "2.8.2",
        1276,
        1268,
        ("broker-2", "broker-3", "broker-1", "broker-3"),
        # the one paused, the other cut off from ZooKeeper
        frozenset({("broker-2", 1), ("broker-3", 2)}),
    ),
    Recording(
        "A3",
        "2.8.2",
        1697,
        1689,
        ("broker-3", "broker-2", "broker-3#2", "broker-2", "broker-3#3"),
        frozenset({("broker-2", 2)}),
    ),
    Recording(
        "A4",
        "2.8.2",
        1531,
        1520,
        ("broker-3", "broker-1", "broker-3"),
        # twice, the controller was cut off from ZooKeeper and went on acting
        frozenset({("broker-3", 1), ("broker-1", 2)}),
    ),
    Recording(
        "A6",
        "2.4.1",
        5015,
        5006,
        ("broker-2", "broker-1", "broker-3", "broker-2#2"),
        frozenset({("broker-1", 2), ("broker-3", 3)}),
    ),
    Recording("A9", "2.8.2", 1685, 1675, ("broker-3", "broker-3", "broker-2#3", "broker-3#2")),
    Recording(
        "B1",
        "3.9.1",
        2111,
        2104,
        ("broker-3", "broker-1", "broker-2", "broker-1", "broker-3#2"),
        frozenset({("broker-1", 2)}),
    ),
    Recording("B3", "3.9.1", 1591, 1586, ("broker-1", "broker-2", "broker-1#2", "broker-3#2")),
]


def events(reading: LogReading, kind: str) -> list[Event]:
    return [event for event in reading.events if event.kind == kind]


def file_of(event: Event) -> str:
    """The node's directory and the file in it."""
    return "/".join(event.record.place.file.split("/")[-2:])


@pytest.mark.parametrize("recording", everyday(RECORDINGS, 2), ids=str)
def test_a_recorded_cluster_is_consistent_and_no_line_of_it_is_unknown(recording: Recording) -> None:
    reading, validation = validated_run(recording.run)
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert validation.violations == ()
    assert validation.properties == ()
    assert len(first_screen(validation, overview(reading))) <= MOST_LINES
    counts = validation.counts
    assert (counts.used, counts.unmapped) == (recording.used, 0)
    assert counts.read == counts.used + counts.ignored
    assert reading.versions == (recording.version,)


@pytest.mark.parametrize("recording", everyday(RECORDINGS, 2), ids=str)
def test_the_execution_has_the_elections_and_the_zombies_that_the_faults_brought_about(recording: Recording) -> None:
    _, validation = validated_run(recording.run)
    assert elections(validation) == list(enumerate(recording.elected, start=1))
    assert zombies(validation) == recording.zombies


@pytest.mark.parametrize(
    "recording", [RECORDINGS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in RECORDINGS[1:])], ids=str
)
def test_the_logs_of_the_brokers_alone_are_consistent_too(recording: Recording, tmp_path: Path) -> None:
    """Without ZooKeeper's own log the ends of sessions are hidden steps; the verdict and the elections stay."""
    nodes = [path for path in unpack(recording.run, tmp_path).iterdir() if path.name != "zookeeper"]
    _, validation = validate_paths(sorted(nodes))
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert (validation.counts.used, validation.counts.unmapped) == (recording.used_of_brokers, 0)
    assert elections(validation) == list(enumerate(recording.elected, start=1))
    assert (validation.hidden.get("expire", 0) > 0) == (recording.used_of_brokers < recording.used)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "node", "broker", "line", "holder"),
    [
        ("A2", "broker-1-duplicate", 1, 530, "broker 1 (process broker-1)"),
        slow(("B1", "broker-3-duplicate", 3, 391, "broker 3 (process broker-3#2)")),
    ],
)
def test_a_second_process_with_a_broker_id_in_use_is_found_with_the_process_that_uses_it(
    run: str, node: str, broker: int, line: int, holder: str
) -> None:
    reading, validation = validated_run(run)
    (refused,) = events(reading, "RegistrationRefused")
    assert (refused.run.node, refused.fields["broker"], refused.fields["holder"]) == (node, broker, holder)
    assert (file_of(refused), refused.record.place.line) == (f"{node}/server.log", line)
    assert holder in reading.explain(refused)
    assert validation.execution is not None
    (step,) = [step for step in validation.execution.steps if step.event == refused]
    assert step.action == "refuse_registration"


@pytest.mark.parametrize("run", ["C1", "C2"])
def test_a_kraft_cluster_is_of_no_use_to_the_model_of_zookeeper_mode(run: str) -> None:
    """No line is used, so that the answer is that nothing was checked; `test_kraft_logs` has the model that is for it."""
    _, validation = validated_run(run)
    assert validation.verdict is TraceVerdict.VACUOUS
    assert (validation.counts.used, validation.violations) == (0, ())


def test_the_recordings_are_small_and_hold_only_what_nodes_logged(tmp_path: Path) -> None:
    runs = [*(recording.run for recording in RECORDINGS), "C1", "C2"]
    assert sum(archive(run).stat().st_size for run in runs) < 1 << 20
    for run in runs:
        names = {path.name.split("-")[0] for path in unpack(run, tmp_path).iterdir()}
        assert names in ({"broker", "zookeeper"}, {"broker", "controller"})
