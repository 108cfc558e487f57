"""Logs that compiled rules accept are logs that the search accepts, with the same counts, and in an order that the
clause allows. They are of random services, with and without mistakes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType

import pytest
from tests.stages import rounds

from assay.grammar.load import load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.native_replay import compiled_replay, threshold
from assay.traces.observe.binding import bind
from assay.traces.observe.model_size import sized_kernel
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation, order
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search.next_items import TraceHeads, advanced
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate

SPEC = """\
module shop

param Client: set = {c1}
param Item: set = {apple, pear}
size param MaxCount: int = 2

type Count = 0 .. MaxCount
enum Mode: Open, Closed, Held

state:
    mode: Mode = Open
    owner: map[Item, Client?] = [i -> none]
    stock: map[Item, Count] = [i -> 0]
    wanted: set[Client] = {}
    sold: Count = 0

action deliver(i: Item, n: Count):
    when open: mode != Closed
    stock[i] := stock[i] + n

action want(c: Client):
    when not (c in wanted)
    wanted := wanted + {c}

action buy(c: Client, i: Item):
    when asked: c in wanted
    when some_left: stock[i] > 0
    bound count: sold < MaxCount
    let left = stock[i] - 1
    stock[i] := left
    owner[i] := some(c)
    sold := sold + 1
    wanted := wanted - {c}

action set_mode(m: Mode):
    mode := m

invariant owned: forall i in Item: stock[i] == 0 or mode != Closed or owner[i] != none or sold == 0
transition sales: old(sold) <= sold

trace log:
    from shop
    on Delivered(item: Item, count: Count) if count > 0: deliver(item, count)
    on Delivered(item: Item, count: Count) if count == 0: observe stock[item] >= 0
    on Wanted(node: Client): want(node)
    on Bought(node: Client, item: Item, left: Count): buy(node, item) then stock[item] == left
    on Sold(total: Count): observe sold == total
    on Mode(status: Mode): set_mode(status) then mode == status
    on Owner(item: Item, by: Client?): observe owner[item] == by
    ignore Chat "says nothing"
    order: UNIT; WITHIN skew 2 ms
