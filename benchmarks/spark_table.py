"""All figures that Spark is held to, with their targets: `python -m benchmarks spark_table [into=FILE]`; at full sizes that takes hours on two cores.

What is in the file is not measured again, so that the command can be ended at any time. The lines have all that was measured; a last one counts
the targets that were met.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import spark, spark_logs

Line = dict[str, object]
OF_LOGS = ("reading", "large", "live")
RATES = frozenset({"MB a processor second", "events a second"})
"""Units of which more is better."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of all measurements that have a target; raises ValueError for what is no file."""
    if wrong := [each for each in arguments if not each.startswith("into=")]:
        raise ValueError(f"only into=FILE can be said, and not {wrong[0]}")
    met: list[bool] = []
    for line in _measured(arguments):
        if line.get("target") is not None:
            met.append(is_met(line))
            yield {**line, "met": met[-1]}
    yield {"benchmark": "targets met", "value": sum(met), "target": len(met)}


def is_met(line: Line) -> bool:
    """Whether what was measured is what was asked for; an answer that is not the local one meets nothing."""
    value, target = line["value"], line["target"]
    if line.get("equal_to_local") is False:
        return False
    if isinstance(value, int | float) and isinstance(target, int | float):
        counted = "survived" in str(line["benchmark"])
        return value >= target if counted or line.get("unit") in RATES else value <= target
    return value == target


def _measured(arguments: Sequence[str]) -> Iterator[Line]:
    yield from spark.lines(arguments)
    kept = Path(arguments[-1].removeprefix("into=")) if arguments else None
    for part in OF_LOGS:
        known = spark.known_lines(kept, part)
        yield from known
        if not known:
            found = [{"part": part, **line} for line in spark_logs.lines([part])]
            yield from found
            spark.keep_lines(kept, found)
