"""What an answer says of its input: nodes, versions, settings, clocks, and what is not among the logs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from assay.api.log_answers import validate
from assay.cli.main import invoke
from assay.traces.diagnosis.node_settings import Overview, overview
from assay.traces.event import Notice
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.result import TraceVerdict

from .recorded import unpack, validated_run

STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)


@pytest.fixture(scope="module")
def a1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack("A1", tmp_path_factory.mktemp("a1"))


def texts(found: Overview) -> list[str]:
    return [notice.text for notice in found.lacking]


def shifted(milliseconds: int) -> Callable[[re.Match[str]], str]:
    def shift(match: re.Match[str]) -> str:
        time = datetime.strptime(match[1] + "000", "%Y-%m-%d %H:%M:%S,%f") + timedelta(milliseconds=milliseconds)
        return f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}]"

    return shift


def test_nodes_have_their_ids_versions_runs_and_settings() -> None:
    found = overview(validated_run("A1")[0])
    assert [(each.node.name, each.node.brokers, each.node.versions, each.node.runs) for each in found.nodes] == [
        ("broker-1", (1,), ("2.8.2",), 2),
        ("broker-2", (2,), ("2.8.2",), 2),
        ("broker-3", (3,), ("2.8.2",), 2),
        ("zookeeper", (), (), 1),
    ]
    settings = found.nodes[0].settings
    assert settings["zookeeper.session.timeout.ms"] == "6000"
    assert settings["replica.lag.time.max.ms"] == "10000"
    assert settings["inter.broker.protocol.version"] == "2.8-IV1"
    assert "broker.heartbeat.interval.ms" in settings
    assert found.clusters == ("tlDr1Mr1TQaRFAFqEZitQg",)
    assert all(each.first is not None and each.last is not None and each.first < each.last for each in found.nodes)


def test_the_logs_of_brokers_alone_lack_those_of_zookeeper(a1: Path) -> None:
    assert not any("ZooKeeper" in text for text in texts(overview(read_logs([a1]))))
    found = overview(read_logs([path for path in a1.iterdir() if path.name != "zookeeper"]))
    assert "no log of ZooKeeper was read: when sessions ended is assumed, not known" in texts(found)


def test_controllers_that_a_configuration_names_and_that_have_no_log_are_missed() -> None:
    reading, _ = validated_run("C1")
    assert not any("quorum.voters" in text for text in texts(overview(reading)))


@pytest.mark.slow
def test_a_coarse_level_is_said_with_what_a_finer_one_would_tell() -> None:
    (text,) = texts(overview(validated_run("A1")[0]))
    assert text.startswith(
        "state.change.logger of broker-1, broker-2, broker-3 is at INFO: TRACE would tell the leader"
    )
    assert texts(overview(validated_run("A6")[0])) == []


@pytest.mark.parametrize(("shift", "kind"), [(-3000, "behind by at least"), (3000, "ahead by up to"), (0, None)])
def test_a_clock_that_is_wrong_is_found_with_its_evidence(
    shift: int, kind: str | None, a1: Path, tmp_path: Path
) -> None:
    logs = shutil.copytree(a1, tmp_path / "logs")
    for path in (logs / "broker-2").iterdir():
        path.write_text(STAMP.sub(shifted(shift), path.read_text()))
    found = overview(read_logs([logs]))
    clocks = {each.node.name: each.clock for each in found.nodes if each.clock is not None}
    assert clocks.keys() == {"broker-1", "broker-2", "broker-3"}
    assert 0 <= clocks["broker-2"].at_most - shift < 500
    assert clocks["broker-2"].lines == 2
    said: list[Notice] = [notice for notice in found.lacking if notice.kind == "clock"]
    assert [kind is not None and kind in notice.text and "broker-2" in notice.text for notice in said] == [True] * len(
        said
    )
    assert len(said) == (kind is not None)
    for notice in said:
        assert notice.place is not None
        line = Path(notice.place.file).read_text().splitlines()[notice.place.line - 1]
        assert "Stat of the created znode" in line


def test_a_rotated_part_that_is_missing_is_said(a1: Path, tmp_path: Path) -> None:
    node = shutil.copytree(a1 / "broker-1", tmp_path / "broker-1")
    lines = (node / "state-change.log").read_text().splitlines(keepends=True)
    quarter = len(lines) // 4
    for number, name in enumerate(("state-change.log.3", "state-change.log.2", "", "state-change.log")):
        if name:
            (node / name).write_text("".join(lines[number * quarter : (number + 1) * quarter]))
    notices = [notice for notice in read_logs([node]).notices if notice.kind == "missing part of a log"]
    assert [notice.text for notice in notices] == ["of state-change.log, the rotated parts 1 are missing"]


@pytest.mark.parametrize("others", ["on", "as far"])
def test_rotated_parts_whose_log_goes_on_in_a_file_that_is_missing_are_said(
    others: str, a1: Path, tmp_path: Path
) -> None:
    """A part is put aside when the next line is written; where all logs end with such parts, none has more than the others."""
    node = shutil.copytree(a1 / "broker-1", tmp_path / "broker-1")
    told_until = (node / "state-change.log").read_text().splitlines(keepends=True)[:100]
    (node / "state-change.log").write_text("".join(told_until))
    for path in node.glob("*.log") if others == "as far" else [node / "state-change.log"]:
        path.rename(f"{path}.2026-11-21-01")
    told = [notice.text for notice in read_logs([node]).notices if notice.kind == "missing part of a log"]
    said = "of state-change.log, rotated parts alone were read: what was written after state-change.log.2026-11-21-01 is missing"
    assert told == ([said] if others == "on" else [])


@pytest.mark.slow
def test_a_missing_end_of_a_log_leaves_a_healthy_one_consistent(a1: Path, tmp_path: Path) -> None:
    """What came after it is supposed, as with any other log that is missing, and the answer says so."""
    logs = shutil.copytree(a1, tmp_path / "logs")
    of_controller = logs / "broker-1" / "controller.log"
    lines = of_controller.read_text().splitlines(keepends=True)
    of_controller.with_name("controller.log.2026-11-21-01").write_text("".join(lines[: len(lines) * 2 // 3]))
    of_controller.unlink()
    answer = validate([logs])
    assert answer.verdict is TraceVerdict.CONSISTENT
    assert any("rotated parts alone were read" in each for each in answer.validation.rests_on)


def test_a_node_that_is_silent_while_others_speak_is_said(tmp_path: Path) -> None:
    line = "[2026-11-21 0{0}:{1:02}:00,000] INFO [Controller id={2}] Resigned (kafka.controller.KafkaController)\n"
    for broker in (1, 2):
        (tmp_path / f"b{broker}").mkdir()
        minutes = [*range(10), *(range(10, 40) if broker == 1 else ()), *range(40, 50)]
        text = "".join(line.format(1, minute, broker) for minute in minutes)
        (tmp_path / f"b{broker}" / "controller.log").write_text(text)
    assert texts(overview(read_logs([tmp_path]))) == ["b2 says nothing for 31 min, in which others wrote 30 lines"]


@pytest.mark.slow
def test_the_answer_shows_the_input_in_text_and_json(a1: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["validate", str(a1), "--spec", "kafka/controller", "--details"]) == 0
    text = capsys.readouterr().out
    assert "the input: 4 nodes of cluster tlDr1Mr1TQaRFAFqEZitQg" in text
    assert "broker-1: id 1; version 2.8.2; 2 runs" in text
    assert invoke(["validate", str(a1), "--spec", "kafka/controller", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["input"]
    assert [node["ids"] for node in shown["nodes"]] == [[1], [2], [3], []]
    assert shown["nodes"][0]["clock"]["lines"] == 2


def test_an_overview_of_nothing_is_empty(tmp_path: Path) -> None:
    reading: LogReading = read_logs([tmp_path])
    assert overview(reading) == Overview((), (), ())
