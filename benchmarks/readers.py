"""Reading speed: from bytes to events, on a mix of stock files made of the recordings that come with the project."""

from __future__ import annotations

import os
import resource
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
TIMES = 6


def lines(names: Sequence[str]) -> Iterator[Line]:
    """One line for each recording, or for those named, repeated so that starting up does not count; and one for all of them."""
    archives = {name: sample(name) for name in NAMES} | {
        path.name.partition(".")[0]: path for path in sorted(RECORDINGS.glob("*.tar.xz"))
    }
    if unknown := set(names) - set(archives):
        raise ValueError(f"no recording {', '.join(sorted(unknown))}; recordings: {', '.join(archives)}")
    wanted = names or tuple(archives)
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


def _copies(archive: Path, folder: Path) -> list[Path]:
    """The recording several times, a day apart: equal copies would be read once."""
    with tarfile.open(archive) as content:
        content.extractall(folder / "original", filter="data")
    roots = []
    for number in range(TIMES):
        root = folder / f"copy-{number}"
        for path in sorted((folder / "original").rglob("*")):
            if path.is_file():
                to = root / path.relative_to(folder / "original")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(path.read_bytes().replace(b"[2026-11-21", b"[2026-11-%02d" % (number + 1)))
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
