"""Windows of random logs, asked of a solver from a free beginning, against plain enumeration of every beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random
from types import MappingProxyType

from tests.stages import rounds

from assay.checker.interpreter.values.domains import domain
from assay.grammar.load import load_text, log_kernel
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.binding import bind
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder, order
from assay.traces.options import Options
from assay.traces.search.next_items import Cursors, TraceHeads, advanced
from assay.traces.search.transition_system import ANY, Taken, TraceModel
from assay.traces.windows.ask import WindowExplained, ask
from assay.traces.windows.slice_window import WindowRefuted
from assay.traces.windows.window_model import LogPart

SPEC = """\
module small

param Process: set = {p1, p2, p3}
size param MaxTerm: int = 4
type Term = 0 .. MaxTerm

state:
    live: set[Process] = {}
    owner: Process? = none
    term: Term = 0
    heard: map[Process, Term] = [p -> 0]

action join(p: Process):
    when apart: p not in live
    live := live + {p}

action elect(p: Process):
    when joined: p in live
    when vacant: owner == none
    owner := p
    term := term + 1

action hear(p: Process, t: Term):
    when joined: p in live
    when between: t >= heard[p] and t <= term
    heard[p] := t

action expire(p: Process):
    when joined: p in live
    live := live - {p}
    owner := if owner == p then none else owner
    heard[p] := 0

next: join, elect, hear, expire

invariant owner_is_live: owner is some(p) implies p in live and term > 0
invariant heard_is_past: forall p in Process: heard[p] <= term
invariant who_has_left_has_heard_nothing: forall p in Process: p in live or heard[p] == 0
transition terms_rise: term >= old(term)

trace log:
    from toy
    on Joined(node: Process): join(node)
    on Elected(node: Process, number: Term): elect(node) then term == number
    on Heard(node: Process, number: Term): hear(node, number)
    on Owns(node: Process, number: Term): observe owner == node and term == number
    on Recalls(node: Process, number: Term): observe heard[node] == number
    hidden expire; at most 2 between two pinned events
    order: file; commit before line within 2 ms; skew 1 ms
