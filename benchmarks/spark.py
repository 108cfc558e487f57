"""What a search on Spark takes above one of the native engine: `python -m benchmarks spark [into=FILE] [exchange=NAME] [PART]…`, all parts if none is named.

Processor seconds are those of all processes (Java, Python), from the first level on; the session's start is not among them. With `into` the lines of each
part that is complete are kept in a file, and not measured again the next time. `exchange` limits the parts to one of both exchanges.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.options import Progress, SearchOptions
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec
from assay.spark.exploration import explore
from assay.spark.session.options import Choice, ClusterOptions
from assay.spark.session.session import LOCALLY, session
from benchmarks.effort import processor_seconds
from benchmarks.faults import lines as fault_lines
from benchmarks.native import KIP320, LARGE, WORDS

Line = dict[str, object]
DEAR = Path(__file__).parent / "dear.assay"
TASKS = 2
EXCHANGES: tuple[Choice, ...] = ("direct", "shuffle")
ABOVE = {"direct": 0.6, "shuffle": 4.5}
"""Microseconds of processors a state, above the native engine's."""
RATIO = {"direct": 1.3, "shuffle": 2.0}
"""Of processor seconds, where a state takes the native engine ten microseconds."""
SMALL_LEVEL = {"direct": 0.02, "shuffle": 0.3}
"""Seconds."""
WALL = 0.75
"""Of the native engine's time with one thread, for two tasks that exchange states directly."""


@dataclass(frozen=True, slots=True)
class Run:
    """A search: its states and levels, what it took, and when each level began; ``sent`` are records, of so many bytes each."""

    states: int
    levels: int
    cpu: float
    wall: float
    began: tuple[float, ...] = ()
    sent: int = 0
    record: float = 0.0

    @property
    def cost(self) -> Line:
        """As a part of a line."""
        return {"states": self.states, "cpu": round(self.cpu, 1), "wall": round(self.wall, 1), "levels": self.levels}


def _native(kernel: Kernel) -> Run:
    options = SearchOptions(threads=1)
    with TemporaryDirectory() as folder:
        compiled = compile_kernel(kernel, options, Path(folder))
        began = time.perf_counter()
        report = check(kernel, compiled, options)
    sizes = report.statistics
    assert sizes.effort is not None
    return Run(sizes.distinct, sizes.depth, sizes.effort.cpu, time.perf_counter() - began)


def _on_spark(kernel: Kernel, exchange: Choice, out: int | None = None) -> Run:
    """A search in a session of its own, after a small one that loads what searches need."""
    began: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        began.setdefault(progress.level, time.perf_counter())

    cluster = ClusterOptions(TASKS, exchange) if out is None else ClusterOptions(TASKS, exchange, out=out)
    with session(f"local[{TASKS}]", {**LOCALLY, "spark.driver.memory": "2g"}) as spark:
        explore(
            spark,
            load_spec(KIP320, model="r3l2m2e1").kernel,
            SearchOptions(threads=1),
            ClusterOptions(TASKS, exchange, out=1),
        )
        before, start = processor_seconds(), time.perf_counter()
        found = explore(spark, kernel, SearchOptions(threads=1, progress=watch), cluster)
        cpu, wall = processor_seconds() - before, time.perf_counter() - start
    sizes = found.report.statistics
    assert found.report.stopped is None, found.report.stopped
    return Run(sizes.distinct, found.levels, cpu, wall, tuple(began.values()), found.sent, found.record)


def _against_native(spec: Path, model: str, exchanges: Sequence[Choice], *, dear: bool = False) -> Iterator[Line]:
    kernel = load_spec(spec, model=model).kernel
    load = round(os.getloadavg()[0], 1)
    native = _native(kernel)
    yield {"benchmark": "native, one thread", "model": model, **native.cost, "load_before": load}
    for exchange in exchanges:
        load = round(os.getloadavg()[0], 1)
        run = _on_spark(kernel, exchange)
        assert run.states == native.states
        common: Line = {"model": model, "exchange": exchange, **run.cost, "load_before": load}
        if dear:
            yield {
                "benchmark": "processor seconds over native",
                "value": round(run.cpu / native.cpu, 2),
                "target": RATIO[exchange],
                **common,
            }
            continue
        above = (run.cpu - native.cpu) / run.states * 1e6
        yield {
            "benchmark": "processor microseconds a state above native",
            "value": round(above, 2),
            "target": ABOVE[exchange],
            **common,
        }
        yield {
            "benchmark": "bytes a record sent", "value": round(run.record, 1), "model": model, "exchange": exchange,
            "records": run.sent, "records_a_state": round(run.sent / run.states, 2),
        }  # fmt: skip
        if exchange == "direct":
            yield {
                "benchmark": "wall over native with one thread",
                "value": round(run.wall / native.wall, 2),
                "target": WALL,
                **common,
            }


def _small_levels(exchanges: Sequence[Choice]) -> Iterator[Line]:
    """The middle of the times from one level of some thousand states to the next, once the first few have been done."""
    kernel = load_spec(KIP320, model="r3l2m2e1").kernel
    for exchange in exchanges:
        load = round(os.getloadavg()[0], 1)
        run = _on_spark(kernel, exchange, out=1)
        gaps = [after - before for before, after in pairwise(run.began[5:])]
        yield {
            "benchmark": "seconds a small level", "value": round(median(gaps), 3), "target": SMALL_LEVEL[exchange],
            "exchange": exchange, **run.cost, "load_before": load,
        }  # fmt: skip


def _faults(_: Sequence[Choice]) -> Iterator[Line]:
    return fault_lines()


PARTS: dict[str, Callable[[Sequence[Choice]], Iterator[Line]]] = {
    "small_levels": _small_levels,
    "ten_million": partial(_against_native, KIP320, LARGE),
    "dear": partial(_against_native, DEAR, "three_million", dear=True),
    "hundred_million": partial(_against_native, WORDS, "hundred_million"),
    "faults": _faults,
}


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of some parts, of all if none is named; raises ValueError where there is no such part or exchange."""
    files, exchanges = _said(arguments, "into"), _said(arguments, "exchange")
    named = [each for each in arguments if "=" not in each]
    if unknown := set(named) - set(PARTS):
        raise ValueError(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    if unknown := set(exchanges) - set(EXCHANGES):
        raise ValueError(f"no exchange {', '.join(sorted(unknown))}; exchanges: {', '.join(EXCHANGES)}")
    kept = Path(files[-1]) if files else None
    asked = tuple(each for each in EXCHANGES if each in exchanges or not exchanges)
    for part in named or PARTS:
        name = " ".join((part, *(asked if exchanges else ())))
        known = known_lines(kept, name)
        yield from known
        if not known:
            found = []
            for line in PARTS[part](asked):
                found.append({"part": name, **line})
                yield found[-1]
            keep_lines(kept, found)


def _said(arguments: Sequence[str], name: str) -> list[str]:
    return [each.partition("=")[2] for each in arguments if each.startswith(f"{name}=")]


def known_lines(file: Path | None, part: str) -> list[Line]:
    """What a file has of a part."""
    if file is None or not file.exists():
        return []
    return [line for line in map(json.loads, file.read_text().splitlines()) if line["part"] == part]


def keep_lines(file: Path | None, found: list[Line]) -> None:
    """Write the lines of a part that is complete behind those of a file, if there is one."""
    if file is not None:
        with file.open("a") as stream:
            stream.write("".join(f"{json.dumps(line)}\n" for line in found))
