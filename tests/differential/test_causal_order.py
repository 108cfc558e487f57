"""``order: causal`` against plain enumeration: a log is consistent if and only if the model takes its lines in some linear
extension of "happened before"."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.grammar.load import Loaded, load_text
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import sized_kernel, source_of
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate

NODES = "n1", "n2", "n3"
BLOCKS = {"clock": 'clock = "vc"', "messages": 'sends = "sent"; receives = "got"'}


def spec(random: Random, way: str) -> str:
    """A small model, of which some of the actions may happen unseen."""
    guard = [f"{random.choice('xy')} {random.choice(('==', '!=', '<='))} {random.randint(0, 2)}" for _ in range(4)]
    change = [f"{random.choice('xy')} := {random.randint(0, 2)}" for _ in range(4)]
    actions = "".join(f"action a{n}:\n    when {guard[n]}\n    {change[n]}\n\n" for n in range(4))
    hidden = "    hidden a3; at most 1 between two pinned events\n" if random.random() < 0.4 else ""
    rules = "".join(f"    on A{n}: a{n}\n" for n in range(3))
    clause = (
        f'trace log:\n    from events:\n        {BLOCKS[way]}\n    order: causal\n{rules}{hidden}    ignore Talk ""\n'
    )
    return f"module small\n\nstate:\n    x: 0 .. 2 = 0\n    y: 0 .. 2 = 0\n\n{actions}{clause}"


@dataclass
class Run:
    """Lines of several nodes, each with the lines that happened before it."""

    lines: list[dict[str, object]] = field(default_factory=list)
    before: list[set[int]] = field(default_factory=list)


def run(random: Random, way: str) -> Run:
    """A random run of two or three nodes that send messages to each other."""
    found, nodes = Run(), NODES[: random.randint(2, 3)]
    clocks = {node: dict.fromkeys(nodes[: random.randint(1, 3)], 0) | {node: 0} for node in nodes}
    known: dict[str, set[int]] = {node: set() for node in nodes}
    sent: list[tuple[str, dict[str, int], set[int]]] = []
    for number in range(random.randint(3, 7)):
        node, line = random.choice(nodes), dict[str, object]()
        clocks[node][node] += 1
        if sent and random.random() < 0.5:
            line["got"], theirs, causes = random.choice(sent)
            clocks[node] = {
                each: max(clocks[node].get(each, 0), theirs.get(each, 0)) for each in {*clocks[node], *theirs}
            }
            known[node] |= causes
        at = len(found.lines)
        found.before.append(set(known[node]))
        known[node].add(at)
        if random.random() < 0.5:
            line["sent"] = f"m{number}"
            sent.append((f"m{number}", dict(clocks[node]), set(known[node])))
        kind = "Talk" if random.random() < 0.2 else f"A{random.randint(0, 2)}"
        if way == "clock":
            line = {"vc": dict(clocks[node]) if random.random() < 0.7 else json.dumps(clocks[node])}
        found.lines.append({"event": kind, "node": node, **line})
    return found


def write(random: Random, found: Run, folder: Path) -> None:
    """The lines of each node in their order: in a file each, or between one another in one file."""
    left = {node: [line for line in found.lines if line["node"] == node] for node in NODES}
    if random.random() < 0.5:
        merged: list[dict[str, object]] = []
        while any(left.values()):
            merged.append(random.choice([own for own in left.values() if own]).pop(0))
        left = {"all": merged}
    for name, own in left.items():
        text = "".join(json.dumps(line) + "\n" for line in own)
        if text:
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def is_possible(model: TraceModel, found: Run, limit: int) -> bool:
    """Whether the model takes the lines in an order in which none comes before what happened before it."""
    compared = [at for at, line in enumerate(found.lines) if line["event"] != "Talk"]

    def goes_on(done: frozenset[int], state: int, hidden: int) -> bool:
        if len(done) == len(compared):
            return True
        onward = (
            goes_on(done | {at}, taken.state, 0)
            for at in compared
            if at not in done and done >= found.before[at].intersection(compared)
            for taken in model.call(str(found.lines[at]["event"]).lower(), (), state)
        )
        unseen = (goes_on(done, taken.state, hidden + 1) for taken in model.hidden(state) if hidden < limit)
        return any(onward) or any(unseen)

    return any(goes_on(frozenset(), state, 0) for state in model.initial)


def answer(loaded: Loaded, folder: Path, options: Options) -> TraceVerdict:
    reading = read_logs([folder], ReadOptions(source=source_of(loaded, None)))
    assert not reading.notices
    return validate(loaded, reading.events, options=options).verdict


@rounds(12, 400)
@pytest.mark.parametrize("way", sorted(BLOCKS))
def test_a_log_is_consistent_if_a_linear_extension_is_a_run(
    way: str, rounds: int, tmp_path_factory: Callable[..., object]
) -> None:
    verdicts = compared(way, range(rounds), Options(), tmp_path_factory)
    assert min(verdicts.values()) >= rounds // 10, verdicts


@rounds(4, 150)
@pytest.mark.parametrize("way", sorted(BLOCKS))
def test_a_solver_that_goes_on_keeps_the_order(way: str, rounds: int, tmp_path_factory: Callable[..., object]) -> None:
    compared(way, range(rounds), Options(nodes=2), tmp_path_factory)


def compared(
    way: str, seeds: Sequence[int], options: Options, tmp_path_factory: Callable[..., object]
) -> dict[bool, int]:
    """How many logs were found possible, and how many not."""
    verdicts = {True: 0, False: 0}
    for seed in seeds:
        random = Random(f"{way} {seed}")
        loaded, found = load_text(spec(random, way)), run(random, way)
        if all(line["event"] == "Talk" for line in found.lines):
            continue
        folder = tmp_path_factory.mktemp("logs")  # type: ignore[attr-defined]
        write(random, found, folder)
        kernel, plan = sized_kernel(loaded, [], 9, None)
        expected = is_possible(TraceModel(kernel, plan), found, plan.hidden_limit)
        verdict = answer(loaded, folder, options)
        wider = not expected and is_possible(TraceModel(kernel, plan), found, 9)
        allowed = {TraceVerdict.CONSISTENT} if expected else {TraceVerdict.INCONSISTENT}
        if wider or options.nodes == 2:
            allowed |= {TraceVerdict.INCONCLUSIVE}
        if wider:
            allowed = {TraceVerdict.INCONCLUSIVE}
        assert verdict in allowed, (seed, verdict, loaded.sources, found.lines)
        verdicts[expected] += 1
    return verdicts
