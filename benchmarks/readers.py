"""Reading speed, from bytes to events, on stock files made of the recordings that come with the project. `json` reads
the same lines as JSON objects; `paste` times the whole command on five lines.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.samples import NAMES, sample

Line = dict[str, object]

RECORDINGS = Path(__file__).parent.parent / "tests" / "corpus" / "recordings"
TIMES = 12
JSON, PASTE = "json", "paste"
PASTED = """\
[2026-11-21 01:45:30,705] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented to 1 and epoch zk version is now 1 (kafka.controller.KafkaController)
[2026-11-21 01:45:31,100] INFO [Controller id=1] Starting the controller scheduler (kafka.controller.KafkaController)
[2026-11-21 01:45:32,705] INFO [Controller id=1] New leader and ISR for partition orders-0 is {"leader":1,"leader_epoch":1,"isr":[1,3]} (kafka.controller.KafkaController)
[2026-11-21 01:45:38,239] INFO [Broker id=1] Leader orders-0 starts at leader epoch 1 from offset 12 (state.change.logger)
[2026-11-21 01:45:39,239] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,3 to 1. (kafka.cluster.Partition)
"""
_DAY = re.compile(rb"\[2026-11-(\d\d) ")
_STOCK = re.compile(r"\[(\S+) (\S+)\] (\w+) (.*) \((\S+)\)")


def lines(names: Sequence[str]) -> Iterator[Line]:
    """One line for each recording, or for those named, repeated so that starting up does not count; and one for all of them."""
    archives = {name: sample(name) for name in NAMES} | {
        path.name.removesuffix(".tar.xz"): path for path in sorted(RECORDINGS.glob("*.tar.xz"))
    }
    if unknown := set(names) - set(archives) - {JSON, PASTE}:
        raise ValueError(f"no recording {', '.join(sorted(unknown))}; recordings: {', '.join(archives)}")
    if JSON in names:
        yield _json_lines(archives["elections"])
    if PASTE in names:
        yield _paste()
    wanted = tuple(name for name in names or archives if name in archives)
    load_catalogue()
    totals = [0, 0, 0, 0.0]
    for name in wanted:
        with TemporaryDirectory() as folder:
            roots = _copies(archives[name], Path(folder))
            measured = _measure(name, roots)
        yield measured
        for at, key in enumerate(("bytes", "records", "events", "cpu_seconds")):
            totals[at] += float(str(measured[key]))
    if len(wanted) > 1:
        yield _line("all", int(totals[0]), int(totals[1]), int(totals[2]), totals[3])


def _json_lines(archive: Path) -> Line:
    """A recording's records as Logstash writes them, many days after one another; warm, as `readers` are."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        with tarfile.open(archive) as content:
            content.extractall(root / "original", filter="data")
        files = sorted((root / "original").rglob("broker-1/*.log"))
        found = [_STOCK.fullmatch(line) for path in files for line in path.read_text().splitlines()]
        stock = [match.groups() for match in found if match is not None]
        for name, days in (("warm", range(1, 2)), ("all", range(1, 29))):
            with (root / f"{name}.jsonl").open("w") as out:
                out.writelines(_object(day, *groups) for day in days for groups in stock)
        options = ReadOptions(threads=False)
        read_logs([root / "warm.jsonl"], options)
        started = time.process_time()
        reading = read_logs([root / "all.jsonl"], options)
        size = (root / "all.jsonl").stat().st_size
        return _line(JSON, size, reading.records, sum(reading.kinds.values()), time.process_time() - started)


def _object(day: int, _: str, clock: str, level: str, message: str, logger: str) -> str:
    stamp = f"2026-10-{day:02}T{clock.replace(',', '.')}Z"
    parts = {"@timestamp": stamp, "level": level, "logger_name": logger, "thread_name": "main", "message": message}
    return json.dumps({**parts, "host": "broker-1", "@version": "1"}) + "\n"


def _paste() -> Line:
    """The command on five lines, the third time: processor seconds, and seconds by the clock."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pasted.log"
        path.write_text(PASTED)
        command = [sys.executable, "-m", "assay", "validate", str(path)]
        cpu = seconds = 0.0
        # The first runs fill the user's cache, which the third one uses.
        for _ in range(3):
            before, started = sum(os.times()[2:4]), time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            cpu, seconds = sum(os.times()[2:4]) - before, time.perf_counter() - started
    return {
        "benchmark": "readers",
        "recording": PASTE,
        "cpu_seconds": round(cpu, 2),
        "seconds": round(seconds, 2),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _copies(archive: Path, folder: Path) -> list[Path]:
    """The recording several times, a month apart: equal copies would be read once."""
    with tarfile.open(archive) as content:
        content.extractall(folder / "original", filter="data")
    roots = []
    for number in range(TIMES):
        root, month = folder / f"copy-{number}", b"[2026-%02d-\\1 " % (number + 1)
        for path in sorted((folder / "original").rglob("*")):
            if path.is_file():
                to = root / path.relative_to(folder / "original")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(_DAY.sub(month, path.read_bytes()))
        roots.append(root)
    return roots


def _measure(name: str, roots: list[Path]) -> Line:
    started = time.process_time()
    reading = read_logs(roots, ReadOptions())
    return _line(name, reading.bytes, reading.records, sum(reading.kinds.values()), time.process_time() - started)


def _line(name: str, size: int, records: int, events: int, seconds: float) -> Line:
    return {
        "benchmark": "readers",
        "recording": name,
        "bytes": size,
        "records": records,
        "events": events,
        "cpu_seconds": round(seconds, 3),
        "mb_per_second": round(size / 1e6 / seconds, 1),
        "events_per_second": round(events / seconds),
        "peak_resident_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
        ),
        "load_before": round(os.getloadavg()[0], 2),
    }
