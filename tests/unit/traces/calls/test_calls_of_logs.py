"""How the lines of a log become calls, and what is said where they do not (docs/events.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import Validation
from assay.traces.scoped_validate import validate_in_scope

STORE = """\
module store
param Key: set = {{k1, k2}}
param Value: set = {{v1, v2}}
state:
    value: map[Key, Value?] = [k -> none]
action read(k: Key, seen: Value?):
    when same: seen == value[k]
action write(k: Key, new: Value):
    value[k] := some(new)
{more}
trace parts:
    from events:
        event = "f"; phase = "type"; process = "process"
    order: lines
    call read(key: Key) returns (value: Value?): read(key, value)
    call write(key: Key, value: Value): write(key, value)
trace clients:
    from events:
        event = "f"; phase = "type"; process = "process"; time = "t" in ms
    call read(key: Key) returns (value: Value?): read(key, value)
    call write(key: Key, value: Value): write(key, value)
    order: file; skew 5 ms
trace spans:
    from events:
        event = "name"; time = "start" in ns
    call read(key: Key, value: Value?) from start to end: read(key, value)
    call write(key: Key, value: Value) from start to end: write(key, value)
"""


def answer(folder: Path, clause: str, *files: Sequence[object], more: str = "") -> Validation:
    loaded = load_text(STORE.format(more=more))
    for number, lines in enumerate(files):
        text = lines if isinstance(lines, str) else "\n".join(map(json.dumps, lines))
        (folder / f"log{number}.jsonl").write_text(text + "\n", encoding="utf-8")
    reading = read_logs([folder], ReadOptions(source=source_of(loaded, clause)))
    return validate_in_scope(loaded, reading, DEFAULT_OPTIONS, clause)


def line(f: str, phase: str, process: int, value: object = None, **more: object) -> dict[str, object]:
    return {"f": f, "type": phase, "process": process, "key": "x", "value": value, **more}


def span(name: str, start: object, end: object, value: int | None, key: str = "x") -> dict[str, object]:
    return {"name": name, "start": start, "end": end, "key": key, "value": value}


OTLP = """
trace otlp:
    from events
    call read(key: Key, value: Value?) from start to end: read(key, value)
    call write(key: Key, value: Value) from start to end: write(key, value)
