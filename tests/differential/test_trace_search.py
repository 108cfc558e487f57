"""The search over traces, with all that it spares itself, against plain enumeration of every order and every hidden step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from random import Random
from types import MappingProxyType

import pytest
from tests.stages import rounds

from assay.grammar import kernel as k
from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.binding import bind
from assay.traces.observe.model_size import sized_kernel
from assay.traces.observe.partial_order import OrderedObservation, order
from assay.traces.options import Options
from assay.traces.search import driver
from assay.traces.search.deterministic_replay import step_through
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.driver import Accepted, Conclusion, Rejected
from assay.traces.search.next_items import Cursors, TraceHeads, advanced
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import ANY, TraceModel

SPEC = """\
module small

param Process: set = {p1, p2}
size param MaxTerm: int = 3
type Term = 0 .. MaxTerm
type Era = 0 .. 3
enum Role: Idle, Leading(term: Term)

state:
    live: set[Process] = {}
    owner: Process? = none
    term: Term = 0
    role: map[Process, Role] = [p -> Idle]
    heard: map[Process, Term] = [p -> 0]
    era: Era = 0
    past: set[Era] = {}

action join(p: Process):
    when p not in live
    live := live + {p}

action elect(p: Process):
    when p in live
    when owner == none
    owner := p
    term := term + 1
    role[p] := Leading(term + 1)

action hear(p: Process, t: Term):
    when p in live
    when t >= heard[p] and t <= term
    heard[p] := t

action expire(p: Process):
    when p in live
    live := live - {p}
    owner := if owner == p then none else owner

action forget(p: Process):
    when not (p in live)
    when role[p] != Idle
    role[p] := Idle
    heard[p] := 0

action turn(e: Era):
    when e != era and e not in past
    past := past + {era}
    era := e

trace log:
    from toy
    on InEra(number: Era): observe era == number and number not in past
    on Joined(node: Process): join(node)
    on Elected(node: Process, number: Term): elect(node) then term == number
    on Heard(node: Process, number: Term): hear(node, number)
    on Leading(node: Process, number: Term): observe role[node] is Leading(t) and t == number
    on Follows(node: Process, number: Term): observe heard[node] == number
    hidden expire, forget, turn; at most 2 between two pinned events
    order: file; WITHIN skew 1 ms