"""
CLAUSES = [(unit, within) for unit in ("file", "thread") for within in ("", "commit before line within 4 ms;")]
LOADED = {each: load_text(SPEC.replace("UNIT", each[0]).replace("WITHIN", each[1])) for each in CLAUSES}
CLIENTS = "c1", "c2", "c3"
ITEMS = "apple", "pear", "fig"


@dataclass
class Shop:
    """A shop, and what its clients write down."""

    random: Random
    stock: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ITEMS, 0))
    owner: dict[str, str | None] = field(default_factory=lambda: dict.fromkeys(ITEMS))
    wanted: set[str] = field(default_factory=set)
    mode: str = "Open"
    sold: int = 0

    def step(self) -> tuple[str, str, dict[str, Field]] | None:
        """Something that may happen: what kind of line who writes about it, and what that states."""
        client, item, kind = self.random.choice(CLIENTS), self.random.choice(ITEMS), self.random.randrange(9)
        if kind == 0 and self.mode != "Closed":
            count = self.random.randrange(3)
            self.stock[item] += count
            return "Delivered", client, {"item": item, "count": count if self.random.random() < 0.9 else str(count)}
        if kind in (1, 2) and client not in self.wanted:
            self.wanted.add(client)
            return "Wanted", client, {}
        if kind in (3, 4) and client in self.wanted and self.stock[item]:
            self.stock[item] -= 1
            self.sold += 1
            self.owner[item] = client
            self.wanted.remove(client)
            return "Bought", client, {"item": item, "left": self.stock[item]}
        if kind == 5:
            return "Sold", client, {"total": self.sold}
        if kind == 6 and self.random.random() < 0.3:
            self.mode = self.random.choice(("Open", "Closed", "Held"))
            return "Mode", client, {"status": self.mode}
        if kind == 7:
            return "Owner", client, {"item": item, "by": self.owner[item]}
        return (self.random.choice(("Chat", "Noise")), client, {"text": "x"}) if kind == 8 else None


def written(random: Random) -> list[Event]:
    """What clients write, some of them started again in between, some with clocks that are ahead; perhaps with a mistake, or without times."""
    shop, time, timed = Shop(random), 1_000, random.random() < 0.9
    ahead = {client: random.choice((0, 0, 1, 2)) for client in CLIENTS}
    runs, last = dict.fromkeys(CLIENTS, 1), dict.fromkeys(CLIENTS, 0)
    events: list[Event] = []
    wrong = random.random() < 0.3
    for _ in range(random.randint(20, 120)):
        found, time = shop.step(), time + random.choice((0, 1, 3))
        if found is None:
            continue
        kind, client, fields = found
        runs[client] += random.random() < 0.03
        if wrong and random.random() < 0.05:
            fields = {name: random.choice((value, 1, "fig", None)) for name, value in fields.items()}
        if random.random() < 0.02:
            fields = dict(list(fields.items())[1:])
        last[client] = max(last[client] - (random.random() < 0.05), time + ahead[client] + random.choice((0, 0, 1, 2)))
        thread = random.choice((None, "t1", "t2")) if random.random() < 0.3 else "t1"
        said = last[client] if timed and random.random() < 0.98 else None
        record = LogRecord(LogPosition(f"{client}.log", len(events), 0), said, "INFO", "shop", thread, kind)
        events.append(Event(kind, kind, MappingProxyType(fields), record, ProcessRun(client, runs[client])))
    return events


def answered(
    clause: tuple[str, str], events: list[Event], monkeypatch: pytest.MonkeyPatch, *, followed: bool
) -> Validation:
    """What is said of a log, by compiled rules if they can, or by the search alone."""
    monkeypatch.setattr(threshold, "WORTH_IT", 0 if followed else 10**9)
    return validate(LOADED[clause], events, options=Options(mismatches=1))


@rounds(5, 100)
@pytest.mark.parametrize("clause", CLAUSES)
def test_what_compiled_rules_accept_the_search_accepts(
    clause: tuple[str, str], rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Counter[tuple[bool, bool]] = Counter()
    swapped = 0
    for seed in range(rounds):
        events = written(Random(seed))
        fast = compiled_replay.replay_log(LOADED[clause], events, None, DEFAULT_OPTIONS)
        slow = answered(clause, events, monkeypatch, followed=False)
        accepted = slow.verdict is TraceVerdict.CONSISTENT and not slow.properties
        seen[fast is not None, accepted] += 1
        if fast is None:
            continue
        assert accepted, seed
        whole = answered(clause, events, monkeypatch, followed=True)
        assert (whole.counts.read, whole.counts.used) == (slow.counts.read, slow.counts.used), seed
        assert (whole.ignored, whole.unmapped, whole.properties) == (slow.ignored, slow.unmapped, slow.properties), seed
        assert whole.kernel == slow.kernel, seed
        assert whole.counts.fields >= slow.counts.fields, seed
        swapped += _is_execution(whole, clause, events)
    assert seen[True, True] > 0, seen
    if rounds == 100:
        # A tenth of the logs has no times: the search explains them, in an order of its own.
        assert seen[True, True] > max(40, 2 * seen[False, True]), seen
        assert seen[False, False] > 20, seen
        assert swapped > 5


def _is_execution(found: Validation, clause: tuple[str, str], events: list[Event]) -> bool:
    """Assert that the steps are those of the lines, each at a time at which it may come. Returns whether one comes
    before another that has an earlier time.
    """
    kernel, plan = sized_kernel(LOADED[clause], events, len(events), None)
    model = TraceModel(kernel, plan)
    frontier = TraceHeads(order(bind(plan, events, model.applies).observations, plan.ordering))
    items = {_key(item.observation): item for item in frontier.order.items}
    cursors, state, read = frontier.start, model.initial[0], list[OrderedObservation]()
    assert found.execution is not None
    assert found.execution.initial == model.states[state]
    waiting: Counter[int] = Counter(key[0] for key in items)
    for step in found.execution.steps:
        assert step.event is not None
        rules = sorted(key for key in items if key[0] == id(step.event))
        assert len(rules) == 1
        item = items[rules[0]]
        assert item in frontier.heads(cursors).items
        ((after, taken),) = model.consume(item, state)
        assert step.state == model.states[after]
        assert (step.action, step.arguments) == next(((t.action, t.arguments) for t in taken), (None, ()))
        cursors, state = advanced(cursors, item), after
        read.append(item)
        waiting[id(step.event)] -= 1
    assert cursors == frontier.end
    return read != sorted(read, key=lambda item: (item.latest, item.index))


def _key(observation: Observation) -> tuple[int, int]:
    return id(observation.event), id(observation.rule)
