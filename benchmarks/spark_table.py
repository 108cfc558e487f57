"""All figures that Spark is held to, with their targets: `python -m benchmarks spark_table [into=FILE] [PART[=SIZE]]…`, all parts if none is named.

At full sizes that takes hours on two cores. What is in the file is not measured again, so that the command can be ended
at any time. The parts about logs (`reading`, `large`, `live`) take a smaller size. The lines have all that was
measured; a last one counts the targets that were met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import spark, spark_logs

Line = dict[str, object]
OF_LOGS = ("reading", "large", "live")
RATES = frozenset({"MB a processor second", "events a second"})
"""Units of which more is better."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of all measurements that have a target; raises ValueError for what is neither a file nor a part."""
    files = [each.removeprefix("into=") for each in arguments if each.startswith("into=")]
    parts = dict(each.partition("=")[::2] for each in arguments if not each.startswith("into="))
    known = {*spark.PARTS, *OF_LOGS}
    if wrong := [name for name, size in parts.items() if name not in known or (size and name not in OF_LOGS)]:
        raise ValueError(f"no part {wrong[0]}, or none of another size; parts: {', '.join(sorted(known))}")
    met: list[bool] = []
    for line in _measured(Path(files[-1]) if files else None, parts or dict.fromkeys([*spark.PARTS, *OF_LOGS], "")):
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


def _measured(kept: Path | None, parts: Mapping[str, str]) -> Iterator[Line]:
    searches = [name for name in parts if name in spark.PARTS]
    if searches:
        yield from spark.lines([*([] if kept is None else [f"into={kept}"]), *searches])
    for part in (name for name in parts if name in OF_LOGS):
        named = f"{part}={parts[part]}" if parts[part] else part
        known = spark.known_lines(kept, named)
        yield from known
        if not known:
            found = [{"part": named, **line} for line in spark_logs.lines([named])]
            yield from found
            spark.keep_lines(kept, found)
