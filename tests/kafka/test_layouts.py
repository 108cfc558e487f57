"""What is read of a recording does not depend on the layout of its lines, nor on who collected, rotated or copied them."""

from __future__ import annotations

import io
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.stages import everyday, slow

from assay.cli.settings import load
from assay.traces.attribution.attribution import RunStream
from assay.traces.attribution.run_events import LogEvents
from assay.traces.event import Event
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict, Validation
from assay.traces.samples import unpack_sample
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.store.single_record_templates import SingleRecordLayouts

from .exports import EXPORTS, export_folder
from .rewriting import (
    HEADER,
    LAYOUTS,
    NAMELESS,
    PREFIXES,
    WRAPPERS,
    Place,
    Record,
    collect_folder,
    rewrite_folder,
    wrapped,
)

COARSE = {"no milliseconds", "month by name, no year, no milliseconds"}
"""Layouts in which two lines of different files often have the same time: then the session of one cannot be told from the other's."""
UNDATED = {"no year", "month by name, no year, no milliseconds", "no date"}
Signature = Counter[tuple[object, ...]]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_sample("elections", tmp_path_factory.mktemp("recording"))


@pytest.fixture(scope="module")
def original(recording: Path) -> LogReading:
    return read_logs([recording])


def signature(reading: LogReading, *, times: bool = True, sessions: bool = True) -> Signature:
    """Everything that a reading says of its events, but for their places."""

    def of(event: Event) -> tuple[object, ...]:
        fields = {name: str(value) for name, value in event.fields.items() if sessions or name != "session"}
        time = event.record.time if times else None
        return event.kind, str(event.run), event.record.level, event.record.logger, time, tuple(sorted(fields.items()))

    return Counter(of(event) for event in reading.events)


def answer(reading: LogReading) -> Validation:
    return validate_in_scope(load("kafka/controller", None, {}), reading, DEFAULT_OPTIONS)


def kinds_of_notices(reading: LogReading) -> set[str]:
    return {notice.kind for notice in reading.notices}


