"""Slices that compiled rules follow are slices that the search accepts, with the same counts; of random orders of a shop, with and without mistakes."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import MappingProxyType

import pytest
from tests.stages import rounds

from assay.grammar.load import load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.native_replay import compiled_slices as pinned_slices
from assay.traces.native_replay import threshold
from assay.traces.result import TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_context import Joint
from assay.traces.validate import validate_shared, validate_slices

SPEC = """\
module shop

param Order: set = {o1, o2}
param Worker: set = {w1}
size param Most: int = 3

enum Status: Absent, Placed, Paid, Shipped
type Count = 0 .. Most

state:
    open: bool = false
    status: map[Order, Status] = [o -> Absent]
    packer: map[Order, Worker?] = [o -> none]
    asked: map[Order, Count] = [o -> 0]

action unlock:
    open := true

action place(o: Order):
    when fresh: status[o] == Absent
    status[o] := Placed

action pay(o: Order):
    when placed: status[o] == Placed
    status[o] := Paid

action pack(o: Order, w: Worker):
    when paid: status[o] == Paid
    packer[o] := w

action ask(o: Order):
    asked[o] := asked[o] + 1

action ship(o: Order, w: Worker):
    when packed_it: packer[o] == w
    status[o] := Shipped

invariant few: forall o in Order: asked[o] <= 4
transition stays: forall o in Order: old(status[o]) == Shipped implies status[o] == Shipped

trace shop_log:
    from events
    slice Order by order
    on Placed(order: Order): place(order)
    on Paid(order: Order): pay(order)
    on Packing(order: Order, node: Worker): pack(order, node)
    on Asked(order: Order, times: Count): ask(order) then asked[order] == times
    on Seen(order: Order, now: Status) if now != Absent: observe status[order] == now
    on Shipped(order: Order, node: Worker): ship(order, node)
    on Unlocked: unlock
    ignore Chat "says nothing"
    order: file; commit before line within 4 ms; skew 2 ms
"""
SLICED = "    slice Order by order\n"
READS_SHARED = SPEC.replace("when fresh: ", "when open\n    when fresh: ").replace("open := true", "open := not open")
"""The same shop, in which orders are placed only while it is open."""
LOADED = load_text(SPEC)
SAID_AGAIN = """\
action place_again(o: Order):
    when placed: status[o] != Absent

action pay_again(o: Order):
    when paid: status[o] == Paid or status[o] == Shipped

