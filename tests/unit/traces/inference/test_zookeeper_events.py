"""Logs that begin in mid-life: what must have come before is supposed, read off the lines that follow."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.stages import everyday

from assay.cli.settings import load
from assay.traces.coverage import coverage_of
from assay.traces.event import Event
from assay.traces.inference.facts import unregistered_members, untold_events
from assay.traces.inference.zookeeper_events import supposed_events
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.result import Execution, TraceVerdict, Validation
from assay.traces.samples import unpack_sample
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import validate_with_selection
from assay.traces.validate import INFERRED_BEFORE

RECORD = re.compile(r"^(?=\[\d{4}-)", re.MULTILINE)
KINDS = (
    *("ProcessStarting", "SessionEstablished", "BrokerNodeCreated"),
    *("EpochFound", "ControllerElected", "BrokersFound"),
    *("SessionLost", "BrokerRegisteredUnnumbered"),
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return unpack_sample("elections", tmp_path)


def since(logs: Path, time: str) -> None:
    """Leave of every file what was written from a time on, as those have it who look at the last hours."""
    for path in logs.rglob("*.log*"):
        records = RECORD.split(path.read_text())
        path.write_text("".join(each for each in records if each[1:].split(" ", 1)[-1][:12] >= time))


def events(logs: Path) -> list[Event]:
    return supposed_events(read_logs([logs]), KINDS)


def fields(found: list[Event], kind: str) -> list[dict[str, object]]:
    return [dict(event.fields) for event in found if event.kind == kind]


def answer(logs: Path) -> Validation:
    return validate_with_selection(read_logs([logs]), None, lambda spec: load(spec, None, {}))[1]


def test_nothing_is_supposed_where_everything_is_told(logs: Path) -> None:
    assert not supposed_events(read_logs([logs]), KINDS)


def test_where_zookeepers_client_logs_warnings_alone_sessions_are_those_of_the_registrations(logs: Path) -> None:
    """``log4j.logger.org.apache.zookeeper=WARN`` is a common setting."""
    entered = {
        (event.fields["node"], event.fields["session"])
        for event in read_logs([logs]).of_kinds({"BrokerNodeCreated", "RegistrationRefused"})
    }
    for path in logs.glob("broker-*/server.log"):
        quiet = (each for each in RECORD.split(path.read_text()) if "INFO" not in each or "(org.apache.zoo" not in each)
        path.write_text("".join(quiet))
    opened = fields(list(untold_events(read_logs([logs]))), "SessionEstablished")
    assert {(each["node"], each["session"]) for each in opened} == entered
    assert len(opened) == len(entered)
    found = answer(logs)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert any("loggers are set to warnings" in each for each in found.rests_on)


def test_where_no_line_tells_of_a_start_the_prelude_does(logs: Path) -> None:
    """``log4j.logger.kafka.server.KafkaServer=WARN``: each process is one of its own, and started by its first line."""
    started = {event.fields["node"] for event in read_logs([logs]).of_kinds({"ProcessStarting"})}
    for path in logs.glob("broker-*/server.log"):
        path.write_text(
            "".join(each for each in RECORD.split(path.read_text()) if "(kafka.server.KafkaServer)" not in each)
        )
    supposed = list(untold_events(read_logs([logs])))
    assert {each["node"] for each in fields(supposed, "ProcessStarting")} == started
    assert answer(logs).verdict is TraceVerdict.CONSISTENT


def test_who_was_there_and_who_reigned_is_read_off_later_lines(logs: Path) -> None:
    since(logs, "01:45:40,000")
    found = events(logs)
    entered = fields(found, "BrokerNodeCreated")
    told = {(each["broker"], each["node"]) for each in entered}
    assert told == {(number, f"broker-{number}") for number in (1, 2, 3)}
    numbers = [int(str(each["epoch"])) for each in entered]
    assert numbers == sorted(set(numbers))
    (elected,) = fields(found, "ControllerElected")
    assert elected["epoch"] == elected["version"]
    assert fields(found, "EpochFound") == ([] if elected["epoch"] == 1 else [{"epoch": int(str(elected["epoch"])) - 1}])


def test_what_is_supposed_is_marked(logs: Path) -> None:
    since(logs, "01:45:40,000")
    found = events(logs)
    assert found
    assert all(event.is_inferred and event.record.message.startswith("supposed: ") for event in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "time", everyday(["01:45:30,000", "01:45:50,000", "01:46:10,000", "01:46:30,000", "01:46:50,000"], 1)
)
def test_logs_from_any_time_on_are_explained_and_their_partitions_checked(logs: Path, time: str) -> None:
    since(logs, time)
    validation = answer(logs)
    assert validation.violations == ()
    assert validation.verdict in {TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE}
    assert INFERRED_BEFORE in validation.rests_on
    assert len(validation.slices) >= 11
    assert any("supposed that this came before the lines" in notice.text for notice in validation.notices)


@pytest.mark.slow
def test_supposed_events_are_not_counted(logs: Path) -> None:
    since(logs, "01:46:10,000")
    reading = read_logs([logs])
    counts = validate_in_scope(load("kafka/controller", None, {}), reading, Options()).counts
    assert counts.read == counts.used + counts.ignored + counts.unmapped == sum(reading.kinds.values())


def test_a_broker_without_logs_is_supposed_to_have_run(logs: Path) -> None:
    kept = [logs / name for name in ("broker-1", "broker-2", "zookeeper")]
    found = supposed_events(read_logs(kept), KINDS)
    assert {event.fields["node"] for event in found if event.kind == "ProcessStarting"} == {"broker 3"}


def test_who_reigned_and_is_there_again_entered_after_the_reign(logs: Path) -> None:
    """Broker 2 was the first controller; the number that broker 3 reads when it is elected is of its next session."""
    found = [event for event in events(logs / "broker-3") if event.kind == "BrokerNodeCreated"]
    (first, second) = [event for event in found if event.fields["broker"] == 2]
    assert (first.fields["epoch"], second.fields["epoch"]) == (1, 138)
    (reign,) = [event for event in events(logs / "broker-3") if event.fields.get("winner") == 1]
    assert (first.record.time or 0) < (reign.record.time or 0) < (second.record.time or 0)


def test_who_reigns_a_second_time_has_entered_again(logs: Path) -> None:
    """state-change.log alone tells of no session at all."""
    for path in logs.rglob("*.log"):
        if path.name != "state-change.log":
            path.unlink()
    found = events(logs)
    winners = Counter(each["winner"] for each in fields(found, "ControllerElected"))
    again = Counter(each["broker"] for each in fields(found, "BrokerRegisteredUnnumbered"))
    assert again == winners - Counter(winners.keys())
    assert again
    assert len(fields(found, "SessionLost")) == again.total()


@pytest.mark.slow
def test_a_rule_that_is_broken_later_is_still_found(logs: Path) -> None:
    """A write that skips the leader epoch of the one before it."""
    since(logs, "01:45:50,000")
    path = next(
        path for path in sorted(logs.glob("broker-*/state-change.log")) if "OnlinePartition" in path.read_text()
    )
    lines = path.read_text().splitlines(keepends=True)
    at = max(n for n, line in enumerate(lines) if re.search(r"leaderEpoch=\d+", line) and "OnlinePartition" in line)
    lines[at] = re.sub(r"leaderEpoch=(\d+)", lambda found: f"leaderEpoch={int(found[1]) + 5}", lines[at])
    path.write_text("".join(lines))
    assert answer(logs).violations != ()


@pytest.mark.slow
def test_what_is_supposed_is_neither_coverage_nor_changed_by_mutants(logs: Path) -> None:
    """No line tells of it, so that no log has exercised it, and no line can state it wrongly."""
    since(logs, "01:46:10,000")
    reading = read_logs([logs])
    loaded = load("kafka/cluster", None, {})
    validation = validate_in_scope(loaded, reading, Options(mutants=6))
    assert validation.execution is not None
    taken = [step.action for step in validation.execution.steps if step.event is not None and step.event.is_inferred]
    assert "register" in {str(action).rpartition(".")[2] for action in taken}
    everything = sum(step.action is not None for run in executions(validation) for step in run.steps)
    assert sum(coverage_of(validation).actions.values()) == everything - len(taken)
    assert validation.kill_rate is not None
    assert validation.kill_rate.mutants == 6
    assert not any(each.event is not None and each.event.is_inferred for each in validation.kill_rate.survivors)


def executions(validation: Validation) -> list[Execution]:
    every = [validation.execution, *(each.execution for each in validation.slices)]
    return [each for each in every if each is not None]


def test_who_was_elected_is_the_run_that_was_there_then(logs: Path) -> None:
    """Of broker 2 the controller's log alone is missing: it reigned twice, and was started again in between."""
    (logs / "broker-2" / "controller.log").unlink()
    elected = fields(events(logs), "ControllerElected")
    assert [(each["epoch"], each["node"]) for each in elected] == [(1, "broker-2"), (4, "broker-2#2")]