"""

LOGGED = "p1", "p2"
"""The third process writes nothing."""

MOST = 3
ACTIONS = "Joined", "Elected", "Heard"
LOGGED_ACTIONS = "join", "elect", "hear"


def test_the_spec_keeps_its_lemmas() -> None:
    model = _model()
    todo = list(model.initial)
    seen = set(todo)
    while todo:
        state = todo.pop()
        assert _is_allowed(model, state)
        if _term(model, state) < MOST:
            onward = {taken.state for name in ("join", "elect", "hear", "expire") for taken in _all(model, name, state)}
            todo += onward - seen
            seen |= onward
    assert len(seen) > 300


@rounds(12, 200)
def test_each_part_of_a_run_is_explained(rounds: int) -> None:
    shortest = 0
    for seed in range(rounds):
        random = Random(seed)
        events = _part(random, _run(random, _model()))
        log, read = _read(events)
        answer = ask(log, read, _in_time(read))
        assert isinstance(answer, WindowExplained), seed
        shortest += len(events) > 2
    assert shortest > rounds // 3


@rounds(8, 200)
def test_no_part_without_one_of_its_lines_is_refuted(rounds: int) -> None:
    for seed in range(rounds):
        random = Random(seed + 3_000)
        events = _part(random, _run(random, _model()))
        del events[random.randrange(len(events))]
        log, read = _read(events)
        assert not isinstance(ask(log, read, _in_time(read)), WindowRefuted), seed


@rounds(8, 200)
def test_no_part_without_the_lines_of_a_process_is_refuted(rounds: int) -> None:
    for seed in range(rounds):
        random = Random(seed + 5_000)
        unlogged = random.choice(LOGGED)
        events = [each for each in _part(random, _run(random, _model())) if each.run.node != unlogged]
        log, read = _read(events, frozenset(LOGGED) - {unlogged})
        assert not isinstance(ask(log, read, _in_time(read)), WindowRefuted), seed


@rounds(8, 200)
def test_what_is_refuted_has_no_beginning_and_what_is_explained_has_one(rounds: int) -> None:
    counts = {True: 0, False: 0}
    for seed in range(rounds):
        random = Random(seed + 7_000)
        events = _part(random, _run(random, _model()))
        at = random.randrange(len(events))
        events[at] = replace(events[at], fields=MappingProxyType({**events[at].fields, "number": random.randint(0, 2)}))
        log, read = _read(events)
        answer = ask(log, read, _in_time(read))
        if isinstance(answer, WindowRefuted):
            assert not _is_possible(events, limit=2, lost=1), seed
        else:
            # What no beginning explains, whichever lines were lost, is refuted, and not merely left open.
            assert _is_possible(events, limit=None, lost=0), seed
        counts[isinstance(answer, WindowRefuted)] += 1
    assert min(counts.values()) > rounds // 20, counts


# --------------------------------------------------------------------------------------------------------------- logs


LOADED = load_text(SPEC)


@cache
def _model() -> TraceModel:
    kernel = log_kernel(LOADED, {"Process": (*LOGGED, "p3")}, {"MaxTerm": MOST + 1})
    return TraceModel(kernel, kernel.traces[0])


def _run(random: Random, model: TraceModel) -> list[Event]:
    """The lines of a run of the model, each written a little after what it tells of."""
    state, time, events = model.initial[0], 100, list[Event]()
    lines = dict.fromkeys(LOGGED, 0)
    unseen = 0  # steps since the last line about one: the clause allows two
    for _ in range(random.randint(6, 14)):
        time += random.choice((0, 1, 3))
        names = ["join", "elect", "hear", "expire", "elect"]
        steps = [taken for name in names for taken in _all(model, name, state) if taken.state != state]
        steps = [each for each in steps if _term(model, each.state) <= MOST and (unseen < 2 or _is_told(each))]
        if steps:
            taken = random.choice(steps)
            state = taken.state
            node = dict(taken.arguments)["p"].name  # type: ignore[attr-defined]
            kind = {"join": "Joined", "elect": "Elected", "hear": "Heard"}.get(taken.action)
            unseen = 0 if _is_told(taken) else unseen + 1
            if kind is not None and _is_told(taken):
                number = model.states[state][2] if kind == "Elected" else dict(taken.arguments).get("t", 0)
                events.append(_line(kind, node, int(number), time + random.randint(0, 2), lines))  # type: ignore[call-overload]
        node = random.choice(LOGGED)
        _, owner, term, heard = model.states[state]
        if owner is not None and owner.value.name == node and random.random() < 0.4:  # type: ignore[attr-defined]
            events.append(_line("Owns", node, term, time, lines))  # type: ignore[arg-type]
        if random.random() < 0.3:
            number = next(n for p, n in heard.items() if p.name == node)  # type: ignore[attr-defined]
            events.append(_line("Recalls", node, number, time, lines))
    return events or [_line("Recalls", "p1", 0, time, lines)]


def _term(model: TraceModel, state: int) -> int:
    term = model.states[state][2]
    assert isinstance(term, int)
    return term


def _is_told(taken: Taken) -> bool:
    return taken.action != "expire" and dict(taken.arguments)["p"].name in LOGGED  # type: ignore[attr-defined]


def _line(kind: str, node: str, number: int, time: int, lines: dict[str, int]) -> Event:
    lines[node] = max(lines[node] + 1, 1_000 * time)  # a file is in the order of its times
    record = LogRecord(LogPosition(f"{node}.log", lines[node], 0), lines[node] // 1_000, "INFO", "toy", None, kind)
    return Event(kind, kind, MappingProxyType({"number": number}), record, ProcessRun(node, 1))


def _part(random: Random, events: list[Event]) -> list[Event]:
    """A stretch of a log, in which some lines that tell of no action are lost."""
    events = sorted(events, key=lambda each: each.record.time or 0)
    first = random.randrange(len(events))
    kept = events[first : first + random.randint(2, 9)]
    return [each for each in kept if each.kind in ACTIONS or random.random() < 0.8] or kept


def _read(events: Sequence[Event], logged: Iterable[str] = LOGGED) -> tuple[LogPart, PartialOrder]:
    model = _model()
    bound = bind(model.plan, events, lambda rule, values: True)
    nodes = [_line("Recalls", node, 0, 0, dict.fromkeys(LOGGED, 0)) for node in logged]
    return LogPart(LOADED, model.plan, Options(lossy=True), [*events, *nodes]), order(
        bound.observations, model.plan.ordering
    )


def _in_time(read: PartialOrder) -> list[OrderedObservation]:
    return sorted(read.items, key=lambda each: (each.time, each.index))


# -------------------------------------------------------------------------------------------------------- enumeration


def _all(model: TraceModel, name: str, state: int) -> Iterator[Taken]:
    return iter(model.call(name, (ANY,) * len(model.meanings.actions[name].names), state))


def _is_allowed(model: TraceModel, state: int) -> bool:
    kept = (each for each in model.kernel.properties if each.kind == "invariant")
    return all(model.holds(each.condition, {}, state) for prop in kept for each in prop.conjuncts)


@cache
def _beginnings() -> tuple[int, ...]:
    model = _model()
    states = product(*(domain(each.type) for each in model.kernel.variables))
    return tuple(state for state in map(model.number, states) if _is_allowed(model, state))


def _is_possible(events: Sequence[Event], limit: int | None, lost: int) -> bool:
    """Whether some beginning explains the lines. Between two lines so many unlogged steps may come: hidden ones, and
    any of the third process. In all so many lines may be lost. Without a limit, anything may happen between lines.
    """
    model = _model()
    frontier = TraceHeads(order(bind(model.plan, events, lambda rule, values: True).observations, model.plan.ordering))
    todo: list[tuple[Cursors, int, int, int]] = [(frontier.start, state, 0, lost) for state in _beginnings()]
    seen = set(todo)
    while todo:
        cursors, state, unseen, left = todo.pop()
        if cursors == frontier.end:
            return True
        onward = []
        if limit is None or unseen < limit:
            more = 0 if limit is None else 1
            onward += [(cursors, taken.state, unseen + more, left) for taken in _unseen(model, state)]
        if limit is None:
            onward += [(cursors, taken.state, 0, left) for name in LOGGED_ACTIONS for taken in _all(model, name, state)]
        elif left:
            onward += [
                (cursors, taken.state, 0, left - 1) for name in LOGGED_ACTIONS for taken in _all(model, name, state)
            ]
        for item in frontier.heads(cursors).items:
            count = 0 if item.observation.names_action else unseen
            onward += [(advanced(cursors, item), after, count, left) for after, _ in model.consume(item, state)]
        todo += [each for each in onward if each not in seen]
        seen.update(onward)
    return False


def _unseen(model: TraceModel, state: int) -> Iterator[Taken]:
    yield from model.hidden(state)
    for name in LOGGED_ACTIONS:
        yield from (each for each in _all(model, name, state) if not _is_told(each))
