"""The symbolic engines on the models of the specification: one line for each row of the table of targets.

`python -m benchmarks symbolic [--keep FILE] [GROUP]…`: what FILE has an answer for is not measured again, and new
answers are added to it.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.symbolic_rows import GROUPS, Line, Row


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """All rows, or those of the named groups, then for the bugs of the ladder how many were found by how many engines.

    Raises ValueError for the name of no group.
    """
    kept, wanted = _kept(list(arguments))
    if unknown := set(wanted) - set(GROUPS):
        raise ValueError(f"no group {', '.join(sorted(unknown))}; groups: {', '.join(GROUPS)}")
    done = {} if kept is None else dict(_read(kept))
    bugs: list[Line] = []
    for name, rows in GROUPS.items():
        for row in rows() if not wanted or name in wanted else ():
            line = done.get(row.key)
            if line is None:
                line = _measured(row)
                _keep(kept, line)
            if "found_by" in line:
                bugs.append(line)
            yield line
    if bugs:
        yield _counts(bugs)


def _kept(arguments: list[str]) -> tuple[Path | None, list[str]]:
    if "--keep" not in arguments:
        return None, arguments
    at = arguments.index("--keep")
    if at + 1 == len(arguments):
        raise ValueError("--keep needs a file")
    return Path(arguments[at + 1]), arguments[:at] + arguments[at + 2 :]


def _read(kept: Path) -> Iterator[tuple[str, Line]]:
    if kept.exists():
        for text in kept.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line.get("verdict") != "unknown":  # a machine with less to do may find the answer
                yield line["key"], line


def _keep(kept: Path | None, line: Line) -> None:
    if kept is not None:
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _cpu() -> float:
    """Processor time of this process and of the solvers that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _measured(row: Row) -> Line:
    load, started, cpu = os.getloadavg()[0], time.perf_counter(), _cpu()
    found = row.work()
    spent = {"cpu_seconds": round(_cpu() - cpu, 2), "seconds": round(time.perf_counter() - started, 2)}
    also = {} if row.also is None else row.also(found)
    what: Line = {"key": row.key, "benchmark": row.benchmark, **row.what}
    return {**what, **found, **spent, **also, "load_before": round(load, 2)}


def _counts(bugs: Sequence[Line]) -> Line:
    """Of the bugs how many were found, by how many engines, and whether they found runs of the same length."""
    by_two = [each for each in bugs if sum(length is not None for length in _lengths(each).values()) >= 2]
    equal = [each for each in by_two if len(set(_lengths(each).values())) == 1]
    return {
        "benchmark": "bugs found",
        "bugs": len(bugs),
        "by_two_engines": len(by_two),
        "with_runs_of_one_length": len(equal),
    }


def _lengths(line: Line) -> dict[str, int | None]:
    found = line["found_by"]
    assert isinstance(found, dict)
    return found
