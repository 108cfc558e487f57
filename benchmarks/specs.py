"""Specs that others have published, written anew (tests/corpus/published), searched by the native engine and, exported, by TLC.

`python -m benchmarks specs [WORD]…` prints a row for each spec, or for those whose name has one of the words. A row has
the states, whether the native engine searches them, and processor seconds. These are to compile with an empty cache, of
the search by one thread, and of TLC with all cores; then the ratio. A run of TLC is ended after 120 s. `SIZES` makes
models of a size at which a search can be measured. TLC's figure includes the start of Java, which `tlc_start` gives by
itself and `ratio_without_start` leaves out. The last rows are of the search engine: `engine`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.tla.module import export
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text
from benchmarks import native, tlc
from benchmarks.native import Line

PUBLISHED = Path(__file__).parent.parent / "tests" / "corpus" / "published"
SIZES: dict[str, dict[str, str]] = {
    "bakery": {"Process": "{p1, p2, p3}", "Most": "12"},
    "barrier": {"Process": "16"},
    "cat_in_boxes": {"Boxes": "40"},
    "chameneos": {"Creature": "4", "Meetings": "6"},
    "chandy_misra": {"NP": "10"},
    "chang_roberts": {"N": "5"},
    "channel": {"Data": "200"},
    "coffee_can": {"Max": "600"},
    "ewd840": {"N": "7"},
    "game_of_life": {"N": "4"},
    "gossip_counter": {"Replica": "3", "Most": "3"},
    "inner_fifo": {"Message": "5", "Most": "5"},
    "lamport_mutex": {"Proc": "2", "MaxClock": "12"},
    "majority_vote": {"Bound": "9"},
    "prisoners": {"Prisoner": "{p1, p2, p3, p4, p5, p6, p7}"},
    "queens": {"N": "8"},
    "simple": {"N": "9"},
    "simple_allocator": {"Client": "4", "Resource": "3"},
    "single_lane_bridge": {"Right": "3", "Left": "3", "Positions": "7"},
    "token_ring_426": {"N": "6", "K": "7"},
    "tower_of_hanoi": {"Disks": "10"},
}
"""Parameters by spec; the others have none that makes them larger, or are large enough."""
OPTIONS = SearchOptions(threads=1, check_deadlock=False, keep_going=True)
DEPTH_FIRST = SearchOptions(threads=1, check_deadlock=False, keep_going=True, order="dfs")
MOST_REPEATS = 20
LONG = 0.2
"""Processor seconds of a search that need not be repeated."""
CHAIN = """module chain
param Last: int = 100000
state:
    at: 0 .. Last = 0
action go:
    when at < Last
    at := at + 1
