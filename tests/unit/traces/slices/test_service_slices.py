"""Logs of services whose every event is about one thing of many, such as an order: each is a slice, and nothing is shared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.report.logs.validation_text import validation_lines
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

SPEC = """\
module shop

param Order: set = {o1, o2}
param Worker: set = {w1, w2}

enum Status: Absent, Placed, Paid, Shipped, Cancelled

state:
    status: map[Order, Status] = [o -> Absent]
    packer: map[Order, Worker?] = [o -> none]

action place(o: Order):
    when fresh: status[o] == Absent
    status[o] := Placed

action pay(o: Order):
    when placed: status[o] == Placed
    status[o] := Paid

action pack(o: Order, w: Worker):
    when paid: status[o] == Paid
    when nobody: packer[o] == none
    packer[o] := w

action ship(o: Order, w: Worker):
    when own: packer[o] == w
    when paid: status[o] == Paid
    status[o] := Shipped

action cancel(o: Order):
    when not_shipped: status[o] == Placed or status[o] == Paid
    status[o] := Cancelled

action give_up(o: Order):
    when packer[o] != none
    packer[o] := none

trace log:
    from shop
    slice Order by FIELDS
    on Placed(ORDER: Order): place(ORDER)
    on Paid(ORDER: Order): pay(ORDER)
    on Packing(ORDER: Order, node: Worker): pack(ORDER, node)
    on Shipped(ORDER: Order, node: Worker): ship(ORDER, node)
    on Cancelled(ORDER: Order): cancel(ORDER)
    hidden give_up; at most 1 between two pinned events
    order: file; commit before line within 50 ms; skew 5 ms
