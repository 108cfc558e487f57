"""Logs of which each line says what happened are followed line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Never

import pytest
from benchmarks.service import SPEC, Entry, with_stale_write, written

from assay.grammar.load import load_spec
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search.dfs import TraceSearch
from assay.traces.validate import validate


def answer(folder: Path, entries: Sequence[Entry], clause: str) -> Validation:
    file = folder / "lock.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return validate(load_spec(SPEC), read_logs([str(file)]).events, clause=clause)


def entry(event: str, time: int, node: str, token: int, run: int = 1) -> Entry:
    return {"event": event, "time": 1_700_000_000_000 + time, "node": node, "token": token, "run": run}


def tokens(found: Validation) -> list[str]:
    assert found.execution is not None
    return [f"{step.event.kind} {step.event.fields['token']}" for step in found.execution.steps if step.event]


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_: object) -> Never:
        raise AssertionError

    monkeypatch.setattr(TraceSearch, "paths", unexpected)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("clause", ["near", "anywhere"])
def test_a_log_of_pinned_lines_is_not_searched(tmp_path: Path, clause: str) -> None:
    found = answer(tmp_path, written(300), clause)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.counts.used == len(written(300))


def test_a_log_with_a_line_that_cannot_have_been_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = [0]
    paths = TraceSearch.paths

    def counted(self: TraceSearch, *arguments: object) -> object:
        searched[0] += 1
        return paths(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(TraceSearch, "paths", counted)
    assert answer(tmp_path, with_stale_write(written(300)), "near").verdict is TraceVerdict.INCONSISTENT
    assert searched[0] > 0


HANDED_OVER = [
    entry("Acquired", 0, "c1", 1),
    entry("Written", 20, "c1", 1),
    entry("Acquired", 36, "c2", 2),
    entry("Released", 40, "c1", 1),
    entry("Written", 60, "c2", 2),
]
"""The clock of the second client is behind that of the first."""


@pytest.mark.usefixtures("no_search")
def test_lines_a_little_out_of_the_order_of_time_are_put_right(tmp_path: Path) -> None:
    found = answer(tmp_path, HANDED_OVER, "near")
    assert found.verdict is TraceVerdict.CONSISTENT
    assert tokens(found) == ["Acquired 1", "Written 1", "Released 1", "Acquired 2", "Written 2"]


def test_lines_out_of_the_order_of_time_by_more_than_the_clause_allows_are_not(tmp_path: Path) -> None:
    late = [{**each, "time": int(each["time"]) + 90} if each["event"] == "Released" else each for each in HANDED_OVER]
    assert answer(tmp_path, late, "near").verdict is TraceVerdict.INCONSISTENT
    assert answer(tmp_path, late, "anywhere").verdict is TraceVerdict.CONSISTENT


@pytest.mark.usefixtures("no_search")
def test_a_process_that_was_started_again_comes_after_the_one_before_whatever_its_clock_says(tmp_path: Path) -> None:
    entries = [
        entry("Acquired", 0, "c1", 1),
        entry("Written", 200, "c1", 1),
        entry("Released", 210, "c1", 1),
        entry("Acquired", 150, "c1", 2, run=2),
        entry("Written", 160, "c1", 2, run=2),
    ]
    found = answer(tmp_path, entries, "near")
    assert found.verdict is TraceVerdict.CONSISTENT
    assert tokens(found) == ["Acquired 1", "Written 1", "Released 1", "Acquired 2", "Written 2"]
