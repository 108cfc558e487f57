"""A text read in parts, wherever it is divided, gives what reading it as a whole gives."""

from __future__ import annotations

import io
from itertools import pairwise
from random import Random

import pytest

from assay.traces.input.file_contents import FileReading, RecordOrigin
from assay.traces.input.lines.record_scanner import BOM, ScanLimits
from assay.traces.input.pattern_matcher import RecordReader
from assay.traces.input.sources import ExpansionLimit, walk
from assay.traces.input.split_files import join_pieces, read_piece
from assay.traces.log_reader import ReadOptions, record_reader
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.samples import sample

CATALOGUE = load_catalogue(())
LIMITS = ScanLimits()
ORIGIN = RecordOrigin("server.log", "/logs", "server.log")


@pytest.fixture(scope="module")
def reader() -> RecordReader:
    return record_reader(CATALOGUE, ReadOptions())


def recorded(name: str) -> dict[str, bytes]:
    texts: dict[str, bytes] = {}
    for source in walk([sample(name)], ExpansionLimit(), []):
        parts: list[bytes] = []
        while part := source.content.stream.read(1 << 20):
            parts.append(part)
        texts[source.origin.file] = b"".join(parts)
    return texts


def whole(reader: RecordReader, text: bytes) -> FileReading:
    (reading,) = reader.read(io.BytesIO(text), text[: 1 << 16], ORIGIN, may_be_pasted=True)
    reading.digest = b""
    return reading


def in_parts(reader: RecordReader, text: bytes, ends: list[int]) -> FileReading | None:
    """The text divided after the lines in which these bytes are; as it would be handed over by another process."""
    lines = text if text.endswith(b"\n") else text + b"\n"
    cuts = sorted({0, len(lines), *(lines.find(b"\n", end) + 1 for end in ends)})
    pieces = [
        from_bytes(to_bytes(read_piece(reader, lines[a:b], ORIGIN, LIMITS, a)), CATALOGUE) for a, b in pairwise(cuts)
    ]
    found = join_pieces(reader, ORIGIN, pieces, len(text), LIMITS, may_be_pasted=True)
    if found is not None:
        found.digest = b""
    return found


@pytest.mark.slow
def test_recorded_logs_are_read_the_same_in_any_parts(reader: RecordReader) -> None:
    random = Random(1)
    for text in recorded("duplicate-broker").values():
        expected = whole(reader, text)
        for parts in (2, 7, 40):
            assert in_parts(reader, text, [random.randrange(len(text)) for _ in range(parts)]) == expected


STAMP = "[2026-11-21 01:45:{:02},{:03}] "


def line(number: int, kind: int) -> bytes:
    """A line in one of the layouts and states that a seam could part wrongly."""
    stamp = STAMP.format(number // 1000, number % 1000)
    known = f"[Controller id=1] {number} successfully elected as the controller. Epoch incremented to {number} and epoch zk version is now {number}"
    lines = (
        f"{stamp}INFO {known} (kafka.controller.KafkaController)\n",
        f"{stamp}INFO [main] {known} (kafka.controller.KafkaController)\n",
        f"{stamp}INFO [Unheard of {number}] nothing (kafka.controller.KafkaController)\n",
        f"{stamp}ERROR trouble (kafka.server.KafkaServer)\njava.lang.Exception: no\n\tat a.B\n",
        f"{stamp}INFO kafka.controller.KafkaController [main] - {known}\n",
        f"{stamp}INFO what is this\n",
        "[2026-13-21 01:45:22,705] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\r\n",
        f"{stamp}INFO caf\u00e9 \x00 (kafka.server.KafkaServer)\n",
        "[2026-11-20 01:45:22,705] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n",
        "loose\n",
    )
    return lines[kind].encode()


@pytest.mark.parametrize("seed", range(60))
def test_odd_texts_are_read_the_same_in_parts_or_not_in_parts(reader: RecordReader, seed: int) -> None:
    """Layouts that change, threads, loose text, zeros, wrong bytes and jumping clocks: parts are refused where they would differ."""
    random = Random(seed)
    kinds = random.sample(range(10), random.randint(1, 4))
    count = random.choice((3, 30, 300))
    text = b"".join(line(number, random.choice(kinds)) for number in range(count))
    text = random.choice((b"", BOM, b"loose\n", b"\xff\n")) + text[: len(text) - random.choice((0, 1, 5))]
    found = in_parts(reader, text, [random.randrange(len(text)) for _ in range(random.choice((1, 3, 20)))])
    if found is not None:
        assert found == whole(reader, text)


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4])
def test_a_text_in_one_layout_is_read_in_parts(reader: RecordReader, kind: int) -> None:
    text = b"".join(line(number, kind) for number in range(500))
    assert in_parts(reader, text, list(range(0, len(text), 1000))) == whole(reader, text)


@pytest.mark.parametrize("text", [b'{"event": "A"}\n' * 9, b"\x1f\x8b\x08\n\n\n", b"\x1b[31m" + line(1, 0) * 3])
def test_what_is_no_plain_log_is_not_read_in_parts(reader: RecordReader, text: bytes) -> None:
    assert in_parts(reader, text, [10, 20]) is None


@pytest.mark.parametrize("first", [b"Attaching to broker-1\n", b"===> User\n", b"\n"])
def test_what_a_text_is_shows_in_all_of_its_beginning(reader: RecordReader, first: bytes) -> None:
    """The first line of a log that grows may be all that is there at first, and has none of what all later ones have."""
    assert in_parts(reader, first + b"".join(b"broker-1  | " + line(at, 0) for at in range(30)), [0, 900]) is None
    objects = (b'{"@timestamp": "2026-11-21T01:45:22.705Z", "level": "INFO", "message": "a"}\n' for _ in range(30))
    assert in_parts(reader, first + b"".join(objects), [0, 900]) is None
    plain = first + b"".join(line(at, 0) for at in range(30))
    assert in_parts(reader, plain, [0, 900]) == whole(reader, plain)


def test_stamps_without_a_date_are_not_read_in_parts(reader: RecordReader) -> None:
    text = b"".join(line(number, 0).replace(b"2026-11-21 ", b"") for number in range(100))
    assert in_parts(reader, text, [1000, 5000]) is None