def test_who_is_new_to_a_controller_has_registered_shortly_before_where_no_line_has_a_number(tmp_path: Path) -> None:
    changes = ("2, deleted brokers: , all live brokers: 1,2", ", deleted brokers: 2, all live brokers: 1")
    written = "".join(
        f"[2026-11-21 01:0{minute}:00,000] INFO [Controller id=1] Newly added brokers: {change} (kafka.controller.KafkaController)\n"
        for minute, change in enumerate((*changes, *changes))
    )
    (tmp_path / "controller.log").write_text(written)
    found = [each for each in events(tmp_path) if each.fields.get("node") == "broker 2"]
    opened = "SessionEstablished", "BrokerRegisteredUnnumbered"
    assert [each.kind for each in found] == ["ProcessStarting", *opened, "SessionLost", *opened]
    assert [(each.record.time or 0) // 60_000 % 60 for each in found] == [0, 0, 0, 2, 2, 2]


def test_a_registration_without_a_line_is_supposed_though_an_earlier_one_has_one(tmp_path: Path) -> None:
    """Broker 2 is new, deleted, and new again; its second registration has no line."""
    registered = "Registered broker 2 at path /brokers/ids/2 with addresses: ArrayBuffer(EndPoint(h,9092)) (kafka.zk.KafkaZkClient)"
    changes = ("2, deleted brokers: , all live brokers: 1,2", ", deleted brokers: 2, all live brokers: 1")
    lines = [f"[Controller id=1] Newly added brokers: {each} (kafka.controller.KafkaController)" for each in changes]
    text = (registered, lines[0], lines[1], lines[0])
    (tmp_path / "server.log").write_text(
        "".join(f"[2026-11-21 01:0{minute}:00,000] INFO {line}\n" for minute, line in enumerate(text))
    )
    found = [(member, fact.event.record.place.line) for member, fact in unregistered_members(read_logs([tmp_path]))]
    assert found == [(2, 4)]


@pytest.mark.parametrize("lost", [False, True], ids=["connected again", "lost its session"])
def test_who_registered_unseen_did_so_in_the_session_in_which_it_connects_again(tmp_path: Path, *, lost: bool) -> None:
    """Of broker 3 a stretch of lines is missing, in which it registered with 238."""
    number, zookeeper = 0x1000019C9A90006, "(kafka.zk.KafkaZkClient)"
    expired = "[2026-11-23 06:43:12,000] INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)\n"
    (tmp_path / "broker-3").mkdir()
    (tmp_path / "broker-3" / "server.log").write_text(
        f"[2026-11-23 06:41:05,639] INFO Creating /brokers/ids/3 (is it secure? false) {zookeeper}\n"
        f"[2026-11-23 06:41:05,650] INFO Stat of the created znode at /brokers/ids/3 is: 203,203,1,1,1,0,0,9,198,0,203 {zookeeper}\n"
        f"{expired if lost else ''}[2026-11-23 06:43:13,245] INFO Session establishment complete on server h/1:2181, "
        f"sessionid = {number:#x}, negotiated timeout = 6000 (org.apache.zookeeper.ClientCnxn)\n"
    )
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "controller.log").write_text(
        "[2026-11-23 06:42:54,058] INFO [Controller id=1] Updated broker epochs cache: HashMap(1 -> 168, 3 -> 238) (kafka.controller.KafkaController)\n"
    )
    (entered,) = (each for each in fields(events(tmp_path), "BrokerNodeCreated") if each["epoch"] == 238)
    assert entered["session"] == ("session of broker-3 with 238" if lost else f"{number:#x}")


