"""``order: causal``: what clocks and messages say of the order of lines, and what contradicts itself there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.traces.result import TraceVerdict

SPEC = """module lock
param Node: set = {n1, n2}
state:
    holder: Node? = none
action acquire(n: Node):
    when is_free: holder == none
    holder := n
action release(n: Node):
    when holds: holder == n
    holder := none
trace log:
    from events:
        BLOCK
    ORDER
    on Acquired(node: Node): acquire(node)
    on Released(node: Node): release(node)
    ignore Sent, Got, Idle "say nothing of the lock"
"""
CLOCK = 'clock = "vc"'
MESSAGES = 'sends = "id" in "Sent"; receives = "id" in "Got"'


def asked(folder: Path, block: str, *entries: dict[str, object], order: str = "order: causal") -> assay.LogAnswer:
    spec = SPEC.replace("BLOCK", block).replace("ORDER", order)
    (folder / "lock.assay").write_text(spec, encoding="utf-8")
    (folder / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return assay.validate(str(folder / "log.jsonl"), str(folder / "lock.assay"))


def stamped(event: str, node: str, **clock: int) -> dict[str, object]:
    return {"event": event, "node": node, "vc": clock}


def line(event: str, node: str, message: object = None) -> dict[str, object]:
    return {"event": event, "node": node, **({} if message is None else {"id": message})}


def test_a_line_follows_what_its_clock_knows_whatever_the_order_in_the_file(tmp_path: Path) -> None:
    second = [stamped("Acquired", "n2", n1=2, n2=1), stamped("Released", "n2", n1=2, n2=2)]
    first = [stamped("Acquired", "n1", n1=1), stamped("Released", "n1", n1=2)]
    assert asked(tmp_path, CLOCK, *second, *first).verdict is TraceVerdict.CONSISTENT


def test_a_lock_that_a_message_gave_away_too_early_is_found(tmp_path: Path) -> None:
    given = [line("Acquired", "n1"), line("Sent", "n1", "m"), line("Released", "n1"), line("Sent", "n1", "late")]
    taken = [line("Got", "n2", "m"), line("Acquired", "n2"), line("Sent", "n2", "back"), line("Released", "n2")]
    assert asked(tmp_path, MESSAGES, *taken, *given).verdict is TraceVerdict.CONSISTENT
    given[2:2] = [line("Got", "n1", "back")]
    found = asked(tmp_path, MESSAGES, *taken, *given)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert "guard is_free is false" in str(found)


def test_an_entry_that_several_lines_have_is_that_of_the_first(tmp_path: Path) -> None:
    own = [stamped("Acquired", "n1", n1=1), stamped("Released", "n1", n1=1)]
    assert asked(tmp_path, CLOCK, stamped("Acquired", "n2", n1=1, n2=1), *own).verdict is TraceVerdict.CONSISTENT
    both = [*own, stamped("Idle", "n1", n1=2)]
    assert asked(tmp_path, CLOCK, stamped("Released", "n2", n1=2, n2=1), *both).verdict is TraceVerdict.INCONSISTENT


@pytest.mark.parametrize(
    ("block", "wrong", "said"),
    [
        (
            CLOCK,
            stamped("Acquired", "n2", n1=5),
            "1 line: the vector clock has no entry for its own node (`n2`; it has `n1`)",
        ),
        (CLOCK, stamped("Acquired", "n1", n1=1), "entry for its own node is lower than in the line before (1 after 2)"),
        (MESSAGES, line("Got", "n2", "lost"), "the message that it receives is sent by no line (`lost`)"),
        (MESSAGES, line("Sent", "n2", "m"), "the message that it sends is sent by an earlier line, too"),
    ],
)
def test_a_stamp_that_cannot_be_right_is_told_and_leaves_the_answer_open(
    tmp_path: Path, block: str, wrong: dict[str, object], said: str
) -> None:
    n1 = [stamped("Acquired", "n1", n1=1), stamped("Released", "n1", n1=2)]
    right = n1 if block == CLOCK else [line("Acquired", "n1"), line("Released", "n1"), line("Sent", "n1", "m")]
    assert asked(tmp_path, block, *right).verdict is TraceVerdict.CONSISTENT
    found = asked(tmp_path, block, *right, wrong)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert f"log.jsonl:{len(right) + 1}: " in str(found)
    assert said in str(found)


def test_a_message_that_is_sent_twice_orders_nothing(tmp_path: Path) -> None:
    """The first one may have been received. Ordered by the second one, n2 would acquire what n1 holds for ever."""
    n1 = [line("Sent", "n1", "m"), line("Acquired", "n1"), line("Sent", "n1", "m")]
    n2 = [line("Got", "n2", "m"), line("Acquired", "n2"), line("Released", "n2")]
    found = asked(tmp_path, MESSAGES, *n2, *n1)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert not found.validation.violations


@pytest.mark.parametrize(
    ("block", "entries"),
    [
        (CLOCK, [stamped("Acquired", "n1", n1=1, n2=2), stamped("Idle", "n2", n1=1, n2=2)]),
        (MESSAGES, [line("Got", "n1", "b"), line("Sent", "n1", "a"), line("Got", "n2", "a"), line("Sent", "n2", "b")]),
        (MESSAGES, [line("Got", "n1", "a"), line("Sent", "n1", "a"), line("Acquired", "n1")]),
    ],
)
def test_lines_that_come_before_one_another_are_told(
    tmp_path: Path, block: str, entries: list[dict[str, object]]
) -> None:
    found = asked(tmp_path, block, *entries, *([stamped("Acquired", "n1", n1=9)] if block == CLOCK else entries[:0]))
    assert found.verdict is not TraceVerdict.CONSISTENT
    assert "1 line: what it says came before it comes after it" in str(found)


@pytest.mark.parametrize(
    ("block", "wrong", "said"),
    [
        (CLOCK, {"event": "Acquired", "node": "n1"}, "`vc`, the vector clock, is missing"),
        (CLOCK, {"event": "Acquired", "node": "n1", "vc": [1, 0]}, "`vc`, the vector clock, is no object"),
        (CLOCK, {"event": "Acquired", "node": "n1", "vc": {"n1": -1}}, "`vc`, the vector clock, is no object"),
        (MESSAGES, {"event": "Got", "node": "n1"}, "`id`, the id of the message that it receives, is missing"),
        (MESSAGES, {"event": "Sent", "node": "n1", "id": 1.5}, "`id`, the id of the message that it sends, is neither"),
    ],
)
def test_a_line_without_a_stamp_that_can_be_read_is_unread(
    tmp_path: Path, block: str, wrong: dict[str, object], said: str
) -> None:
    found = asked(tmp_path, block, {"event": "Acquired", "node": "n1", "vc": {"n1": 1}}, wrong)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert f"log.jsonl:2: 1 line: {said}" in str(found)


def test_events_that_no_rule_is_about_need_no_clock(tmp_path: Path) -> None:
    found = asked(tmp_path, CLOCK, {"event": "Idle", "node": "n1"}, stamped("Acquired", "n1", n1=1))
    assert found.verdict is TraceVerdict.CONSISTENT


def test_without_any_times_all_orders_of_two_nodes_are_tried(tmp_path: Path) -> None:
    """An item that ends at infinity was taken for one that nothing comes before."""
    spec = """module small
state:
    x: 0 .. 2 = 0
    y: 0 .. 1 = 0
action raise_y:
    when x == 0
    y := 1
action close:
    when y == 1
    x := 2
action lower_y:
    when y == 1
    y := 0
trace log:
    from events
    on Raise: raise_y
    on Close: close
    on Lower: lower_y
    order: file
"""
    (tmp_path / "small.assay").write_text(spec, encoding="utf-8")
    logs = {"n1": ("Raise", "Raise", "Close"), "n2": ("Lower", "Lower")}
    for node, kinds in logs.items():
        text = "".join(json.dumps({"event": kind}) + "\n" for kind in kinds)
        (tmp_path / node).mkdir()
        (tmp_path / node / "log.jsonl").write_text(text, encoding="utf-8")
    found = assay.validate([str(tmp_path / "n1"), str(tmp_path / "n2")], str(tmp_path / "small.assay"))
    assert found.verdict is TraceVerdict.CONSISTENT
