"""Keys and columns that no catalogue names are found by what they hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.traces.input.containers.learned_parts import learned_message, learned_node, leaves_of
from assay.traces.log_reader import read_logs

RECORD = "[2022-02-03 10:00:00,100] INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)"


def entry(broker: int) -> dict[str, object]:
    return {"rack": "r1", "unit": f"kafka{broker}", "text": RECORD.format(broker), "at": 1643882400100 + broker}


def lines(brokers: list[int]) -> str:
    return "".join(json.dumps(entry(each)) + "\n" for each in brokers)


def array(brokers: list[int]) -> str:
    return json.dumps({"rows": [entry(each) for each in brokers]})


def nested(brokers: list[int]) -> str:
    return "".join(json.dumps({"data": json.dumps(entry(each))}) + "\n" for each in brokers)


def cells(brokers: list[int]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";")
    writer.writerow(entry(1))
    writer.writerows(entry(each).values() for each in brokers)
    return out.getvalue()


def words(brokers: list[int]) -> str:
    return "".join(f"r1 user.info kafka{each}/9 {RECORD.format(each)}\n" for each in brokers)


@pytest.mark.parametrize("written", [lines, array, nested, cells])
def test_the_node_is_what_tells_brokers_apart(written: Callable[[list[int]], str], tmp_path: Path) -> None:
    (tmp_path / "export.txt").write_text(written([1, 2, 1, 3]))
    reading = read_logs([tmp_path])
    assert sorted(node.name for node in reading.nodes) == ["kafka1", "kafka2", "kafka3"]
    assert reading.kinds == {"BrokerStarted": 4}


def test_a_word_of_a_prefix_that_tells_brokers_apart_is_the_node(tmp_path: Path) -> None:
    (tmp_path / "export.txt").write_text(words([1, 2, 1, 3]))
    assert sorted(node.name for node in read_logs([tmp_path]).nodes) == ["kafka1/9", "kafka2/9", "kafka3/9"]


def test_a_host_that_all_brokers_share_gives_way_to_what_tells_them_apart() -> None:
    contents = [{"host": "worker", "id": f"k{each}", "thread": f"t-{each % 2}"} for each in (1, 2, 3)]
    messages = [RECORD.format(each) for each in (1, 2, 3)]
    assert learned_node(leaves_of(contents), messages, ["worker"] * 3) == "id"


def test_without_such_lines_a_key_is_taken_that_is_called_like_a_node() -> None:
    contents = [{"container_id": "0f0f0f0f0f0f", "namespace": "kafka", "myHost": "a", "n": 3}] * 2
    assert learned_node(leaves_of(contents), ["some text"] * 2, ["", ""]) == "myHost"
    assert learned_node(leaves_of(contents), ["some text"] * 2, ["a", "b"]) == ""


def test_a_file_is_no_node() -> None:
    contents = [{"host": "broker-1", "source": f"/logs/{name}.log"} for name in ("server", "controller")]
    assert learned_node(leaves_of(contents), ["some text"] * 2, ["broker-1"] * 2) == ""


def test_a_record_in_parts_is_known_by_its_level_and_logger() -> None:
    contents = [
        {"lvl": "info", "c": "kafka.server.KafkaServer", "t": 1643882400100, "say": "started", "err": ""},
        {"lvl": "warn", "c": "state.change.logger", "t": 1643882400200, "say": "x", "err": "a.B\n\tat c.D.e(F.java:1)"},
    ]
    found = learned_message(leaves_of(contents), lambda text: False)
    assert found == {"message": ("say",), "level": ("lvl",), "logger": ("c",), "stack": ("err",), "time": ("t",)}
    assert learned_message(leaves_of([{"a": "b", "t": 5}]), lambda text: False) == {}
