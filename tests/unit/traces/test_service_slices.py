"""Logs of services whose every event is about one thing of many, such as an order: each is a slice, and nothing is shared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.grammar.diagnostics import SpecError
from assay.grammar.load import load_text
from assay.report.validation_text import validation_lines
from assay.traces.read import read_logs
from assay.traces.validate import validate
from assay.traces.validation import TraceVerdict, Validation

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