"""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """A row for each spec, then those of the engine."""
    yield from published([each for each in arguments if each != "engine"] or arguments)
    if not arguments or "engine" in arguments:
        yield from engine()


def published(words: Sequence[str]) -> Iterator[Line]:
    """A row for each spec whose name has one of the words, or for all."""
    with TemporaryDirectory() as folder:
        start = _start(Path(folder))
        for path in sorted(PUBLISHED.glob("*.assay")):
            if not words or any(word in path.stem for word in words):
                yield row(path, Path(folder), start)


def _start(folder: Path) -> float:
    """Processor seconds of TLC on a spec of two states: its start, and no more."""
    if not tlc.is_here():
        return 0.0
    kernel = load_text("state:\n    on: bool = false\naction turn:\n    on := not on\n").kernel
    return _tlc(kernel, folder / "start").cpu_seconds


def row(path: Path, folder: Path, start: float) -> Line:
    """What a spec takes here and in TLC."""
    sizes = SIZES.get(path.stem, {})
    kernel = _searched_alike(load_spec(path, overrides=sizes).kernel)
    line: Line = {"benchmark": "specs", "spec": path.stem, "sizes": sizes}
    began = time.process_time()
    try:
        compiled = compile_kernel(kernel, OPTIONS, folder / f"{path.stem}-objects")
    except (UnsupportedError, SpecError) as error:
        return {**line, "native": False, "why": str(error)}
    line |= {"native": True, "compile_cpu_seconds": round(time.process_time() - began, 2)}
    ours, statistics = _search(kernel, compiled)
    line |= {"distinct": statistics[0], "depth": statistics[1], "search_cpu_seconds": float(f"{ours:.2g}")}
    return line | _against_tlc(kernel, folder / path.stem, ours, start)


def _search(kernel: Kernel, compiled: Compiled, options: SearchOptions = OPTIONS) -> tuple[float, tuple[int, int]]:
    """The least processor seconds of some searches by one thread; how many states and levels."""
    best, spent, times = float("inf"), 0.0, 0
    while True:
        found = check(kernel, compiled, options).statistics
        assert found.effort is not None
        best, spent, times = min(best, found.effort.cpu), spent + found.effort.cpu, times + 1
        if times > 1 and (spent > LONG or times == MOST_REPEATS):  # the first loads the code of the search
            return best, (found.distinct, found.depth)


def _against_tlc(kernel: Kernel, folder: Path, ours: float, start: float) -> Line:
    if not tlc.is_here():
        return {"tlc": "not here"}
    try:
        run = _tlc(kernel, folder)
    except subprocess.TimeoutExpired as late:
        return {"tlc": f"not ended after {late.timeout:.0f} s"}
    own = max(0.0, run.cpu_seconds - start)
    return {
        "tlc_distinct": run.answer.distinct, "tlc_cpu_seconds": round(run.cpu_seconds, 1), "tlc_start": round(start, 1),
        "ratio": round(run.cpu_seconds / ours), "ratio_without_start": round(own / ours),
    }  # fmt: skip


def _searched_alike(kernel: Kernel) -> Kernel:
    """Safety alone: temporal properties are not decided by our search, and refinements not in TLC's run of the module."""
    properties = tuple(each for each in kernel.properties if each.kind not in ("temporal", "refinement"))
    return replace(kernel, properties=properties, refinements=())


def _tlc(kernel: Kernel, folder: Path) -> tlc.Measured:
    folder.mkdir()
    exported = export(kernel)
    for name, text in exported.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tlc.tlc(folder, exported.name, patience=120)


def engine() -> Iterator[Line]:
    """The figures of the engine itself: kip320, a chain, an empty level, start to verdict, threads, and how to ask for 10^9 states."""
    with TemporaryDirectory() as folder:
        yield from _engine(Path(folder))


def _engine(folder: Path) -> Iterator[Line]:
    best = min(tlc.our_cpu_seconds(tlc.MODEL).search for _ in range(3))
    yield {"benchmark": "kip320 r3l2m2e2, search", "value": round(best, 3), "target": 0.13, "unit": "CPU s"}
    kernel = load_text(CHAIN).kernel
    seconds, (states, levels) = _search(kernel, compile_kernel(kernel, OPTIONS, folder / "chain-objects"))
    yield {"benchmark": "a chain", "states": states, "value": round(seconds, 3), "target": 2.0, "unit": "CPU s"}
    deep, _ = _search(kernel, compile_kernel(kernel, DEPTH_FIRST, folder / "chain-objects"), DEPTH_FIRST)
    yield {
        "benchmark": "a chain, depth-first",
        "states": states,
        "value": round(deep, 3),
        "target": 2.0,
        "unit": "CPU s",
    }
    yield {
        "benchmark": "a level of one state",
        "value": round(seconds / levels * 1e6, 2),
        "target": 20,
        "unit": "CPU us",
    }
    runs = [_command(PUBLISHED / "ewd840.assay") for _ in range(5)]
    yield {
        "benchmark": "start to verdict, warm", "value": min(wall for wall, _ in runs), "target": 0.35, "unit": "s",
        "cpu_seconds": min(cpu for _, cpu in runs), "load_before": round(os.getloadavg()[0], 1),
    }  # fmt: skip
    yield from native.threads()
    yield {"benchmark": "10^9 states", "command": "python -m benchmarks native billion", "target": "180 s, 16 GB, 1e-9"}


def _command(spec: Path) -> tuple[float, float]:
    """The seconds, and the processor seconds, of a whole command."""
    before, started = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "assay", "check", str(spec)], check=False, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return round(time.perf_counter() - started, 3), round(cpu, 3)
