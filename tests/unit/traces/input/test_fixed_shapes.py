"""Rows of JSON lines that are read by one substitution give what parsing each line gives."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from assay.traces.event import LogPosition
from assay.traces.input.containers.detect import ContainerDetector, Wrapping
from assay.traces.input.containers.fixed_shapes import Roles, fixed_shape
from assay.traces.input.containers.parts import LineOrigin, PartLines
from assay.traces.input.containers.unwrapper import Unwrapper
from assay.traces.input.events.decoder import EventDecoder
from assay.traces.input.lines.record_scanner import FileCounts, ScanLimits
from assay.traces.input.pattern_matcher import FoundEvents
from assay.traces.patterns.container_files import built_in_containers
from assay.traces.store.record_block import RawRecord, RecordBlock

DETECTOR = ContainerDetector(built_in_containers(), EventDecoder().names_event)
Record = tuple[LineOrigin, LogPosition, bytes, bytes, bytes]


def records(data: bytes, *, block: int = 4096) -> tuple[list[Record], list[str], int]:
    """The records of a file of JSON lines with their places, what was noticed, and how many lines there are."""
    found: list[Record] = []
    limits, counts = ScanLimits(block=block), FileCounts()

    def new_part(origin: LineOrigin) -> PartLines:
        part: PartLines

        def take(taken: list[RawRecord | RecordBlock]) -> None:
            for record in taken:
                whole = (
                    [record] if isinstance(record, RawRecord) else [record.raw(at) for at in range(len(record.bodies))]
                )
                found.extend(
                    (origin, LogPosition("file", each.line, each.offset), each.stamp, each.level, each.text)
                    for each in whole
                )

        part = PartLines("file", counts, limits, take, None)
        parts.append((origin, part))
        return part

    parts: list[tuple[LineOrigin, PartLines]] = []
    events = FoundEvents(every_line=False)
    Unwrapper(DETECTOR, Wrapping(("JSON lines",), layers=(None,)), "file", counts, limits, new_part, events).read(
        io.BytesIO(data)
    )
    placed = {origin: part.placement for origin, part in parts}
    told: list[Record] = [
        (who, placed[who].place(place), stamp, level, text) for who, place, stamp, level, text in found
    ]
    return sorted(told, key=lambda each: each[1].offset), [str(each) for each in counts.notices], counts.lines


MESSAGES = [
    "[Controller id=1] Resigned",
    "",
    'with "quotes"',
    "two\nlines",
    "ends\n",
    "tab\there",
    "back\\slash",
    "späße",
    " leads",
    "{\"message\": \"inner\"}",
    "a] (b.C)",
    "\x1b[31mred\x1b[0m",
]  # fmt: skip
STOCK = ["[2024-05-06 07:08:09,123] INFO started (kafka.server.KafkaServer)", "[2024-05-06 07:08:09,123] DEBUG  x (a)"]
TIMES = ["2024-05-06T07:08:09.123Z", "2024-05-06 07:08:09,123456", "2024-05-06T07:08:09Z", "2024-05-06T07:08:09.1+02:00", 1714979289123, ""]  # fmt: skip
LEVELS = ["INFO", "WARN", "ERROR", "info", "WARNING", "notice", 6, ""]
LOGGERS = ["kafka.controller.KafkaController", "a.b", "no logger", "", None]


def logstash(random: Random) -> dict[str, Any]:
    return {
        "@timestamp": random.choice(TIMES),
        "level": random.choice(LEVELS),
        "logger_name": random.choice(LOGGERS),
        "thread_name": random.choice(["main", "a]b", ""]),
        "message": random.choice(MESSAGES + STOCK),
        "host": random.choice(["broker-1", "broker-2"]),
    }


def docker(random: Random) -> dict[str, Any]:
    return {
        "log": random.choice(MESSAGES + STOCK) + random.choice(["\n", "\n", ""]),
        "stream": random.choice(["stdout", "stderr"]),
        "time": random.choice(TIMES),
    }


def filebeat(random: Random) -> dict[str, Any]:
    return {
        "@timestamp": random.choice(TIMES),
        "log": {"file": {"path": random.choice(["/a/server.log", "/b.log"])}, "offset": random.randrange(1000)},
        "message": random.choice(MESSAGES + STOCK),
        "tags": random.choice([["a"], []]),
        "host": {"name": "h1"},
        "ok": random.choice([True, None, 1.5, -2]),
    }


USUAL: dict[Callable[[Random], dict[str, Any]], dict[str, Any]] = {
    logstash: {
        "@timestamp": TIMES[0],
        "level": "INFO",
        "logger_name": "a.b",
        "thread_name": "main",
        "host": "broker-1",
    },
    docker: {"log": STOCK[0] + "\n", "stream": "stdout", "time": TIMES[0]},
    filebeat: {"@timestamp": TIMES[0], "message": STOCK[0], "log": {"file": {"path": "/a/server.log"}, "offset": 7}},
}


def rare(make: Callable[[Random], dict[str, Any]]) -> Callable[[Random], dict[str, Any]]:
    """Lines as like as a collector's are, with few of another kind between them."""

    def one(random: Random) -> dict[str, Any]:
        found = make(random)
        changed = {key: value for key, value in found.items() if random.random() < 0.05}
        return (
            {**found, "message": "Resigned", **USUAL[make], **changed}
            if make is logstash
            else found | USUAL[make] | changed
        )

    return one


@pytest.mark.parametrize("make", [logstash, docker, filebeat, rare(logstash), rare(docker), rare(filebeat)])
@pytest.mark.parametrize("seed", range(12))
def test_rows_of_one_shape_give_what_lines_give(
    make: Callable[[Random], dict[str, Any]], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    lines = [json.dumps(make(random), ensure_ascii=random.random() < 0.5) for _ in range(60)]
    spoilt = [
        "no object",
        '{"cut": "of',
        "",
        '{"message": "a", "message": "b"}',
        '{"@timestamp":"x" ,"level" : "INFO"}',
    ]
    lines = [random.choice(spoilt) if random.random() < 0.05 else line for line in lines]
    data = ("\n".join(lines) + random.choice(["\n", ""])).encode()
    fast = records(data, block=random.choice([64, 700, 1 << 16]))
    monkeypatch.setattr(Unwrapper, "_take_row", lambda *arguments: arguments[2])
    assert fast == records(data)


def test_a_row_of_like_lines_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"log": STOCK[0] + "\n", "stream": "stdout", "time": TIMES[0]}) + "\n"
    other = json.dumps({"log": STOCK[1] + "\n", "stream": "stderr", "time": TIMES[1]}) + "\n"
    parsed: list[bytes] = []
    take = Unwrapper._take

    def counted(self: Unwrapper, text: bytes, *rest: Any) -> None:
        parsed.append(text)
        take(self, text, *rest)

    monkeypatch.setattr(Unwrapper, "_take", counted)
    found, _, count = records((line + other * 40).encode(), block=1 << 16)
    assert (len(found), count, len(parsed)) == (41, 41, 1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"message": "a\\"b"}\n',
        b'{"message": "a", "message": "b"}\n',
        b'{"message": "a"} x\n',
        b'{"message": "a"}',
        '{"message": "ä"}\n'.encode(),
        b'{"message": ["a"]}\n',
    ],
)
def test_other_lines_have_no_shape(line: bytes) -> None:
    assert fixed_shape(line, Roles(("message",)), {}) is None