"""


@pytest.mark.parametrize(("began", "verdict"), [(2_000, "consistent"), (3_000, "inconsistent")])
def test_spans_of_otlp_need_no_unit_of_time(tmp_path: Path, began: int, verdict: str) -> None:
    first = 1_795_225_522_705_000_000
    calls = [("write", 0, "old"), ("write", 1_500, "new"), ("read", began, "old")]
    spans = [
        {
            "name": name,
            "startTimeUnixNano": str(first + start),
            "endTimeUnixNano": str(first + start + 1_000),
            "attributes": [
                {"key": key, "value": {"stringValue": text}} for key, text in (("key", "x"), ("value", value))
            ],
        }
        for name, start, value in calls
    ]
    log = json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]})
    assert answer(tmp_path, "otlp", log, more=OTLP).verdict.value == verdict


def test_calls_that_overlap_take_effect_in_any_order(tmp_path: Path) -> None:
    lines = [line("write", "invoke", 0, 1), line("read", "invoke", 1), line("read", "ok", 1), line("write", "ok", 0, 1)]
    found = answer(tmp_path, "parts", lines)
    assert (found.verdict.value, found.counts.used, found.counts.read) == ("consistent", 4, 4)
    assert found.execution is not None
    assert [step.action for step in found.execution.steps] == ["read", "write"]


def test_a_read_after_a_write_returns_what_was_written(tmp_path: Path) -> None:
    lines = [line("write", "invoke", 0, 1), line("write", "ok", 0, 1), line("read", "invoke", 1), line("read", "ok", 1)]
    found = answer(tmp_path, "parts", lines)
    assert found.verdict.value == "inconsistent"
    (violation,) = found.violations
    assert str(violation.place).endswith("log0.jsonl:4")
    assert violation.contradiction is not None
    assert violation.contradiction.text == "no order explains these 2 calls of x, whatever the state before"
    assert [each.partition("  ")[2] for each in violation.contradiction.calls] == [
        "write(value = 1), process 0",
        "read(value = none), process 1",
    ]


@pytest.mark.parametrize("seen", [None, 1])
def test_a_call_of_unknown_outcome_may_have_had_an_effect_or_none(tmp_path: Path, seen: int | None) -> None:
    lines = [
        line("write", "invoke", 0, 1),
        line("write", "info", 0),
        line("read", "invoke", 1),
        line("read", "ok", 1, seen),
    ]
    assert answer(tmp_path, "parts", lines).verdict.value == "consistent"
    again = [*lines, line("read", "invoke", 1), line("read", "ok", 1, 2)]
    assert answer(tmp_path, "parts", again).verdict.value == "inconsistent"


def test_a_call_that_failed_had_no_effect(tmp_path: Path) -> None:
    lines = [
        line("write", "invoke", 0, 1),
        line("write", "fail", 0, 1),
        line("read", "invoke", 1),
        line("read", "ok", 1, 1),
    ]
    assert answer(tmp_path, "parts", lines).verdict.value == "inconsistent"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([line("read", "ok", 0)], "log0.jsonl:1: read: it ends a call that no line begins"),
        (
            [line("read", "invoke", 0), line("read", "ok", 0, 1), line("read", "ok", 0, 1)],
            "log0.jsonl:3: read: the call is over already",
        ),
        (
            [line("write", "invoke", 0, 1), line("read", "invoke", 0), line("read", "ok", 0, 1)],
            "log0.jsonl:1: write: no line ends the call, and its process begins another one: ",
        ),
        (
            [line("write", "invoke", 0, 1), line("read", "ok", 0)],
            "log0.jsonl:2: read: it ends `read`, and its process has begun `write`",
        ),
        ([line("read", "began", 0)], 'its `type` is "began", none of `invoke`, `ok`, `fail`, `info`'),
        ([{"f": "read", "type": "invoke", "key": "x"}], "it has no `process`, which says whose call it is"),
        ([line("read", "invoke", 0), line("read", "ok", 0, key="x", value=[1])], "its `value` cannot be read"),
    ],
)
def test_lines_that_make_no_call_leave_the_answer_open(tmp_path: Path, lines: list[object], said: str) -> None:
    found = answer(tmp_path, "parts", [line("write", "invoke", 9, 1), line("write", "ok", 9, 1), *lines])
    shifted = (
        said.replace(":1: ", ":3: ").replace(":2: ", ":4: ") if ":3: " not in said else said.replace(":3: ", ":5: ")
    )
    assert found.verdict.value == "inconclusive"
    assert shifted in (found.reason or "")


def test_the_effect_of_a_call_whose_beginning_is_missing_is_not_forgotten(tmp_path: Path) -> None:
    lines = [line("write", "ok", 0, 1), line("read", "invoke", 1), line("read", "ok", 1, 1)]
    assert answer(tmp_path, "parts", lines).verdict.value == "inconclusive"
    assert not answer(tmp_path, "parts", lines).violations


READ_WITHOUT_CALL = line("read", "ok", 0, 1)
READ_AGAIN = [line("read", "invoke", 1), line("read", "ok", 1, 1)]
STALE = [
    *(line("write", phase, 1, value) for value in (2, 3) for phase in ("invoke", "ok")),
    line("read", "invoke", 1), line("read", "ok", 1, 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "blamed"),
    [
        ([READ_WITHOUT_CALL], []),
        ([READ_WITHOUT_CALL, *READ_AGAIN], []),
        ([READ_WITHOUT_CALL, *STALE], [7]),
        ([*STALE, READ_WITHOUT_CALL], []),
    ],
    ids=["alone", "read again", "a contradiction behind it", "one before it"],
)
def test_a_history_that_begins_within_a_call_contradicts_itself_only_behind_it(
    tmp_path: Path, lines: list[object], blamed: list[int]
) -> None:
    found = answer(tmp_path, "parts", lines)
    assert found.verdict.value in {"inconclusive", "vacuous"}
    assert [each.event.record.place.line for each in found.violations] == blamed


def test_spans_are_compared_by_the_nanosecond(tmp_path: Path) -> None:
    write, begun = span("write", 100, 200, 1), 201
    assert answer(tmp_path, "spans", [write, span("read", begun, 300, None)]).verdict.value == "inconsistent"
    assert answer(tmp_path, "spans", [write, span("read", 200, 300, None)]).verdict.value == "consistent"
    assert (
        answer(tmp_path, "spans", [span("write", 100, None, 1), span("read", 300, 400, None)]).verdict.value
        == "consistent"
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([span("read", 300, 200, None)], "it ends before it begins: `start` is later than `end`"),
        ([span("read", None, 200, None)], "its `start`, when the call began, is missing"),
        ([span("read", 300, "soon", None)], "its `end`, when the call ended, is no number of ns"),
    ],
)
def test_times_of_spans_that_cannot_be_leave_the_answer_open(tmp_path: Path, lines: list[object], said: str) -> None:
    found = answer(tmp_path, "spans", [span("write", 1, 2, 1), *lines])
    assert found.verdict.value == "inconclusive"
    assert said in (found.reason or "")


def test_clocks_of_two_files_may_differ_as_the_clause_says(tmp_path: Path) -> None:
    writes = [line("write", "invoke", 0, 1, t=0, node="a"), line("write", "ok", 0, 1, t=10, node="a")]
    near = [line("read", "invoke", 1, t=14, node="b"), line("read", "ok", 1, t=20, node="b")]
    far = [line("read", "invoke", 1, t=16, node="b"), line("read", "ok", 1, t=20, node="b")]
    assert answer(tmp_path, "clients", writes, near).verdict.value == "consistent"
    assert answer(tmp_path, "clients", writes, far).verdict.value == "inconsistent"


STAMPED = """
trace stamped:
    from events:
        event = "f"; phase = "type"; process = "process"; time = "at"
    call read(key: Key) returns (value: Value?): read(key, value)
    call write(key: Key, value: Value): write(key, value)
    order: file; skew 0 ms