"""

SELDOM = "Leading", "Elected", "Heard"
"""What can happen in few states only, and is told of first where it can."""

LOADED = {within: load_text(SPEC.replace("WITHIN", within)) for within in ("", "commit before line within 4 ms;")}


def written(random: Random, loaded: Loaded) -> list[Event]:
    """A log written by a random run of the model, its lines a little later than what they say, and perhaps one of them wrong."""
    model = TraceModel(loaded.kernel, loaded.kernel.traces[0])
    state, events, time = model.initial[0], list[Event](), 100
    lines = {"p1": 0, "p2": 0}
    for _ in range(random.randint(3, 7)):
        time += random.choice((0, 1, 3))
        rules = random.sample(loaded.kernel.traces[0].rules, len(loaded.kernel.traces[0].rules))
        if random.random() < 0.7:
            rules.sort(key=lambda rule: SELDOM.index(rule.event) if rule.event in SELDOM else len(SELDOM))
        found = next((each for rule in rules if (each := _happens(random, model, rule, state))), None)
        if random.random() < 0.3:
            hidden = model.hidden(state)
            state = random.choice(hidden).state if hidden else state
        if found is not None:
            kind, node, fields, state = found
            lines[node] += 1
            late = time + random.randint(0, 4)
            record = LogRecord(LogPosition(f"{node}.log", lines[node], 0), late, "INFO", "toy", None, kind)
            events.append(Event(kind, kind, MappingProxyType(fields), record, ProcessRun(node, 1)))
    if events and random.random() < 0.6:
        at = random.randrange(len(events))
        if "number" in events[at].fields:
            events[at] = replace(events[at], fields={**events[at].fields, "number": random.randint(0, 3)})
        else:
            del events[at]
    return events


def _happens(
    random: Random, model: TraceModel, rule: k.TraceRule, state: int
) -> tuple[str, str, dict[str, Field], int] | None:
    """An event of the rule that is true now, and the state after it."""
    node = random.choice(("p1", "p2"))
    atom = next(value for value in model.instances("join", (ANY,)) if value[0].name == node)[0]  # type: ignore[attr-defined]
    choices = [(node, number) for number in range(4)]
    random.shuffle(choices)
    for _, number in choices:
        bound = {field.binder.name: atom if field.field == "node" else number for field in rule.fields}
        if not rule.steps:
            assert rule.observe is not None
            if model.holds(rule.observe, bound, state):
                return rule.event, node, {"number": number}, state
            continue
        for taken in model.taken(rule.steps[0][0], bound, state):
            if rule.then is None or model.holds(rule.then, bound, taken.state, state):
                fields: dict[str, Field] = {} if rule.event == "Joined" else {"number": number}
                return rule.event, node, fields, taken.state
    return None


def explained(model: TraceModel, frontier: TraceHeads, limit: int, window: float = inf) -> bool:
    """Whether some order and some hidden steps explain everything: nothing is spared. No item is read while another is unread that is older by more than the window."""
    todo: list[tuple[Cursors, int, int]] = [(frontier.start, state, 0) for state in model.initial]
    seen = set(todo)
    while todo:
        cursors, state, hidden = todo.pop()
        if cursors == frontier.end:
            return True
        onward = [(cursors, taken.state, hidden + 1) for taken in model.hidden(state) if hidden < limit]
        heads = frontier.heads(cursors)
        for item in (each for each in heads.items if each.time <= heads.time + window):
            count = 0 if item.observation.names_action else hidden
            onward += [(advanced(cursors, item), after, count) for after, _ in model.consume(item, state)]
        todo += [each for each in onward if each not in seen]
        seen.update(onward)
    return False


@rounds(40, 250)
@pytest.mark.parametrize("within", sorted(LOADED))
def test_the_search_finds_an_execution_exactly_when_there_is_one(within: str, rounds: int) -> None:
    verdicts = {True: 0, False: 0}
    for seed in range(rounds):
        loaded = LOADED[within]
        events = written(Random(seed), loaded)
        kernel, plan = sized_kernel(loaded, events, len(events), None)
        model = TraceModel(kernel, plan)
        bound = bind(plan, events, lambda rule, values: True)
        search = TraceSearch(model, TraceHeads(order(bound.observations, plan.ordering)))
        expected = explained(model, search.frontier, plan.hidden_limit)
        exact = search.run(search.begin(search.frontier.start), Limits(plan.hidden_limit, 100_000, reduced=False))
        assert (exact.path is not None) == expected, seed
        assert isinstance(driver.run(search, search.begin(search.frontier.start), Options()), Accepted) == expected, (
            seed
        )
        conclusion = driver.search_with_budgets(search, search.begin(search.frontier.start), Options())
        if expected:
            assert isinstance(conclusion, Accepted), seed
        elif isinstance(conclusion, Rejected):
            assert not explained(model, search.frontier, 30), seed
        else:
            assert explained(model, search.frontier, 30), seed
        verdicts[expected] += 1
    assert min(verdicts.values()) > (20 if rounds == 250 else 1), verdicts


@rounds(40, 250)
@pytest.mark.parametrize("within", sorted(LOADED))
def test_what_is_found_line_by_line_is_an_execution(within: str, rounds: int) -> None:
    found, inverted = 0, 0
    for seed in range(rounds):
        events = written(Random(seed), LOADED[within])
        kernel, plan = sized_kernel(LOADED[within], events, len(events), None)
        model = TraceModel(kernel, plan)
        frontier = TraceHeads(order(bind(plan, events, lambda rule, values: True).observations, plan.ordering))
        (beginning,) = TraceSearch(model, frontier).begin(frontier.start)
        for window in (1.0, 100.0):
            path = step_through(model, frontier, beginning, window)
            if path is not None:
                items = follow(model, frontier, path, window)
                inverted += items != sorted(items, key=lambda item: item.time)
                found += bool(items)
    assert found > 2 * rounds // 5
    assert inverted > rounds // 25


def follow(model: TraceModel, frontier: TraceHeads, path: SearchPath, window: float) -> list[OrderedObservation]:
    """Assert that a path without hidden steps is an execution to the end, and give its items."""
    cursors, state, items = frontier.start, model.initial[0], list[OrderedObservation]()
    for move in path.moves():
        heads = frontier.heads(cursors)
        assert move.item in heads.items
        assert move.hidden == ()
        assert move.item.time <= heads.time + window
        (after,) = {after for after, _ in model.consume(move.item, state)}
        cursors, state = advanced(cursors, move.item), after
        items.append(move.item)
    assert (path.node.cursors, path.node.state, path.read) == (frontier.end, state, len(items))
    return items


@rounds(8, 160)
@pytest.mark.parametrize("within", sorted(LOADED))
def test_what_a_solver_says_past_the_cap_of_the_search_is_so(within: str, rounds: int) -> None:
    verdicts: Counter[type[Conclusion]] = Counter()
    conflicts = 0
    for seed in range(rounds):
        events = written(Random(seed), LOADED[within])
        kernel, plan = sized_kernel(LOADED[within], events, len(events), None)
        model = TraceModel(kernel, plan)
        search = TraceSearch(
            model, TraceHeads(order(bind(plan, events, lambda rule, values: True).observations, plan.ordering))
        )
        conclusion = driver.search_with_budgets(search, search.begin(search.frontier.start), Options(nodes=2))
        assert isinstance(conclusion, Accepted) == explained(model, search.frontier, plan.hidden_limit), seed
        if isinstance(conclusion, Rejected):
            assert not explained(model, search.frontier, 16), seed
            if conclusion.conflict:
                conflicts += 1
                contradict(search, conclusion.conflict)
        verdicts[type(conclusion)] += 1
    assert rounds < 160 or min(verdicts[Accepted], conflicts) > 5


def contradict(search: TraceSearch, items: Sequence[OrderedObservation]) -> None:
    """Assert that no execution explains these items, whatever the others are: nor if they are left out."""
    kept = {item.index for item in items}
    for at, stream in enumerate(search.frontier.order.streams):
        left = [item for item in stream.items if item.index in kept]
        search = search.with_order(search.frontier.order.with_items(at, left))
    assert not explained(search.model, search.frontier, 16)
