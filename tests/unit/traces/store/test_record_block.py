"""Records read in stretches by machine code are those that are read one by one, whatever the text and wherever blocks end."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.traces.input.file_contents import FileReading, RecordOrigin
from assay.traces.input.file_reader import FileJob
from assay.traces.input.lines import record_kinds
from assay.traces.input.lines.record_scanner import FileCounts, ScanLimits, divide, scan
from assay.traces.input.lines.timestamps import Clock
from assay.traces.input.pattern_matcher import RecordReader
from assay.traces.log_reader import ReadOptions, record_reader
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.store.log4j_scanner import NO_MOMENT, moment
from assay.traces.store.record_block import RecordBlock

READER = record_reader(load_catalogue(), ReadOptions())

STAMPS = (
    "[2026-11-21 01:45:22,705] ", "[2026-11-21T01:45:22.706] ", "[2026-11-21 01:45:21,000] ", "[2026-11-22 09:00:00,000] ",
    "[2026-13-21 01:45:22,705] ", "[0000-11-21 01:45:22,705] ", "[2026-11-21 01:45:2x,705] ", "[2026-11-21 01:45:22] ",
    "2026-11-21 01:45:22,705 ", "[01:45:22,705] ", "Nov 21 01:45:22 ", "",
)  # fmt: skip
CREATED = "Created log for partition orders-0 in /d/orders-0 with properties {min.insync.replicas=2}"
LEVELS = ("INFO ", "INFO  ", "WARN ", "TRACE ", "ERROR ", "DEBUGS ", "INF ", "info ", "INFO", "")
MESSAGES = (
    "[Controller id=12] 7 successfully elected as the controller. Epoch incremented to 17 and epoch zk version is now 99",
    "[main] [Controller id=1] Resigned",
    "[Broker id=1] (weird) [Nobody knows 7",
    "[KafkaServer id=3] started",
    CREATED,
    "[main] " + CREATED,
    "[Nothing 5] that is a thread",
    "kafka.controller.KafkaController [main] - [Controller id=1] Resigned",
    "caf\u00e9 &amp; [KafkaServer id=3] started",
    "Cluster ID = \x1b[31mabc\x1b[0m",
    "x ControllerEpoch:1 and ControllerEpoch:1",
    "all the rest " * 200,
    "\x00",
    "",
)
ENDINGS = (
    " (kafka.controller.KafkaController)", " (kafka.server.KafkaServer)", " (state.change.logger)", " (kafka.log.LogManager)", " (o.a.k.Other:17)",
    " (kafka.server.KafkaServer) ", "(kafka.server.KafkaServer)", " (not a logger)", " [main]", "",
)  # fmt: skip
BEHIND = ("\n", "\r\n", "\n\tat a.B(B.java:1)\nCaused by: c\n", "\n2 lines\nJanuary\n\n", "")

LINES = st.builds(
    lambda *parts: "".join(parts).encode(),
    *(st.one_of(st.just(each[0]), st.sampled_from(each)) for each in (STAMPS, LEVELS, MESSAGES, ENDINGS, BEHIND)),
)
DAMAGE = st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=2))


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Lines in several layouts, damaged here and there."""
    kinds = draw(st.lists(LINES, min_size=1, max_size=6))
    text = b"".join(kinds[at % len(kinds)] for at in draw(st.lists(st.integers(0, 5), min_size=1, max_size=40)))
    for where, gone, instead in draw(st.lists(DAMAGE, max_size=4)):
        at = int(where * len(text))
        text = text[:at] + instead + text[at + gone :]
    return text


def read(reader: RecordReader, text: bytes, limits: ScanLimits, *, in_stretches: bool) -> FileReading:
    job = FileJob(reader, FileReading(RecordOrigin("f", "/f", "f"), FileCounts()), may_be_pasted=True)
    cut = divide if in_stretches else scan
    job.take_all(cut(io.BytesIO(text), "f", job.reading.tally, limits))
    job.finish()
    return job.reading


LIMITS = st.builds(
    ScanLimits, st.one_of(st.just(1 << 20), st.integers(1, 900)), st.one_of(st.just(8 << 20), st.integers(300, 900))
)


@settings(max_examples=40, deadline=None)
@given(texts(), LIMITS)
def test_stretches_are_read_as_records_one_by_one_are(text: bytes, limits: ScanLimits) -> None:
    assert read(READER, text, limits, in_stretches=True) == read(READER, text, limits, in_stretches=False)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(texts(), LIMITS)
def test_stretches_of_many_texts_are_read_as_records_one_by_one_are(text: bytes, limits: ScanLimits) -> None:
    assert read(READER, text, limits, in_stretches=True) == read(READER, text, limits, in_stretches=False)


def test_most_records_of_the_stock_layout_stand_in_stretches() -> None:
    text = b"".join(b"[2026-11-21 01:45:22,%03d] INFO x (a.B)\n" % number for number in range(500)) + b"\tat c.D\n" * 3
    found = list(divide(io.BytesIO(text), "f", FileCounts(), ScanLimits(block=5_000)))
    stretches = [each for each in found if isinstance(each, RecordBlock)]
    assert sum(len(each.bodies) for each in stretches) == 499
    assert len(found) == len(stretches) + 1
    assert [raw.text for raw in scan(io.BytesIO(text), "f", FileCounts()) if not raw.text.isascii()] == []


def test_a_thread_is_looked_for_in_brackets_that_were_none_before() -> None:
    stock = "[2026-11-21 01:45:22,705] INFO {} (kafka.log.LogManager)\n"
    lines = [stock.format(f"[Nothing {number}] of interest") for number in range(70)]
    lines[66:66] = [f"[2026-11-21 01:45:22,705] INFO [main] kafka.log.LogManager - {CREATED}\n"]
    lines[20:20] = lines[68:68] = [stock.format(f"[main] {CREATED}")]
    text = "".join(lines).encode()
    for block in (1 << 20, 700):
        limits = ScanLimits(block=block)
        assert read(READER, text, limits, in_stretches=True) == read(READER, text, limits, in_stretches=False)


def test_kinds_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_kinds, "_KINDS", 16)
    reader = record_reader(load_catalogue(), ReadOptions())
    line = "[2026-11-21 01:45:22,705] INFO [Controller id=1] Creating topic {} (kafka.controller.KafkaController)\n"
    lines = (line.format("x" * (number % 50 + 1)) + line.format("y" * number) for number in range(200))
    text = "".join(lines).encode()
    limits = ScanLimits(block=1000)
    assert read(reader, text, limits, in_stretches=True) == read(READER, text, limits, in_stretches=False)


@settings(max_examples=200, deadline=None)
@given(
    st.tuples(*(st.integers(0, most) for most in (9999, 13, 32, 25, 61, 62, 999))),
    st.sampled_from(" T"),
    st.sampled_from(",."),
)
def test_machine_code_reads_a_stamp_as_the_clock_does(parts: tuple[int, ...], between: str, before: str) -> None:
    year, month, day, hour, minute, second, ms = parts
    stamp = f"{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}{before}{ms:03}"
    found = moment(np.frombuffer(stamp.encode(), np.uint8), 0)
    assert (None if found == NO_MOMENT else found) == Clock().read(stamp.encode())
