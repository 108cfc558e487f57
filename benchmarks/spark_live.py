"""Logs validated while they grow, in `local[2]`: is each verdict there soon after its lines, and is nothing lost over a restart?"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from assay.grammar.load import Loaded
from assay.spark.logs.validate import ClusterAnswer
from assay.spark.session.session import LOCALLY, session
from assay.spark.streaming.query import VerdictChange, follow
from assay.traces.log_reader import read_logs
from benchmarks.effort import processor_seconds

Line = dict[str, object]

CORES = 2
RATE = 20_000
"""Events a second, as the lines that state them are written; many lines state several."""
AT_ONCE = 2_000
"""Lines that are written at once."""
WITHIN = 10
"""Seconds after a line in which its verdict is wanted."""


UNREAD = 2
"""Pieces that are written right before the query is stopped."""
MEMORY = {**LOCALLY, "spark.driver.memory": "4g"}


class Piece(NamedTuple):
    """The lines up to a time, in milliseconds, by file."""

    upto: int
    content: Mapping[Path, bytes]


def pieces_of(source: Path) -> list[Piece]:
    """All lines of files, which state their times and nothing else at their beginning, in pieces of about one size."""
    lines = [
        (line[1:24], path.relative_to(source), line)
        for path in sorted(each for each in source.rglob("*") if each.is_file())
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    lines.sort(key=lambda each: each[0])
    found: list[Piece] = []
    begin = 0
    while begin < len(lines):
        last = lines[min(begin + AT_ONCE, len(lines)) - 1][0]
        # A piece ends between two milliseconds, so that its time says how many events there are up to it (`_waits`).
        end = next((at for at in range(begin + 1, len(lines)) if lines[at][0] > last), len(lines))
        own: dict[Path, bytearray] = {}
        for _, path, line in lines[begin:end]:
            own.setdefault(path, bytearray()).extend(line)
        found.append(Piece(_milliseconds(last), {path: bytes(content) for path, content in own.items()}))
        begin = end
    return found


def _milliseconds(stamp: bytes) -> int:
    return int(np.datetime64(stamp.decode().replace(",", ".").replace(" ", "T"), "ms").astype(np.int64))


def write(pieces: Sequence[Piece], logs: Path, seconds: float) -> list[float]:
    """Write pieces to files, one after another in so many seconds; the time of each."""
    begun, written = time.perf_counter(), list[float]()
    for number, piece in enumerate(pieces):
        time.sleep(max(0.0, begun + number * seconds - time.perf_counter()))
        for path, content in piece.content.items():
            (logs / path).parent.mkdir(parents=True, exist_ok=True)
            with (logs / path).open("ab") as stream:
                stream.write(content)
        written.append(time.perf_counter())
    return written


class Answered(NamedTuple):
    """When an answer came, and of how many events."""

    time: float
    events: int


def live(
    source: Path, spec: Loaded, said: Callable[[ClusterAnswer], Any], locally: Callable[[Path], Any]
) -> Iterator[Line]:
    """One line of figures. Events a second up to the last verdict are without a restart. The time from a log line to
    its verdict is given before and after a restart, with what the restart lost.
    """
    pieces = pieces_of(source)
    seconds = sum(len(stream.events) for stream in read_logs([source]).streams) / RATE / len(pieces)
    half = max(2, len(pieces) // 2)
    answers, found = list[ClusterAnswer](), list[Answered]()

    def on_answer(answer: ClusterAnswer, _: list[VerdictChange]) -> None:
        answers[:] = [answer]
        found.append(Answered(time.perf_counter(), sum(node.events for node in answer.overview.nodes)))

    with TemporaryDirectory() as temporary, session(f"local[{CORES}]", MEMORY) as spark:
        logs, state = Path(temporary) / "logs", Path(temporary) / "state"
        logs.mkdir()
        query = follow(spark, logs, spec, state, on_answer, delay=0)
        write(pieces[:1], logs, seconds)
        query.processAllAvailable()  # what processes load once is not measured
        cpu, begin, first = processor_seconds(), len(found), found[-1].events
        written = write(pieces[1:half], logs, seconds)
        query.processAllAvailable()
        middle, steady = len(found), round(processor_seconds() - cpu, 1)
        written += write(pieces[half : half + UNREAD], logs, seconds)
        query.stop()
        query = follow(spark, logs, spec, state, on_answer, delay=0)
        written += write(pieces[half + UNREAD :], logs, seconds)
        query.processAllAvailable()
        query.stop()
        cpu = round(processor_seconds() - cpu, 1)
        last, times = found[middle - 1], np.sort(read_logs([logs]).events.times)
        waits = _waits(
            np.searchsorted(times, [each.upto for each in pieces[1:]], side="right").tolist(), written, found
        )
        before, after = waits[: half - 1], waits[half - 1 :]
        yield {
            "benchmark": "spark_logs", "what": "live", "value": round((last.events - first) / (last.time - written[0])),
            "unit": "events a second", "target": RATE, "slices": len(answers[-1].validation.slices), "events": found[-1].events,
            "lost": len(times) - found[-1].events, "equal_to_local": said(answers[-1]) == locally(logs),
            "verdict_after": round(float(np.median(before)), 1), "verdict_after_at_most": round(max(before), 1), "wanted_within": WITHIN,
            "after_restart_at_most": round(max(after), 1), "batches": middle - begin, "batches_after_restart": len(found) - middle,
            "events_before_restart": last.events, "cpu_before_restart": steady, "cpu": cpu, "load_after": round(os.getloadavg()[0], 2),
        }  # fmt: skip


def _waits(counts: Sequence[int], written: Sequence[float], found: Sequence[Answered]) -> list[float]:
    """For each piece how long it took from its writing to the first answer of so many events."""
    return [
        min((each.time for each in found if each.events >= count), default=float("inf")) - begun
        for count, begun in zip(counts, written, strict=True)
    ]