def test_a_registration_in_a_stretch_of_missing_lines_is_that_of_the_run_of_the_time(tmp_path: Path) -> None:
    """Broker 1 starts again and opens a session; of its registration, and of the second after it, no line is there."""
    start = "INFO starting (kafka.server.KafkaServer)"
    opened = "INFO Session establishment complete on server h/1:2181, sessionid = {:#x}, negotiated timeout = 6000"
    lines = [
        ("01:50:00,000", start),
        ("01:50:00,200", opened.format(4) + " (org.apache.zookeeper.ClientCnxn)"),
        ("01:50:00,300", "INFO Creating /brokers/ids/1 (is it secure? false) (kafka.zk.KafkaZkClient)"),
        (
            "01:50:00,310",
            "INFO Stat of the created znode at /brokers/ids/1 is: 60,60,1,1,1,0,0,4,198,0,60 (kafka.zk.KafkaZkClient)",
        ),
        ("01:54:36,355", start),
        ("01:54:36,684", opened.format(6) + " (org.apache.zookeeper.ClientCnxn)"),
        (
            "01:55:35,184",
            "INFO [Controller id=1] Initialized broker epochs cache: HashMap(1 -> 226) (kafka.controller.KafkaController)",
        ),
    ]
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text("".join(f"[2026-11-21 {time}] {text}\n" for time, text in lines))
    found = events(tmp_path)
    entered = [each for each in fields(found, "BrokerNodeCreated") if each["epoch"] == 226]
    assert [(each["node"], each["session"]) for each in entered] == [("broker-1#2", "0x6")]
    assert not fields(found, "ProcessStarting")