invariant few"""
LOGGED_TWICE = load_text(
    SPEC.replace("invariant few", SAID_AGAIN)
    .replace(": place(order)\n", ": place(order) or place_again(order)\n")
    .replace(": pay(order)\n", ": pay_again(order) or pay(order)\n")
)
"""The same shop, whose nodes may write some lines twice."""
UNSEEN = load_text(
    SPEC.replace("invariant few", SAID_AGAIN)
    .replace(": place(order)\n", ": place(order) or place_again(order)\n")
    .replace("    ignore Chat", "    hidden place, pay; at most 2 between two pinned events\n    ignore Chat")
)
"""The same shop, whose nodes lose lines."""
NODES = "n1", "n2", "n3"


def written(random: Random, orders: int = 12, *, twice: bool = False) -> list[Event]:
    """What some nodes say of a dozen orders, each a little later, some with clocks that are ahead; perhaps with mistakes."""
    lines: list[tuple[int, str, str, dict[str, Field]]] = []
    for order in range(random.randint(orders // 2, orders)):
        time, asked, status, wrong = 1_000 + random.randrange(60), 0, "Absent", random.random() < 0.3
        worker = random.choice(NODES)
        for kind, after in (("Placed", "Placed"), ("Paid", "Paid"), ("Packing", None), ("Shipped", "Shipped")):
            while random.random() < 0.5:
                time += random.choice((0, 1, 4))
                extra = random.choice(("Asked", "Seen", "Chat", "Noise"))
                asked += extra == "Asked"
                said: dict[str, dict[str, Field]] = {"Asked": {"times": asked}, "Seen": {"now": status}}
                lines.append((time, random.choice(NODES), extra, {"order": f"A-{order}", **said.get(extra, {})}))
            if wrong and random.random() < 0.2:
                continue
            time += random.choice((0, 1, 2, 9))
            status = after or status
            node = worker if kind in ("Packing", "Shipped") else random.choice(NODES)
            lines.append((time, node, kind, {"order": f"A-{order}"}))
            if twice and kind in ("Placed", "Paid") and random.random() < 0.4:
                lines.append((time + random.choice((0, 3)), node, kind, {"order": f"A-{order}"}))
    lines.append((990, "n1", "Unlocked", {}))
    if random.random() < 0.4:
        shut = random.randrange(1_000, 1_080)
        lines += [(shut, "n2", "Unlocked", {}), (shut + random.choice((1, 2, 5)), "n1", "Unlocked", {})]
    ahead, last, events = {node: random.choice((0, 1)) for node in NODES}, dict.fromkeys(NODES, 0), list[Event]()
    for time, node, kind, fields in sorted(lines, key=lambda line: line[0]):
        last[node] = max(last[node], time + ahead[node] + random.choice((0, 0, 1)))
        record = LogRecord(LogPosition(f"{node}.log", len(events), 0), last[node], "INFO", "shop", None, kind)
        events.append(Event(kind, kind, MappingProxyType(fields), record, ProcessRun(node, 1)))
    return events


@pytest.mark.parametrize("twice", [False, True])
@rounds(14, 120)
def test_what_compiled_rules_accept_of_slices_the_search_accepts(
    rounds: int, twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threshold, "WORTH_IT", 0)
    seen: Counter[tuple[bool, TraceVerdict]] = Counter()
    for seed in range(rounds):
        shared, slices = validate_shared(LOGGED_TWICE if twice else LOADED, written(Random(seed), twice=twice))
        assert shared.joint is not None
        followed = pinned_slices.replay_slices(shared.joint, slices)
        both = {each.result.name: each for each in validate_slices(shared, slices)}
        with monkeypatch.context() as only:
            only.setattr(pinned_slices, "replay_slices", lambda *_: {})
            searched = {each.result.name: each for each in validate_slices(shared, slices)}
        for name, slow in searched.items():
            fast = followed.get(name)
            seen[fast is not None, slow.result.verdict] += 1
            assert (both[name].result.verdict, both[name].tally) == (slow.result.verdict, slow.tally), (seed, name)
            if fast is not None:
                _agree(fast, slow)
    assert seen[True, TraceVerdict.CONSISTENT] > 4 * rounds, seen
    assert seen[False, TraceVerdict.INCONSISTENT] > (rounds // 2 if twice else 5 * rounds // 6), seen
    assert not seen[True, TraceVerdict.INCONSISTENT]


@rounds(14, 120)
def test_hidden_steps_that_compiled_rules_take_are_steps_of_the_spec(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threshold, "WORTH_IT", 0)
    seen: Counter[tuple[bool, bool, TraceVerdict]] = Counter()
    for seed in range(rounds):
        random = Random(seed)
        events = [each for each in written(random) if each.kind != "Paid" or random.random() < 0.8]
        shared, slices = validate_shared(UNSEEN, events)
        assert shared.joint is not None
        followed = pinned_slices.replay_slices(shared.joint, slices)
        with monkeypatch.context() as only:
            only.setattr(pinned_slices, "replay_slices", lambda *_: {})
            searched = {each.result.name: each for each in validate_slices(shared, slices)}
        for name, slow in searched.items():
            fast = followed.get(name)
            hidden = fast is not None and bool(fast.result.hidden)
            seen[fast is not None, hidden, slow.result.verdict] += 1
            if fast is not None:
                assert (slow.result.verdict, fast.tally) == (TraceVerdict.CONSISTENT, slow.tally), (seed, name)
                assert _hidden_of(fast, shared.joint) == fast.result.hidden, (seed, name)
    assert seen[True, True, TraceVerdict.CONSISTENT] > rounds, seen
    assert seen[False, False, TraceVerdict.INCONSISTENT] > rounds // 7, seen


def _hidden_of(found: SliceAnswer, joint: Joint) -> Counter[str]:
    """Assert that each step is one of the model and no run of hidden ones is too long; the steps without a line."""
    model = TraceModel(joint.split.kernel, joint.split.plan_of_slices(joint.plan))
    state, hidden, run = model.initial[0], Counter[str](), 0
    assert found.result.execution is not None
    for step in found.result.execution.steps:
        if step.action is not None:
            afters = [
                each.state for each in model.call(step.action, tuple(value for _, value in step.arguments), state)
            ]
            state = next(each for each in afters if model.states[each] == step.state)
            run = 0 if step.event is not None else run + 1
        assert model.states[state] == step.state
        assert run <= model.plan.hidden_limit
        hidden.update([step.action] if step.event is None and step.action is not None else [])
    return hidden


def _agree(fast: SliceAnswer, slow: SliceAnswer) -> None:
    """The same is said of a slice, and done at its lines."""
    one, other = fast.result, slow.result
    assert one.execution is not None
    assert other.execution is not None
    assert (one.verdict, one.used, one.properties) == (other.verdict, other.used, other.properties)
    assert fast.tally == slow.tally
    assert one.execution.initial == other.execution.initial
    assert one.execution.steps[-1].state == other.execution.steps[-1].state
    done, does = (
        Counter((str(s.event.record.place), s.action, s.arguments) for s in run.steps if s.event is not None)
        for run in (one.execution, other.execution)
    )
    assert not does - done
