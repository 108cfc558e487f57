"""Recording from Python: order, threads, processes, and disks without room."""

from __future__ import annotations

import asyncio
import enum
import errno
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from multiprocessing import util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.record import Recorder, RecordingHandler, RecordingSpanProcessor
from assay.record.own_file import OwnFile
from assay.record.recorder import MOST_HEADS


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Color(enum.Enum):
    Red = 1


def test_an_event_has_its_fields_and_what_is_known_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Recorder(path, node="n1", run=2) as log:
        log.record("Acquired", client="anna", color=Color.Red, seen={"b", "a"}, big=2**70)
        log.record("Idle")
        log.record("Late", time=5, thread="worker", odd={(1, 2): 3})
    first, second, third = lines(path)
    assert first.pop("time") > 1.6e12
    assert first == {
        "event": "Acquired",
        "node": "n1",
        "run": 2,
        "thread": "MainThread",
        "sequence": 1,
        "client": "anna",
        "color": "Red",
        "seen": ["a", "b"],
        "big": 2**70,
    }
    assert (second["event"], second["sequence"]) == ("Idle", 2)
    assert (third["time"], third["thread"], third["sequence"]) == (5, "worker", 3)


def test_what_the_recorder_writes_itself_is_no_field(tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl") as log, pytest.raises(TypeError, match="sequence"):
        log.record("Acquired", sequence=3)


def test_each_thread_has_a_name_and_its_events_are_in_order(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Recorder(path, flush_interval=0.001) as log:
        threads = [threading.Thread(target=many, args=(log, 3_000), name="worker") for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    found = lines(path)
    assert sorted(each["sequence"] for each in found) == list(range(1, 9_001))
    assert {each["thread"] for each in found} == {"worker", "worker (2)", "worker (3)"}
    for name in ("worker", "worker (2)", "worker (3)"):
        assert [each["number"] for each in found if each["thread"] == name] == list(range(3_000))


def many(log: Recorder, count: int) -> None:
    for number in range(count):
        log.record("Counted", number=number)


def test_tasks_of_one_thread_record_in_the_order_in_which_they_run(tmp_path: Path) -> None:
    async def work(name: str) -> None:
        for number in range(3):
            log.record("Turn", task=name, number=number)
            await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(work("a"), work("b"))

    with Recorder(tmp_path / "events.jsonl") as log:
        asyncio.run(both())
    assert [each["task"] for each in lines(log.path)] == ["a", "b"] * 3


def test_a_forked_process_writes_a_file_of_its_own(tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl") as log:
        log.record("Parent", number=1)
        child = os.fork()
        if child == 0:
            log.record("Child")
            log.flush()
            os._exit(0)
        log.record("Parent", number=2)
        assert os.waitpid(child, 0)[1] == 0
    own, other = log.files
    assert other.name == f"events-p{child}.jsonl"
    assert [(each["event"], each["sequence"]) for each in lines(own)] == [("Parent", 1), ("Parent", 2)]
    assert [(each["event"], each["sequence"], each["thread"]) for each in lines(other)] == [("Child", 1, "MainThread")]


def test_the_queue_is_written_before_a_fork_and_the_thread_starts_again(tmp_path: Path) -> None:
    before = threading.active_count()
    with Recorder(tmp_path / "events.jsonl", flush_interval=100) as log:
        log.record("Before", thread="own")
        assert threading.active_count() == before + 1
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert [each["event"] for each in lines(log.path)] == ["Before"]
        assert threading.active_count() == before
        log.record("After")
        assert threading.active_count() == before + 1
    assert [(each["event"], each["thread"]) for each in lines(log.path)] == [("Before", "own"), ("After", "MainThread")]


def test_a_recorder_that_is_sent_to_a_process_records_beside_the_first(tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl", node="n1") as log:
        log.record("First")
        with pickle.loads(pickle.dumps(log)) as again:
            again.record("Second")
    assert [path.name for path in log.files] == ["events.jsonl", f"events-p{os.getpid()}.jsonl"]
    assert [lines(path)[0]["event"] for path in log.files] == ["First", "Second"]


PROCESSES = """
import multiprocessing, sys
from assay.record import Recorder
def work(log, number):
    log.record("Worked", number=number)
if __name__ == "__main__":
    log = Recorder(sys.argv[1], flush_interval=100)
    context = multiprocessing.get_context(sys.argv[2])
    workers = [context.Process(target=work, args=(log, number)) for number in range(2)]
    for each in workers: each.start()
    for each in workers: each.join()
    log.record("Ended")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_lose_nothing_at_their_end(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROCESSES, encoding="utf-8")
    path = tmp_path / "events.jsonl"
    subprocess.run([sys.executable, "-W", "error", str(script), str(path), method], check=True)
    found = [each for file in tmp_path.glob("*.jsonl") for each in lines(file)]
    assert sorted((each["event"], each.get("number", -1)) for each in found) == [
        ("Ended", -1),
        ("Worked", 0),
        ("Worked", 1),
    ]


KILLED = """
import os, signal, sys
from assay.record import Recorder
log = Recorder(sys.argv[1], flush_interval=100)
log.record("Written")
log.flush()
log.record("Pending")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_only_what_was_not_written(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "e.jsonl")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [each["event"] for each in lines(tmp_path / "e.jsonl")] == ["Written"]


FULL = """
import logging, resource, signal, sys
from assay.record import Recorder
logging.basicConfig(format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = Recorder(sys.argv[1], flush_interval=100)
log.record("Kept")
log.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (150, resource.RLIM_INFINITY))
log.record("Cut"); log.record("Lost")
log.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.record("Later")
log.close()
print(log.lost)
"""


def test_events_that_find_no_room_are_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"
    assert "2 events could not be written" in done.stderr
    kept, cut, later, said = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(kept)["event"] == "Kept"
    assert cut.startswith('{"event":"Cut"')
    assert not cut.endswith("}")
    assert json.loads(later)["event"] == "Later"
    assert (json.loads(said)["event"], json.loads(said)["lost"]) == (None, 2)


def test_what_several_writes_have_lost_is_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _text: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = OwnFile(tmp_path / "events.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert [file.write([b"a\n", b"b\n"]), file.write([b"c\n"])] == [2, 1]
    assert file.write([b"d\n"]) == 0
    file.close()
    later, said = file.path.read_text(encoding="utf-8").splitlines()
    assert later == "d"
    assert json.loads(said)["lost"] == 3


def test_a_disk_that_is_full_from_the_start_does_not_stop_the_program(caplog: pytest.LogCaptureFixture) -> None:
    with Recorder("/dev/full", flush_interval=0) as log:
        for _ in range(100):
            log.record("Lost")
    assert log.lost == 100
    messages = [each.getMessage() for each in caplog.records]
    assert len(messages) == 8  # when twice as many are lost, and at the end
    assert messages[-1].endswith("No space left on device; 100 in all")


def test_a_line_that_a_killed_process_has_cut_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event":"Old"}\n{"event":"Cut","ti')
    with Recorder(path) as log:
        log.record("New")
    old, cut, new = path.read_text(encoding="utf-8").splitlines()
    assert (old, cut) == ('{"event":"Old"}', '{"event":"Cut","ti')
    assert json.loads(new)["event"] == "New"


class Detached:
    def __repr__(self) -> str:
        raise RuntimeError("the object is not connected")


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Detached(), "<Detached>"),
        ([Detached()], ["<Detached>"]),
        ({Detached()}, ["<Detached>"]),
        (nested(5_000), "<list>"),
        (10**5_000, "<int>"),
        ("\ud800", "\ud800"),
    ],
    ids=["raises", "raises in a list", "raises in a set", "deep", "long", "half of a pair"],
)
def test_no_value_stops_the_program(value: object, shown: object, tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl") as log:
        log.record("\ud800", value=value)
    (found,) = lines(tmp_path / "events.jsonl")
    assert (found["event"], found["value"]) == ("\ud800", shown)


def test_names_of_events_do_not_fill_the_memory(tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl", flush_interval=100) as log:
        for number in range(MOST_HEADS + 2):
            log.record(f"GET /{number}")
        assert len(log._heads) == 2
    assert [each["event"] for each in lines(tmp_path / "events.jsonl")[-2:]] == ["GET /4096", "GET /4097"]


def test_a_fork_leaves_no_further_function_to_be_called_at_the_end(tmp_path: Path) -> None:
    with Recorder(tmp_path / "events.jsonl") as log:
        log.record("First")
        before = len(util._finalizer_registry)  # type: ignore[attr-defined]
        for _ in range(3):
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            log.record("Again")
        assert len(util._finalizer_registry) == before  # type: ignore[attr-defined]


def test_what_is_recorded_after_the_end_is_counted(tmp_path: Path) -> None:
    log = Recorder(tmp_path / "events.jsonl")
    log.close()
    log.record("Late")
    log.flush()
    assert log.lost == 1


def test_a_file_that_cannot_be_opened_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        Recorder(tmp_path / "no" / "events.jsonl")


def test_log_records_that_name_an_event_are_recorded(tmp_path: Path) -> None:
    logger = logging.Logger("service")
    with Recorder(tmp_path / "events.jsonl") as log:
        logger.addHandler(RecordingHandler(log))
        logger.info("nothing of note")
        logger.warning("%s has it", "anna", extra={"event": "Acquired", "client": "anna"})
    [found] = lines(log.path)
    assert (found["event"], found["client"], found["message"], found["level"]) == (
        "Acquired",
        "anna",
        "anna has it",
        "WARNING",
    )


def test_spans_that_end_are_recorded(tmp_path: Path) -> None:
    span = SimpleNamespace(
        name="read",
        parent=SimpleNamespace(span_id=1),
        attributes={"key": "k", "event": "no field"},
        events=[SimpleNamespace(name="found", timestamp=1_500_000, attributes=None)],
        start_time=1_000_000,
        end_time=2_000_000,
        status=SimpleNamespace(status_code=SimpleNamespace(name="OK")),
        get_span_context=lambda: SimpleNamespace(trace_id=10, span_id=11),
    )
    with Recorder(tmp_path / "events.jsonl") as log:
        processor = RecordingSpanProcessor(log)
        processor.on_start(span)
        processor.on_end(span)
        RecordingSpanProcessor(log, frozenset({"write"})).on_end(span)
        assert processor.force_flush()
    inner, whole = lines(log.path)
    assert (inner["event"], inner["time"]) == ("found", 1.5)
    assert (whole["event"], whole["start"], whole["end"], whole["time"], whole["key"]) == ("read", 1.0, 2.0, 2.0, "k")
    assert (whole["status"], whole["parent_id"], whole["span_id"]) == ("OK", "0000000000000001", "000000000000000b")