"""


@pytest.mark.parametrize(("begun", "verdict"), [("06.500", "consistent"), ("07.001", "inconsistent")])
def test_a_call_that_ends_in_a_whole_second_may_end_as_late_as_that_second_does(
    tmp_path: Path, begun: str, verdict: str
) -> None:
    day = "2024-05-01T10:00:"
    writes = [line("write", phase, 0, 1, at=f"{day}{second}Z") for phase, second in (("invoke", "05"), ("ok", "06"))]
    reads = [line("read", phase, 1, at=f"{day}{second}Z") for phase, second in (("invoke", begun), ("ok", "07.900"))]
    assert answer(tmp_path, "stamped", writes, reads, more=STAMPED).verdict.value == verdict


def test_keys_are_objects_of_their_own_only_if_the_spec_keeps_them_apart(tmp_path: Path) -> None:
    lines = [span("write", 10 * at, 10 * at + 5, 1, key=f"k{at}") for at in range(6)]
    assert answer(tmp_path, "spans", lines).execution is None
    joined = "invariant few: count({k in Key if value[k] != none}) < 3"
    assert answer(tmp_path, "spans", lines, more=joined).verdict.value == "violated"


def test_two_lines_of_a_call_are_joined_by_what_the_block_names() -> None:
    text = STORE.format(more="").replace('; process = "process"\n    order: lines', "\n    order: lines")
    with pytest.raises(SpecError) as raised:
        load_text(text)
    assert "does not say which key holds their process" in raised.value.diagnostics[0].message
