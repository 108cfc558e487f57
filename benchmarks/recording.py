"""What does an event cost the program that records it? One line of JSON for each number of threads.

`python -m benchmarks recording [THREADS…]`

Each round records 5,000 events with two fields by THREADS threads (1 and 4 by default). They are written to a file as
in a service. The figures are the processor time of a call in microseconds: the median of 40 rounds, and the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from time import process_time

from assay.record import Recorder

ROUNDS = 40
EVENTS = 5_000


def lines(arguments: Sequence[str]) -> Iterator[dict[str, object]]:
    """A line for each number of threads."""
    if wrong := [each for each in arguments if not each.isdigit() or not int(each)]:
        raise ValueError(f"no number of threads: {', '.join(wrong)}")
    for threads in map(int, arguments or ("1", "4")):
        with TemporaryDirectory() as folder, Recorder(Path(folder) / "events.jsonl", node="n1") as log:
            costs = [_cost(log, threads) for _ in range(ROUNDS)]
        yield {
            "threads": threads,
            "median_us": round(median(costs), 2),
            "best_us": round(min(costs), 2),
            "lost": log.lost,
        }


def _cost(log: Recorder, threads: int) -> float:
    begun = process_time()
    if threads == 1:
        _record(log)
    else:
        running = [Thread(target=_record, args=(log,)) for _ in range(threads)]
        for each in running:
            each.start()
        for each in running:
            each.join()
    return (process_time() - begun) / (EVENTS * threads) * 1e6


def _record(log: Recorder) -> None:
    record = log.record
    for number in range(EVENTS):
        record("Acquired", client="anna", number=number)
