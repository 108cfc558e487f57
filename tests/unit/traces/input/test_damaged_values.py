"""One damaged value, or one byte that is no UTF-8, costs its line and not its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.traces.input.lines.moments import timestamp
from assay.traces.log_reader import LogReading, read_logs

MESSAGES = [f"[Partition t-{at} broker=1] ISR updated to 1,2 and version updated to {at + 1}" for at in range(30)]
LINES = [
    f"[2024-01-01 10:00:{at:02},100] INFO {message} (kafka.cluster.Partition)".encode()
    for at, message in enumerate(MESSAGES)
]


def read(folder: Path, data: bytes) -> LogReading:
    (folder / "given.txt").write_bytes(data)
    return read_logs([folder / "given.txt"])


def objects(*stamps: str) -> bytes:
    logged = {"level": "INFO", "logger": "kafka.cluster.Partition"}
    lines = (json.dumps({**logged, "message": text, "@timestamp": 0}) for text in MESSAGES)
    return "".join(line.replace('": 0}', f'": {at}}}') + "\n" for line, at in zip(lines, stamps, strict=True)).encode()


ENDLESS = "1" + "0" * 400
SECONDS = [str(1_700_000_000 + at) for at in range(30)]


@pytest.mark.parametrize("stamp", [ENDLESS, f'{{"epochSecond": {ENDLESS}}}'], ids=["a number", "an instant"])
def test_a_time_that_no_float_can_be_is_none(tmp_path: Path, stamp: str) -> None:
    assert len(read(tmp_path, objects(*SECONDS)).events) == 30
    assert len(read(tmp_path, objects(*SECONDS[:5], stamp, *SECONDS[6:])).events) == 29
    assert not timestamp(10**400)
    assert not timestamp({"epochSecond": 1, "nanoOfSecond": 10**400}).endswith("9")


def test_a_run_of_too_many_digits_is_none(tmp_path: Path) -> None:
    events = [{"event": "A", "run": run} for run in (1, "9" * 5_000, 2)]
    found = read(tmp_path, "".join(json.dumps(each) + "\n" for each in events).encode())
    assert [event.run.number for event in found.events] == [1, 2]
    (notice,) = [each for each in found.notices if each.kind == "not an event"]
    assert "is missing or no whole number" in notice.text


def test_a_byte_that_is_no_text_in_a_wrapped_line_costs_that_line(tmp_path: Path) -> None:
    damaged = [line.replace(b"INFO", b"INFO \xe9") if at == 7 else line for at, line in enumerate(LINES)]
    wrapped = [line[begin : begin + 80] for line in damaged for begin in range(0, len(line), 80)]
    wrapped[21] = wrapped[21][:10] + b"\xe9" + wrapped[21][11:]
    assert len(read(tmp_path, b"\n".join(wrapped) + b"\n").events) == 28


def test_a_byte_that_is_no_text_in_a_table_costs_that_row(tmp_path: Path) -> None:
    damaged = [line.replace(b"INFO", b"INFO \xe9") if at == 3 else line for at, line in enumerate(LINES)]
    table = b"who,what\n" + b"".join(b'n1,"' + line + b'"\n' for line in damaged)
    assert len(read(tmp_path, table).events) == 29
