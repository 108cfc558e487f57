"""The scanner: exact places, whole records, bounded memory, whatever the size of the blocks."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pytest

from assay.traces.input.lines.line_layout import headers, split_logger
from assay.traces.input.lines.record_scanner import BOM, FileCounts, ScanLimits, divide, scan
from assay.traces.input.lines.timestamps import Clock
from assay.traces.store.record_block import RawRecord, RecordBlock

LOG = (
    b"\tat the.end.of.a.record(that was rotated away)\n"
    b"[2026-11-21 01:45:22,705] INFO first line (kafka.server.KafkaServer)\n"
    b"[2026-11-21 01:45:22,704] ERROR [KafkaServer id=1] Fatal error (kafka.server.KafkaServer)\n"
    b"java.lang.IllegalStateException: why\n"
    b"\tat kafka.server.KafkaServer.startup(KafkaServer.scala:310)\n"
    b"\n"
    b"[2026-11-21 01:45:23,000] DEBUG   padded (a.B)\r\n"
    b"[2026-11-21 01:45:24,000] INFO last without line feed (a.B)"
)


def read(data: bytes, limits: ScanLimits) -> tuple[list[RawRecord], FileCounts]:
    tally = FileCounts()
    return list(scan(io.BytesIO(data), "f.log", tally, limits)), tally


@pytest.mark.parametrize("block", [1, 2, 3, 7, 31, 64, 129, 1000])
def test_records_do_not_depend_on_the_size_of_blocks(block: int) -> None:
    assert read(LOG, ScanLimits(block=block))[0] == read(LOG, ScanLimits())[0]


def test_offsets_and_lines_are_those_of_the_file() -> None:
    records, tally = read(LOG, ScanLimits(block=50))
    assert [record.line for record in records] == [1, 2, 3, 7, 8]
    for record in records:
        assert LOG[: record.offset].count(b"\n") == record.line - 1
        assert LOG[record.offset :].startswith(b"[" + record.stamp if record.stamp else b"\tat the.end")
    assert (tally.lines, tally.bytes) == (8, len(LOG))


@pytest.mark.parametrize("block", [1, 2, 3, 4, 50, 1000])
@pytest.mark.parametrize("cut", [scan, divide])
def test_a_byte_order_mark_hides_no_record(block: int, cut: Callable[..., Iterator[RawRecord | RecordBlock]]) -> None:
    text = BOM + LOG.partition(b"\n")[2]
    found = cut(io.BytesIO(text), "f.log", FileCounts(), ScanLimits(block=block))
    records = [
        raw
        for each in found
        for raw in ([each] if isinstance(each, RawRecord) else map(each.raw, range(len(each.bodies))))
    ]
    assert [(record.offset, record.line) for record in records][:2] == [(3, 1), (72, 2)]
    assert records[0].text == b"first line (kafka.server.KafkaServer)\n"


def test_every_byte_belongs_to_one_record() -> None:
    records, _ = read(LOG, ScanLimits())
    ends = [record.offset for record in records[1:]] + [len(LOG)]
    for record, end in zip(records, ends, strict=True):
        assert LOG[record.offset : end].endswith(record.text)


def test_a_record_that_is_too_long_is_cut_and_said_and_the_next_is_read() -> None:
    long = b"[2026-11-21 01:45:22,705] INFO " + b"x" * 50_000 + b"\n" + b"y\n" * 10 + b" (a.B)\n"
    data = LOG[:47] + long + b"[2026-11-21 01:45:23,000] INFO after (a.B)\n"
    records, tally = read(data, ScanLimits(block=1000, record=8000, kept=100))
    assert [(record.line, len(record.text)) for record in records] == [(1, 47), (2, 100), (14, 12)]
    (notice,) = tally.notices
    assert notice.kind == "record too long"
    assert str(notice.place) == "f.log:2"
    assert f"{len(long):,} bytes" in notice.text
    assert tally.lines == data.count(b"\n")
    assert tally.bytes == len(data)


@pytest.mark.parametrize("block", [1, 5, 64, 128, 129])
def test_the_header_after_a_cut_record_is_found_wherever_blocks_end(block: int) -> None:
    data = b"[2026-11-21 01:45:22,705] INFO " + b"x" * 700 + b"\n[2026-11-21 01:45:23,000] INFO after (a.B)\n"
    for extra in range(130):
        records, _ = read(b"x" * extra + b"\n" + data, ScanLimits(block=block, record=300, kept=10))
        assert records[-1].text == b"after (a.B)\n"


def test_a_long_line_without_any_record_ends() -> None:
    records, tally = read(b"z" * 100_000, ScanLimits(block=1000, record=8000, kept=100))
    assert [len(record.text) for record in records] == [100]
    assert "100,000 bytes" in tally.notices[0].text
    assert tally.lines == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"started (kafka.server.KafkaServer)\n", (b"started", b"kafka.server.KafkaServer", b"")),
        (b"started (kafka.server.KafkaServer)\r\n", (b"started", b"kafka.server.KafkaServer", b"")),
        (b"(a.B)\n", (b"", b"a.B", b"")),
        (b"no end (of it\n", (b"no end (of it", b"", b"")),
        (b"one (two) three\n", (b"one (two) three", b"", b"")),
        (b"x (a.B$C)\njava.lang.E\n\tat a.B.c(D.scala:1)\n", (b"x", b"a.B$C", b"java.lang.E\n\tat a.B.c(D.scala:1)\n")),
        (b"Stat is: 61,0,61\n (kafka.zk.KafkaZkClient)\n", (b"Stat is: 61,0,61\n", b"kafka.zk.KafkaZkClient", b"")),
        (
            b"values: \n\tb = (x) \n (kafka.server.KafkaConfig)\n",
            (b"values: \n\tb = (x) \n", b"kafka.server.KafkaConfig", b""),
        ),
    ],
)
def test_the_logger_is_found_where_it_stands(text: bytes, parts: tuple[bytes, bytes, bytes]) -> None:
    assert split_logger(text) == parts


def test_a_clock_reads_milliseconds_as_utc_and_refuses_what_is_no_time() -> None:
    clock = Clock()
    assert clock.read(b"2026-11-21 01:45:22,705") == 1795225522705
    assert clock.read(b"2026-11-21 01:45:22,706") == 1795225522706
    assert clock.read(b"2026-13-21 01:45:22,706") is None
    assert clock.read(b"2026-11-21 01:45:23,000") == 1795225523000


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        (b"2026-11-21 01:45:22 UTC", 1795225522000),
        (b"2026-11-21T01:45:22.05Z", 1795225522050),
        (b"21 Nov 2026 01:45:22,70", 1795225522700),
        (b"0000-11-21 01:45:22,705", None),
        (b"0000-11-21 01:45:22", None),
    ],
)
def test_a_stamp_as_long_as_the_stock_one_is_read_as_what_it_is(stamp: bytes, moment: int | None) -> None:
    assert Clock().read(stamp) == moment


def test_a_stamp_with_milliseconds_is_exact_behind_one_without() -> None:
    clock = Clock()
    resolutions = []
    for stamp in (b"2026-11-21 01:45:22,705", b"2026-11-21 01:45:22", b"2026-11-21 01:45:22,706"):
        clock.read(stamp)
        resolutions.append(clock.resolution)
    assert resolutions == [1, 1000, 1]


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("INFO [KafkaServer] it has started", True),
        ("INFO (KafkaServer) it has started", True),
        ("INFO KafkaServer: it has started", True),
        ("INFO [KafkaServer id=1] it has started", False),
        ("INFO (KafkaServer of broker 1) it has started", False),
    ],
)
def test_a_bracket_before_a_logger_closes_behind_it(text: str, closed: bool) -> None:
    """One that does not begins a message; its first word may be the name of a class all the same."""
    assert ("KafkaServer" in {each.logger for each in headers(text)}) is closed
