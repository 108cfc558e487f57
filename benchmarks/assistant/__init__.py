"""Twelve descriptions of protocols, and how well the specs fit that somebody wrote from them.

`python -m benchmarks assistant FOLDER` scores the answers in a folder: one line for each description of `tasks/`, and
one with the sums. docs/agents.md says how a trial is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.assistant.score import Score, scored
from benchmarks.assistant.task import Task, tasks

Line = dict[str, object]


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The scores of the answers in the folder that is named."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        raise ValueError("name the folder with the answers: python -m benchmarks assistant FOLDER")
    found: list[tuple[Task, Score]] = []
    for task in tasks():
        found.append((task, scored(task, Path(arguments[0]) / f"{task.answer}.assay")))
        yield {"benchmark": "assistant", "task": task.name, **found[-1][1].to_object()}
    actions = sum(len(task.actions) for task, _ in found)
    yield {
        "benchmark": "assistant",
        "task": "all",
        "passed": sum(score.passed for _, score in found),
        "of": len(found),
        "parsed": sum(score.syntax == 1.0 for _, score in found),
        "ran": sum(score.runs for _, score in found),
        "actions": actions,
        **{
            f"actions_{name}": round(
                sum(getattr(score, name) * len(task.actions) for task, score in found) / actions, 3
            )
            for name in ("syntax", "taken", "conform")
        },
        "properties": round(
            sum(score.properties * len(task.properties) for task, score in found)
            / sum(len(task.properties) for task, _ in found),
            3,
        ),
        "bugs_found": sum(bool(score.found_by) and score.breaks for _, score in found),
    }
