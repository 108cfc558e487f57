"""What a search prunes because of the lines still to come, near the order of time and far from it. It is compared with
a search in every order, for lines that depend on each other.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random
from types import MappingProxyType

import pytest
from tests.stages import rounds

from assay.grammar.load import load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.binding import bind
from assay.traces.observe.model_size import sized_kernel
from assay.traces.observe.observation import with_field
from assay.traces.observe.partial_order import order
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.transition_system import TraceModel

from .test_trace_search import explained

SPEC = """\
module crossing

param Place: set = {a, b}
type Level = 0 .. 3

state:
    here: map[Place, Level] = [p -> 0]
    top: Level = 0

action put(p: Place, v: Level):
    here[p] := v

action copy(p: Place):
    when top > 0
    here[p] := top

action rise(v: Level):
    when v >= top
    top := v

action fall(v: Level):
    when v < top
    top := v

action swap(p: Place, v: Level):
    when here[p] == v
    top := v

action slip:
    when top == 2
    top := 3

trace log:
    from toy
    on Put(place: Place, level: Level): put(place, level)
    on Copied(place: Place, level: Level): copy(place) then here[place] == level
    on Rose(level: Level): rise(level)
    on Fell(level: Level): fall(level)
    on Swapped(place: Place, level: Level): swap(place, level)
    on Here(place: Place, level: Level): observe here[place] == level
    on Top(level: Level): observe top == level
    HIDDEN
    order: file; WITHIN skew 1 ms
"""
WITHIN = "", "commit before line within 2 ms;"
HIDDEN = "", "hidden slip; at most 1 between two pinned events"
LOADED = {
    (hidden, within): load_text(SPEC.replace("HIDDEN", hidden).replace("WITHIN", within))
    for hidden in HIDDEN
    for within in WITHIN
}
LOGS = 200


def written(random: Random) -> list[Event]:
    """Lines of three nodes: what a random run would say, each a little later, and perhaps some with another level."""
    here, top, time = {"a": 0, "b": 0}, 0, 100
    events: list[Event] = []
    lines, last = {"n1": 0, "n2": 0, "n3": 0}, {"n1": 0, "n2": 0, "n3": 0}
    ahead = {node: random.randint(0, 1) for node in lines}  # of the clocks
    for _ in range(random.randint(4, 7)):
        place, level, time = random.choice("ab"), random.randrange(4), time + random.choice((0, 1, 2))
        top = 3 if top == 2 and random.random() < 0.2 else top
        may = {"Put": True, "Copied": top > 0, "Rose": level >= top, "Fell": level < top, "Here": True, "Top": True}
        kind = random.choice([*(kind for kind, possible in may.items() if possible), "Swapped"])
        if kind in ("Put", "Copied"):
            here[place] = level = level if kind == "Put" else top
        elif kind in ("Here", "Top"):
            level = here[place] if kind == "Here" else top
        else:
            here_before = here[place]
            top = level = here_before if kind == "Swapped" else level
        stated = random.randrange(4) if random.random() < 0.08 else level
        fields: dict[str, Field] = (
            {"level": stated} if kind in ("Rose", "Fell", "Top") else {"place": place, "level": stated}
        )
        node = random.choice(sorted(lines))
        lines[node] += 1
        last[node] = max(last[node], time + ahead[node] + random.randint(0, 2))
        record = LogRecord(LogPosition(f"{node}.log", lines[node], 0), last[node], "INFO", "toy", None, kind)
        events.append(Event(kind, kind, MappingProxyType(fields), record, ProcessRun(node, 1)))
    return events


def _is_explained(search: TraceSearch, window: float, seed: int) -> bool:
    """Whether a search finds an execution. Asserts that what it finds is one, and that it misses none within the window
    that it was given.
    """
    budget = search.model.plan.hidden_limit
    found = search.run(search.begin(search.frontier.start), Limits(budget, 100_000, window=window))
    if found.path is not None:
        assert explained(search.model, search.frontier, 30), seed
    elif not found.budget_reached:
        assert not explained(search.model, search.frontier, budget, window), seed
    return found.path is not None


@rounds(25, LOGS)
@pytest.mark.parametrize("window", [0.0, 1.0, 3.0, inf])
@pytest.mark.parametrize(("hidden", "within"), sorted(LOADED))
def test_no_execution_is_missed_for_what_is_ahead(hidden: str, within: str, window: float, rounds: int) -> None:
    verdicts = {True: 0, False: 0}
    for seed in range(rounds):
        events, loaded = written(Random(seed)), LOADED[hidden, within]
        kernel, plan = sized_kernel(loaded, events, len(events), None)
        model = TraceModel(kernel, plan)
        observations = bind(plan, events, lambda rule, values: True).observations
        search = TraceSearch(model, TraceHeads(order(observations, plan.ordering)))
        verdicts[_is_explained(search, window, seed)] += 1
    assert rounds < LOGS or min(verdicts.values()) > LOGS // 10, verdicts


@rounds(25, LOGS)
@pytest.mark.parametrize(("hidden", "within"), sorted(LOADED))
def test_what_is_known_of_lines_before_they_are_changed_misleads_no_search(
    hidden: str, within: str, rounds: int
) -> None:
    found = 0
    for seed in range(rounds):
        random = Random(seed)
        events, loaded = written(random), LOADED[hidden, within]
        kernel, plan = sized_kernel(loaded, events, len(events), None)
        model, window = TraceModel(kernel, plan), random.choice((1.0, inf))
        search = TraceSearch(
            model, TraceHeads(order(bind(plan, events, lambda rule, values: True).observations, plan.ordering))
        )
        _is_explained(search, window, seed)
        for _ in range(3):
            whole = search.frontier.order
            item = random.choice(whole.items)
            items = whole.streams[item.stream].items
            level = random.randrange(4)
            edited = replace(item, observation=with_field(item.observation, "level", level, level))
            kept = (edited,) if random.random() < 0.7 else ()
            others = whole.with_items(item.stream, (*items[: item.position], *kept, *items[item.position + 1 :]))
            search = search.with_change(others, edited if kept else None)
            if not others.items:
                break
            found += _is_explained(search, window, seed)
    assert found > rounds