"""

GOOD = [
    ("Placed", "web", 1),
    ("Placed", "web", 2),
    ("Paid", "bank", 1),
    ("Packing", "w7", 1),
    ("Packing", "w8", 1),
    ("Cancelled", "web", 2),
    ("Shipped", "w8", 1),
]
BAD = [*GOOD[:-1], ("Paid", "bank", 2), GOOD[-1]]


def spec(order: str = "order", fields: str = "order") -> str:
    return SPEC.replace("ORDER", order).replace("FIELDS", fields)


def answer(folder: Path, lines: Sequence[tuple[str, str, int]], text: str) -> Validation:
    file = folder / "shop.jsonl"
    entries = (
        {"event": kind, "time": 1_700_000_000_000 + 200 * at, "node": node, "order": f"order-{number}", "shop": 1}
        for at, (kind, node, number) in enumerate(lines)
    )
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return validate(load_text(text), read_logs([str(file)]).events)


@pytest.mark.parametrize("order", ["order", "slice"])
def test_each_order_is_checked_though_nothing_is_shared(tmp_path: Path, order: str) -> None:
    found = answer(tmp_path, GOOD, spec(order))
    assert found.verdict is TraceVerdict.CONSISTENT, found.reason
    assert found.counts.used == len(GOOD)
    assert [each.name for each in found.slices] == ["order-1", "order-2"]
    assert found.hidden == {"give_up": 1}


@pytest.mark.parametrize("order", ["order", "slice"])
def test_the_order_that_breaks_a_rule_is_told_by_its_name_alone(tmp_path: Path, order: str) -> None:
    found = answer(tmp_path, BAD, spec(order))
    assert [(each.name, each.verdict) for each in found.slices] == [
        ("order-1", TraceVerdict.CONSISTENT),
        ("order-2", TraceVerdict.INCONSISTENT),
    ]
    (violation,) = found.violations
    assert violation.blame[0].action == "pay"
    assert [part.label for part in violation.blame[0].parts] == ["placed"]
    text = "\n".join(line.text for line in validation_lines(found))
    assert "read as Paid(order = order-2, shop = 1, node = bank)" in text
    assert "o1" not in text


def test_a_log_of_other_things_is_vacuous(tmp_path: Path) -> None:
    found = answer(tmp_path, [("Refunded", "web", 1)], spec())
    assert found.verdict is TraceVerdict.VACUOUS
    assert found.counts.unmapped == 1


def test_an_event_of_several_fields_has_its_slice_under_that_name(tmp_path: Path) -> None:
    assert answer(tmp_path, GOOD, spec("slice", "shop, order")).verdict is TraceVerdict.CONSISTENT
    with pytest.raises(SpecError) as refused:
        load_text(spec("order", "shop, order"))
    assert {(each.code, each.span.line) for each in refused.value.diagnostics} == {("E515", at) for at in range(41, 46)}


def timed(folder: Path, lines: Sequence[tuple[int, str, str]], text: str) -> Validation:
    """The answer about lines of one order, each with its time; of the shop itself is what names no order."""
    entries = [
        {"event": kind, "time": 1_700_000_000_000 + at, "node": node, **({} if kind == "Closed" else {"order": "o"})}
        for at, kind, node in lines
    ]
    file = folder / "shop.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return validate(load_text(text), read_logs([str(file)]).events)


def test_clocks_that_differ_do_not_make_a_slice_inconsistent(tmp_path: Path) -> None:
    lines = [(3, "Placed", "web"), (1, "Paid", "bank"), (9, "Packing", "w7"), (8, "Shipped", "w7")]
    found = timed(tmp_path, lines, spec())
    assert found.verdict is TraceVerdict.CONSISTENT
    (order,) = found.slices
    assert order.execution is not None
    assert [step.action for step in order.execution.steps] == ["place", "pay", "pack", "ship"]
    assert timed(tmp_path, [(70, *lines[0][1:]), *lines[1:]], spec()).verdict is TraceVerdict.INCONSISTENT


CLOSING = (
    spec()
    .replace("state:", "state:\n    closed: bool = false", 1)
    .replace("action place", "action close:\n    closed := true\n\naction place", 1)
    .replace("    when fresh:", "    when still_open: not closed\n    when fresh:", 1)
    .replace("    on Placed", "    on Closed: close\n    on Placed", 1)
)


@pytest.mark.parametrize(("after", "verdict"), [(40, TraceVerdict.CONSISTENT), (60, TraceVerdict.INCONSISTENT)])
def test_what_happened_after_a_change_of_what_is_shared_is_not_taken_for_earlier(
    tmp_path: Path, after: int, verdict: TraceVerdict
) -> None:
    found = timed(tmp_path, [(0, "Closed", "web"), (after, "Placed", "bank")], CLOSING)
    assert found.verdict is verdict
    parts = [part.label for violation in found.violations for part in violation.blame[0].parts]
    assert parts == (["still_open"] if found.violations else [])


def test_what_a_file_says_first_was_first_whatever_it_is_about(tmp_path: Path) -> None:
    lines = [(0, "Closed", "web"), (40, "Placed", "web")]
    assert timed(tmp_path, lines, CLOSING).verdict is TraceVerdict.INCONSISTENT
    assert timed(tmp_path, lines[::-1], CLOSING).verdict is TraceVerdict.CONSISTENT


REOPENING = (
    CLOSING.replace("action close:\n", "action close:\n    when open: not closed\n")
    .replace("action place", "action reopen:\n    when shut: closed\n    closed := false\n\naction place", 1)
    .replace("hidden give_up;", "hidden give_up, reopen;")
)


@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        ([(500, "Placed", "bank"), (700, "Paid", "bank")], TraceVerdict.CONSISTENT),
        ([(500, "Placed", "bank"), (600, "Paid", "bank"), (700, "Paid", "bank")], TraceVerdict.INCONSISTENT),
    ],
    ids=["paid once", "paid twice"],
)
def test_a_mismatch_that_no_other_time_of_a_hidden_shared_step_explains_stays_one(
    tmp_path: Path, order: list[tuple[int, str, str]], verdict: TraceVerdict
) -> None:
    found = timed(tmp_path, [(0, "Closed", "web"), *order, (1_000, "Closed", "web")], REOPENING)
    assert found.verdict is verdict
    assert "reopen" in found.hidden
