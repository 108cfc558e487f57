"""The bundled objects: their states, and histories of each that are linearizable, and that are not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.api.bundled import locate_spec
from assay.checker.engines.reference_engine import check
from assay.checker.report import Outcome
from assay.grammar.load import load_spec
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.scoped_validate import validate_in_scope

STATES = {"register": 4, "kv": 9, "counter": 10, "lease": 10, "queue": 15, "log": 15}


def verdict(folder: Path, name: str, clause: str, lines: Sequence[str]) -> str:
    loaded = load_spec(locate_spec(f"objects/{name}"))
    (folder / "history.edn").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reading = read_logs([folder / "history.edn"], ReadOptions(source=source_of(loaded, clause)))
    return validate_in_scope(loaded, reading, DEFAULT_OPTIONS, clause).verdict.value


def ops(*calls: tuple[int, str, str, str]) -> list[str]:
    """Calls one after the other: the process, the call, what is said of its outcome, the value."""
    lines: list[str] = []
    for process, f, outcome, value in calls:
        begun = "nil" if f in {"read", "dequeue"} and not value.startswith("[") else value
        lines.append(f"{{:process {process}, :type :invoke, :f :{f}, :value {begun}}}")
        lines.append(f"{{:process {process}, :type :{outcome}, :f :{f}, :value {value}}}")
    return lines


CONSISTENT = [
    ("register", ops((0, "write", "ok", "1"), (1, "cas", "ok", "[1 2]"), (0, "cas", "fail", "[1 3]"), (1, "read", "ok", "2"))),
    ("kv", ops((0, "write", "ok", "[x 1]"), (1, "read", "ok", "[y nil]"), (0, "cas", "ok", "[x [1 2]]"), (1, "read", "ok", "[x 2]"))),
    ("counter", ops((0, "add", "ok", "3"), (1, "add", "info", "2"), (0, "read", "ok", "3"), (0, "read", "ok", "5"))),
    ("lease", ops((0, "acquire", "ok", "nil"), (1, "acquire", "fail", "nil"), (0, "renew", "ok", "nil"), (1, "acquire", "ok", "nil"), (0, "release", "fail", "nil"))),
    ("queue", ops((0, "enqueue", "ok", "1"), (0, "enqueue", "ok", "2"), (1, "dequeue", "ok", "1"), (1, "dequeue", "ok", "2"), (1, "dequeue", "fail", "nil"))),
    ("log", ops((0, "append", "ok", "[x 1]"), (0, "append", "info", "[x 2]"), (1, "read", "ok", "[x [1]]"), (1, "read", "ok", "[x [1 2]]"))),
]  # fmt: skip
INCONSISTENT = [
    ("register", ops((0, "write", "ok", "1"), (0, "cas", "fail", "[1 3]"))),
    ("kv", ops((0, "write", "ok", "[x 1]"), (0, "write", "ok", "[y 2]"), (1, "read", "ok", "[x 2]"))),
    ("counter", ops((0, "add", "ok", "3"), (1, "read", "ok", "2"))),
    ("lease", ops((0, "acquire", "ok", "nil"), (0, "release", "ok", "nil"), (0, "renew", "ok", "nil"))),
    ("queue", ops((0, "enqueue", "ok", "1"), (0, "enqueue", "ok", "2"), (1, "dequeue", "ok", "2"))),
    ("log", ops((0, "append", "ok", "[x 1]"), (0, "append", "ok", "[x 2]"), (1, "read", "ok", "[x [2]]"))),
]


@pytest.mark.parametrize(("name", "lines"), CONSISTENT)
def test_a_history_that_the_object_allows_is_consistent(tmp_path: Path, name: str, lines: list[str]) -> None:
    assert verdict(tmp_path, name, "jepsen", lines) == "consistent"


@pytest.mark.parametrize(("name", "lines"), INCONSISTENT)
def test_a_history_that_the_object_does_not_allow_is_inconsistent(tmp_path: Path, name: str, lines: list[str]) -> None:
    assert verdict(tmp_path, name, "jepsen", lines) == "inconsistent"


def span(name: str, start: int, end: int | None, **fields: Any) -> str:
    return json.dumps({"name": name, "start": start, "end": end, **fields})


SPANS = {
    "register": [span("cas", 1, 2, old=1, new=2, ok=False), span("write", 1, 9, value=1), span("cas", 3, 4, old=1, new=2, ok=True)],
    "kv": [span("put", 1, 9, key="x", value=1), span("get", 2, 3, key="x", value=1), span("delete", 3, 3, key="x"), span("get", 10, 11, key="x", value=None)],
    "counter": [span("add", 1, 9, value=4), span("add", 2, 3, value=3), span("read", 4, 5, value=3), span("read", 6, 7, value=7)],
    "lease": [span("acquire", 1, 2, client="a", token=1), span("acquire", 3, 4, client="b", token=2), span("release", 5, 6, client="b")],
    "queue": [span("enqueue", 1, 4, value=1), span("enqueue", 2, 4, value=2), span("dequeue", 5, 6, value=2), span("dequeue", 7, 8, value=1), span("dequeue", 9, 10, value=None)],
    "log": [span("append", 1, 4, key="x", entry=1, offset=1), span("append", 2, 4, key="x", entry=2, offset=0), span("read", 5, 6, key="x", entries=[2, 1])],
}  # fmt: skip


WRONG = {
    "register": span("read", 10, 11, value=1),
    "kv": span("get", 12, 13, key="x", value=1),
    "counter": span("read", 10, 11, value=3),
    "lease": span("renew", 7, 8, client="b"),
    "queue": span("dequeue", 11, 12, value=2),
    "log": span("read", 7, 8, key="x", entries=[2]),
}


@pytest.mark.parametrize("name", SPANS)
def test_spans_that_overlap_are_explained_in_the_right_order(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, name, "spans", SPANS[name]) == "consistent"
    assert verdict(tmp_path, name, "spans", [*SPANS[name], WRONG[name]]) == "inconsistent"


@pytest.mark.parametrize(("name", "states"), STATES.items())
def test_an_object_is_correct_by_itself(name: str, states: int) -> None:
    report = check(load_spec(locate_spec(f"objects/{name}")).kernel)
    assert report.statistics.distinct == states
    assert {each.outcome for each in report.properties} <= {Outcome.HOLDS, Outcome.UP_TO_BOUND}


def test_a_value_that_is_called_as_the_one_key_of_the_model_is_shown(tmp_path: Path) -> None:
    loaded = load_spec(locate_spec("objects/kv"))
    lines = ops((0, "write", "ok", '["x" "other"]'), (1, "read", "ok", '["x" "any"]'))
    (tmp_path / "history.edn").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reading = read_logs([tmp_path / "history.edn"], ReadOptions(source=source_of(loaded, "jepsen")))
    (found,) = validate_in_scope(loaded, reading, DEFAULT_OPTIONS, "jepsen").violations
    assert found.contradiction is not None
    assert "read(value = any)" in found.contradiction.calls[0]