@pytest.mark.parametrize("layout", everyday(list(LAYOUTS), 2))
def test_a_layout_hides_no_event_and_adds_none(
    layout: str, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    rewrite_folder(recording, tmp_path, LAYOUTS[layout])
    reading = read_logs([tmp_path])
    exact, dated = layout not in COARSE, layout not in COARSE | UNDATED
    assert signature(reading, times=dated, sessions=exact) == signature(original, times=dated, sessions=exact)
    assert (reading.records, reading.unmapped) == (original.records, ())
    assert kinds_of_notices(reading) <= {"no year", "no date", "no logger", "cut off", "not understood", "layout"}
    assert ("no year" in kinds_of_notices(reading)) == ("no year" in layout)


@pytest.mark.parametrize("layout", everyday(list(LAYOUTS)[1::3], 1))
def test_records_of_any_layout_are_packed_and_are_what_they_are_unpacked(
    layout: str, recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite_folder(recording, tmp_path, LAYOUTS[layout])
    packed = read_logs([tmp_path])
    assert sum(map(count_packed, packed.streams)) > 0.85 * sum(len(stream.events) for stream in packed.streams)
    monkeypatch.setattr(SingleRecordLayouts, "keep", lambda *_: False)
    whole = read_logs([tmp_path])
    assert list(whole.events) == list(packed.events)
    assert by_thread(whole) == by_thread(packed)


def count_packed(stream: RunStream) -> int:
    return sum(len(packed.at) for packed in stream.events.packed()) if isinstance(stream.events, LogEvents) else 0


def by_thread(reading: LogReading) -> set[tuple[int, ...]]:
    """The positions of the events of each thread of each stream."""
    table = reading.events
    return {tuple(own.tolist()) for own in table.by_stream(np.arange(len(table)), threads=True)}


@pytest.mark.everyday(3)
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("layout", ["stock", pytest.param("spring boot 2", marks=pytest.mark.slow)])
def test_a_prefix_hides_no_event_and_adds_none(
    prefix: str, layout: str, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    if prefix in NAMELESS:
        for node in recording.iterdir():
            collect_folder(node, tmp_path / node.name, PREFIXES[prefix], LAYOUTS[layout])
    else:
        collect_folder(recording, tmp_path, PREFIXES[prefix], LAYOUTS[layout])
    reading = read_logs([tmp_path])
    assert {node.name for node in reading.nodes} == {node.name for node in original.nodes}
    assert signature(reading) == signature(original)
    assert reading.unmapped == ()
    assert kinds_of_notices(reading) == {"layout"}


@pytest.mark.parametrize("name", everyday(list(EXPORTS), 2))
def test_an_export_hides_no_event_and_adds_none(
    name: str, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    export_folder(recording, tmp_path, EXPORTS[name])
    reading = read_logs([tmp_path])
    assert len(reading.nodes) == len(original.nodes)
    assert reading.kinds == original.kinds
    assert reading.unmapped == ()


def _as_it_is(at: Place, record: Record, line: str) -> str:
    return line


def without_continuations(data: bytes) -> bytes:
    """The lines on which records begin, as grep finds them."""
    return b"".join(line for line in data.splitlines(keepends=True) if HEADER.match(line))


@pytest.mark.parametrize("seed", everyday(range(24), 1))
def test_any_layout_behind_any_collector_in_any_parts_says_the_same(
    seed: int, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    """Each node has a layout of its own; a collector keeps each file, or all that a node wrote, rotated or not."""
    chance = random.Random(seed)
    exact = [name for name in LAYOUTS if name not in COARSE | UNDATED]
    wrapper = chance.choice([None, *WRAPPERS])
    for node in sorted(recording.iterdir()):
        layout = LAYOUTS[chance.choice(exact)]
        for path in sorted(node.rglob("*.log")):
            data = path.read_bytes()
            wrap = (lambda at, record, line: line) if wrapper is None else WRAPPERS[wrapper]
            lines = wrapped(data, node.name, path.name, wrap, layout)
            named = wrapper is not None and wrapper not in NAMELESS
            target = tmp_path / (f"{path.stem}-{node.name}" if named else f"{node.name}/{path.name}")
            target.parent.mkdir(exist_ok=True)
            target.write_text("".join(line + "\n" for line in lines))
    reading = read_logs([tmp_path])
    assert signature(reading) == signature(original)
    assert reading.unmapped == ()


@pytest.mark.parametrize("prefix", ["docker compose", slow("journald"), slow("grep -Rn")])
def test_an_event_behind_a_prefix_has_the_place_that_it_has_in_the_file(
    prefix: str, recording: Path, tmp_path: Path
) -> None:
    collect_folder(recording, tmp_path, PREFIXES[prefix], LAYOUTS["stock"])
    data = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for event in read_logs([tmp_path]).events:
        place = event.record.place
        content = data[Path(place.file)]
        assert content[: place.offset].count(b"\n") == place.line - 1
        line = content[place.offset : content.index(b"\n", place.offset)].decode()
        assert event.record.message.partition("\n")[0] in line


@pytest.mark.parametrize(
    ("file", "prefix"), [slow((None, None)), slow(("thread last", None)), ("stock", "docker compose")]
)
def test_the_verdict_and_the_events_used_are_those_of_the_recording(
    file: str | None, prefix: str | None, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    if prefix is not None:
        collect_folder(recording, tmp_path, PREFIXES[prefix], LAYOUTS[file or "stock"])
    else:
        rewrite_folder(recording, tmp_path, LAYOUTS[file or "stock"])
    found = answer(read_logs([tmp_path]))
    assert (found.verdict, found.counts.used) == (TraceVerdict.CONSISTENT, 1225)
    assert found.counts == answer(original).counts


@pytest.mark.slow
@pytest.mark.parametrize("layout", sorted({*COARSE, *UNDATED, "spring boot 3", "thread in brackets"}))
def test_a_layout_with_coarse_times_or_threads_has_the_verdict_of_the_recording(
    layout: str, recording: Path, tmp_path: Path
) -> None:
    rewrite_folder(recording, tmp_path, LAYOUTS[layout])
    found = answer(read_logs([tmp_path]))
    assert (found.verdict, found.counts.used) == (TraceVerdict.CONSISTENT, 1225)


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["kubectl", "journald", "grep -R"])
def test_a_prefix_leaves_the_verdict_of_the_recording(prefix: str, recording: Path, tmp_path: Path) -> None:
    collect_folder(recording, tmp_path, PREFIXES[prefix], LAYOUTS["stock"])
    found = answer(read_logs([tmp_path]))
    assert (found.verdict, found.counts.used) == (TraceVerdict.CONSISTENT, 1225)


def test_containers_of_one_file_may_have_different_layouts(
    recording: Path, original: LogReading, tmp_path: Path
) -> None:
    for name, layout in (("broker-1", "thread last"), ("broker-2", "spring boot 3"), ("zookeeper", "zookeeper")):
        shutil.rmtree(tmp_path / "part", ignore_errors=True)
        collect_folder(recording / name, tmp_path / "part", PREFIXES["docker compose"], LAYOUTS[layout])
        with (tmp_path / "all.txt").open("ab") as out:
            for path in sorted((tmp_path / "part").iterdir()):
                if "server" in path.name:
                    out.write(path.read_bytes())
    reading = read_logs([tmp_path / "all.txt"])
    wanted = [event for event in original.events if event.record.place.file.endswith("server.log")]
    wanted = [event for event in wanted if event.run.node != "broker-3"]
    assert Counter(event.kind for event in reading.events) == Counter(event.kind for event in wanted)


@pytest.mark.slow
def test_lines_of_all_brokers_in_one_file_without_their_names_are_no_false_alarm(
    recording: Path, tmp_path: Path
) -> None:
    """A node comes from what a line says; where it says nothing, the line is nobody's, and counted."""
    collect_folder(recording, tmp_path, lambda at, record: "", LAYOUTS["stock"])
    reading = read_logs([tmp_path])
    assert "merged nodes" in kinds_of_notices(reading)
    nobody = [event for event in reading.events if event.fields["node"] is None]
    assert nobody
    assert {event.run.node.rpartition("/")[2] for event in nobody} == {"?"}
    found = answer(reading)
    assert found.verdict is not TraceVerdict.INCONSISTENT
    assert found.counts.read == found.counts.used + found.counts.ignored + found.counts.unmapped
    assert "begin after its start" not in str(found.reason)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("names", [["server", "controller", "state-change"], ["all"]])
def test_files_of_several_brokers_put_one_behind_another_are_read_as_what_they_were(
    names: list[str], recording: Path, original: LogReading, tmp_path: Path
) -> None:
    for path in sorted(recording.glob("broker-*/*.log")):
        with (tmp_path / f"{path.stem if len(names) > 1 else names[0]}.log").open("ab") as out:
            out.write(path.read_bytes())
    reading = read_logs([tmp_path])
    assert "joined files" in kinds_of_notices(reading)
    nodes = sorted({folder.name for folder in recording.glob("broker-*")})
    assert sorted({event.run.node.rpartition("/")[2] for event in reading.events}) == [n[-1] for n in nodes]
    wanted = [event for event in original.events if event.run.node in nodes]
    assert Counter(event.kind for event in reading.events) == Counter(event.kind for event in wanted)
    assert answer(reading).verdict is TraceVerdict.CONSISTENT


def rotated(path: Path, names: list[str]) -> None:
    """Cut a file into parts of those names, the oldest first, as rotation does: between records."""
    data = path.read_bytes()
    starts = [head.start() for head in HEADER.finditer(data)]
    cuts = [starts[len(starts) * number // len(names)] for number in range(len(names))]
    path.unlink()
    for name, begin, end in zip(names, cuts, [*cuts[1:], len(data)], strict=True):
        (path.parent / name).write_bytes(data[begin:end])


@pytest.mark.everyday(2)
@pytest.mark.parametrize(
    "names",
    [
        ["{0}.log.2", "{0}.log.1", "{0}.log"],
        ["{0}.log.2026-11-21-00", "{0}.log.2026-11-21-01", "{0}.log"],
        ["{0}-2026-11-21-1.log", "{0}-2026-11-21-2.log", "{0}.log"],
        ["{0}.log-20261121", "{0}.log-20261122", "{0}.log"],
        ["{0}.2026-11-21.0.log", "{0}.2026-11-21.1.log", "{0}.log"],
    ],
)
def test_a_rotated_log_is_one_sequence_of_lines(
    names: list[str], recording: Path, original: LogReading, tmp_path: Path
) -> None:
    logs = shutil.copytree(recording, tmp_path / "logs")
    for path in sorted(logs.rglob("*.log")):
        rotated(path, [name.format(path.stem) for name in names])
    reading = read_logs([logs])
    assert signature(reading) == signature(original)
    assert [(str(s.run), len(s.events)) for s in reading.streams] == [
        (str(s.run), len(s.events)) for s in original.streams
    ]
    files = {event.record.place.file.rpartition("/")[2] for event in reading.events if event.run.node == "broker-1"}
    assert {name.format("server") for name in names} <= files


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", ["logcli -o jsonl", slow(None)])
def test_a_log_with_its_newest_line_first_is_turned_around(
    wrapper: str | None, recording: Path, original: LogReading, tmp_path: Path
) -> None:
    for path in sorted(recording.rglob("*.log")):
        wrap = _as_it_is if wrapper is None else WRAPPERS[wrapper]
        data = path.read_bytes()
        lines = wrapped(data, path.parent.name, path.name, wrap, LAYOUTS["stock"])
        to = tmp_path / path.relative_to(recording)
        to.parent.mkdir(exist_ok=True)
        to.write_text("".join(line + "\n" for line in reversed(lines)))
    reading = read_logs([tmp_path])
    elected = Counter({kind: original.kinds[kind] for kind in ("ControllerElected", "PartitionState", "BecameLeader")})
    assert Counter({kind: reading.kinds[kind] for kind in elected}) == elected
    assert "newest first" in kinds_of_notices(reading)
    assert answer(reading).verdict is TraceVerdict.CONSISTENT


@pytest.mark.slow
def test_records_that_lost_all_lines_but_the_first_are_known_by_their_words(recording: Path, tmp_path: Path) -> None:
    """Where the logger stands at the end of the last line, it is cut off. The layout of the records that follow is
    known all the same.
    """
    for path in sorted(recording.rglob("*.log")):
        to = tmp_path / path.relative_to(recording)
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(without_continuations(path.read_bytes()))
    found = answer(read_logs([tmp_path]))
    assert (found.verdict, found.counts.used) == (TraceVerdict.CONSISTENT, 1225)


def test_files_that_overlap_are_counted_once(recording: Path, original: LogReading, tmp_path: Path) -> None:
    """A log was saved twice while it grew, into another directory: the node is the same, and so are the lines."""
    logs = shutil.copytree(recording, tmp_path / "day-2")
    for path in sorted(recording.rglob("*.log")):
        lines = path.read_bytes().splitlines(keepends=True)
        earlier = tmp_path / "day-1" / path.relative_to(recording)
        earlier.parent.mkdir(parents=True, exist_ok=True)
        earlier.write_bytes(b"".join(lines[: len(lines) // 2]))
        (logs / path.relative_to(recording)).write_bytes(b"".join(lines[len(lines) // 4 :]))
    reading = read_logs([tmp_path / "day-1", logs])
    kinds = Counter(event.kind for event in reading.events)
    assert kinds == Counter(event.kind for event in original.events)
    assert Counter(str(e.run).rpartition("/")[2] for e in reading.events) == Counter(
        str(e.run) for e in original.events
    )
    assert "duplicated input" in kinds_of_notices(reading)
    assert {node.runs for node in reading.nodes} == {node.runs for node in original.nodes}


def test_lines_that_a_logger_wrote_into_two_files_are_counted_once(
    recording: Path, original: LogReading, tmp_path: Path
) -> None:
    """With additive loggers, the controller's lines are in server.log too."""
    logs = shutil.copytree(recording, tmp_path / "logs")
    for node in ("broker-1", "broker-2", "broker-3"):
        parts = [
            (logs / node / name).read_text().splitlines(keepends=True) for name in ("server.log", "controller.log")
        ]
        merged = "".join(parts[0]) + "".join(parts[1])
        (logs / node / "server.log").write_text(merged)
    reading = read_logs([logs])
    assert Counter(event.kind for event in reading.events) == Counter(event.kind for event in original.events)


def test_two_brokers_that_log_the_same_words_at_the_same_time_are_two(tmp_path: Path) -> None:
    line = "[2026-11-21 01:45:0{0},000] INFO starting (kafka.server.KafkaServer)\n"
    own = "[2026-11-21 01:45:09,00{0}] INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)\n"
    for broker in (1, 2):
        (tmp_path / f"b{broker}").mkdir()
        more = "".join(own.format(broker) for _ in range(8))
        (tmp_path / f"b{broker}" / "server.log").write_text("".join(map(line.format, range(3))) + more)
    reading = read_logs([tmp_path])
    assert Counter(event.kind for event in reading.events) == {"ProcessStarting": 6, "BrokerStarted": 16}
    assert kinds_of_notices(reading) == set()


def test_standard_input_is_read_as_a_file(
    recording: Path, original: LogReading, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    collect_folder(recording, tmp_path, PREFIXES["grep -R"], LAYOUTS["stock"])
    data = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    reading = read_logs(["-"])
    assert signature(reading) == signature(original)
    assert {event.record.place.file for event in reading.events} == {"standard input"}
