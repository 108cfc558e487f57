"""The table for logs of any system, from one command: one line of JSON a row.

`python -m benchmarks events [ROW…] [--count 200000] [--broken 100] [--etcd FILE] [--edits 30] [--histories FOLDER]`

The rows are these; all are measured if none is named. `etcd` is the trace of etcd's raft library in FILE
(`tla/example.ndjson` of go.etcd.io/raft), and copies of it with one field edited. `histories` are logs of Jepsen and of
a key-value store in FOLDER, beside Porcupine. `lossy` is a shop of three nodes; 1 % of its lines are lost and 1 %
doubled. `pinned` is a log each of whose lines names its action. `recording` and `alignments` are the benchmarks of
these names. FILE and FOLDER are taken from the modules of Go if they are not given; a row that cannot have them says
why.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate
from benchmarks import alignments, lossy_orders, objects, recording, service
from benchmarks.synthetic import Line

_RAFT = "go.etcd.io/raft/v3@v3.7.0"

_NEITHER = frozenset({"tag", "ts"})
"""Keys of etcd's lines that say nothing of a step."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """A line for each row that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks events", exit_on_error=False)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []])
    for name, usual in (("count", 200_000), ("broken", 100), ("edits", 30), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--etcd", type=Path)
    parser.add_argument("--histories", type=Path)
    try:
        options = parser.parse_args(list(arguments))
    except argparse.ArgumentError as error:
        raise ValueError(str(error)) from error
    for name in options.rows or ROWS:
        load = os.getloadavg()[0]
        for found in ROWS[name](options):
            yield {"benchmark": "events", "row": name, **found, "load_before": round(load, 2)}


def go_module(module: str) -> Path:
    """The folder of a module of Go with its version, fetched if it is not there. Raises ``OSError``."""
    go = shutil.which("go")
    if go is None:
        raise FileNotFoundError("Go is not installed")
    done = subprocess.run([go, "mod", "download", "-json", module], capture_output=True, text=True, check=False)
    if done.returncode:
        raise FileNotFoundError(f"Go cannot fetch {module}: {(done.stderr or done.stdout).strip()[-200:]}")
    return Path(json.loads(done.stdout)["Dir"])


def _etcd(options: argparse.Namespace) -> Iterator[Line]:
    try:
        file = options.etcd or go_module(_RAFT) / "tla" / "example.ndjson"
    except OSError as error:
        yield {"left_out": f"no --etcd FILE, and {error}"}
        return
    loaded = load_spec(bundled_specs()[0] / "systems" / "etcd_raft.assay")
    text = file.read_text(encoding="utf-8").splitlines()
    begun = process_time()
    found = _of_text(loaded, text)
    taken = round(process_time() - begun, 2)
    yield {"lines": len(text), "verdict": found.verdict.value, "cpu_seconds": taken, "target": "consistent, 3"}
    choose, rejected, blamed, missed = Random(options.seed), 0, 0, list[str]()
    for _ in range(options.edits):
        at, edited = _edited(text, choose)
        found = _of_text(loaded, [*text[:at], edited, *text[at + 1 :]], Options(mismatches=1))
        is_rejected = found.verdict is TraceVerdict.INCONSISTENT
        is_blamed = any(each.place.line == at + 1 for each in found.violations)
        rejected, blamed = rejected + is_rejected, blamed + is_blamed
        missed += [] if is_blamed else [f"{at + 1}: {edited}"]
    yield {
        "edits": options.edits,
        "rejected": rejected,
        "blamed_at_the_line": blamed,
        "not_blamed": missed,
        "target": "95 % and 90 %",
    }


def _of_text(loaded: Loaded, text: Sequence[str], options: Options = DEFAULT_OPTIONS) -> Validation:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trace.ndjson"
        file.write_text("\n".join(text) + "\n", encoding="utf-8")
        events = read_logs([file], ReadOptions(source=source_of(loaded, None))).events
        return validate(loaded, events, options=options)


def _edited(text: Sequence[str], choose: Random) -> tuple[int, str]:
    """A line, by its position, with one of its numbers increased by one."""
    while True:
        at = choose.randrange(len(text))
        try:
            line = json.loads(text[at])
        except ValueError:
            continue
        places = list(_numbers(line))
        if places:
            holder, key = choose.choice(places)
            holder[key] += 1
            return at, json.dumps(line)


def _numbers(content: Any) -> Iterator[tuple[Any, str]]:
    if isinstance(content, dict):
        for key, value in content.items():
            if isinstance(value, int) and not isinstance(value, bool) and key not in _NEITHER:
                yield content, key
            elif isinstance(value, dict):
                yield from _numbers(value)


def _histories(options: argparse.Namespace) -> Iterator[Line]:
    try:
        folder = options.histories or go_module(objects.MODULE) / "test_data"
    except OSError as error:
        yield {"left_out": f"no --histories FOLDER, and {error}"}
        return
    with TemporaryDirectory() as scratch:
        for found in objects.groups(folder, Path(scratch)):
            yield {**found, "target": "no verdict differs, ratio 5 of all together, 300 MB"}


def _lossy(options: argparse.Namespace) -> Iterator[Line]:
    log, loaded = lossy_orders.lossy_log(options.count, options.broken, seed=options.seed), load_spec(lossy_orders.SPEC)
    with TemporaryDirectory() as folder:
        log.write(Path(folder))
        begun = process_time()
        events = read_logs([folder]).events
    read = process_time()
    found = validate(loaded, events)
    taken = process_time() - read
    broken = {each.name for each in found.slices if each.verdict is TraceVerdict.INCONSISTENT}
    yield {
        "events": len(events),
        "orders": len(found.slices),
        "broken": len(log.broken),
        "broken_and_found": len(broken & log.broken),
        "others_found": len(broken - log.broken),
        "undecided": sum(each.verdict is TraceVerdict.INCONCLUSIVE for each in found.slices),
        "cpu_seconds_reading": round(read - begun, 2),
        "cpu_seconds_validating": round(taken, 2),
        "events_a_cpu_second": round(len(events) / taken),
        "target": "50,000; all broken ones, no other",
    }


def _pinned(options: argparse.Namespace) -> Iterator[Line]:
    yield {**service.measured("right", service.written(options.count)), "target": "500,000 events_a_cpu_second"}


def _recording(_: argparse.Namespace) -> Iterator[Line]:
    for each in recording.lines(("1",)):
        yield {**each, "target": "5 µs an event"}


def _alignments(options: argparse.Namespace) -> Iterator[Line]:
    yield {**alignments.measured(50, options.seed, 8, 3), "target": "95 % equal"}


ROWS: Mapping[str, Callable[[argparse.Namespace], Iterator[Line]]] = {
    "etcd": _etcd,
    "histories": _histories,
    "lossy": _lossy,
    "pinned": _pinned,
    "recording": _recording,
    "alignments": _alignments,
}
