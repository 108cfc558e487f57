"""A set without a capacity, of too many possible elements for bits, is searched in slots: as many as its states need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.checker.engines import enough_slots
from assay.checker.engines.engine_selection import check
from assay.checker.engines.reference_engine import check as reference
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.simulate.random_walks import Simulation, Walks
from assay.checker.simulate.simulate import simulate
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

SPEC = """
enum Message: Put(log: seq[0 .. 7, max 3]), Seen(log: seq[0 .. 7, max 2], at: 0 .. 3)
state:
    messages: set[Message] = {}
    others: set[Message] = {}
    turn: 0 .. 1 = 0
action put(x: 0 .. 0):
    when few: count(messages) < 4
    when new: Put([x]) not in messages or turn > 0
    messages := messages + {Put([x, turn])}
    turn := 1 - turn
action see:
    pick m in messages
    when m is Put(_)
    others := others + {m}
action drop fair:
    pick m in messages
    when m is Put(log) and count(log) > 1
    messages := messages - {m} + {Seen(take(log, 1), turn)}
invariant few: count(messages) <= LEAST
invariant apart: forall m in others: m is Put(_)
reachable all: count(messages) == 4
transition grows: count(old(messages)) <= count(messages)
property emptied: always eventually exists m in messages: m is Seen(_, _)
"""


def kernel(least: int = 5) -> Kernel:
    return load_text(SPEC.replace("LEAST", str(least))).kernel


def essence(report: Report) -> dict[str, Any]:
    sizes = report.statistics
    return {
        "sizes": (sizes.distinct, sizes.generated, sizes.depth),
        "results": [
            (p.name, p.outcome, p.reason, None if p.trace is None else len(p.trace)) for p in report.properties
        ],
        "bounds": report.bounds,
        "coverage": report.coverage,
        "stopped": report.stopped,
    }


@pytest.fixture
def few_slots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two slots are tried first; the list gets the depth that each search came to."""
    monkeypatch.setattr(enough_slots, "FEWEST_SLOTS", 2)
    depths = list[int]()
    run = BlockSearch.run

    def counted(search: BlockSearch) -> None:
        run(search)
        depths.append(search.depth)

    monkeypatch.setattr(BlockSearch, "run", counted)
    return depths


@pytest.mark.parametrize(("least", "keep_going"), [(5, True), (5, False), (3, False)])
def test_the_answer_is_that_of_a_search_without_slots(
    tmp_path: Path, few_slots: list[int], least: int, *, keep_going: bool
) -> None:
    options = SearchOptions(keep_going=keep_going)
    answer = check(kernel(least), options, cache=tmp_path)
    assert (answer.report.engine, answer.declined) == ("native", None)
    assert essence(answer.report) == essence(reference(kernel(least), options))
    assert answer.report.kernel == kernel(least)
    assert len(few_slots) > 1


INBOXES = """
enum Node: A, B
record Message: origin: Node, log: seq[0 .. 7, max 3]
state:
    inbox: map[Node, set[Message]] = [n -> {}]
    log: map[Node, seq[0 .. 7, max 3]] = [n -> []]
action write(n: Node):
    bound short: log[n] == []
    log[n] := log[n] + [1]
action send(n: Node, m: Node):
    inbox[m] := inbox[m] + {Message(n, log[n])}
action receive(n: Node):
    pick m in inbox[n]
    log[n] := m.log
action clear:
    inbox := [n -> {m in inbox[n] if m.log != []}]
invariant few: forall n in Node: count(inbox[n]) <= 6
"""


@pytest.mark.parametrize("slots", [4, 32])
def test_each_key_of_a_map_may_have_a_large_set(tmp_path: Path, few_slots: list[int], slots: int) -> None:
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(enough_slots, "FEWEST_SLOTS", slots)
        answer = check(load_text(INBOXES).kernel, SearchOptions(keep_going=True), cache=tmp_path)
    assert answer.report.engine == "native"
    assert essence(answer.report) == essence(reference(load_text(INBOXES).kernel, SearchOptions(keep_going=True)))
    assert (len(few_slots) > 1) == (slots < 32)


def test_a_search_whose_slots_are_too_few_ends_with_the_level(tmp_path: Path, few_slots: list[int]) -> None:
    check(kernel(), SearchOptions(keep_going=True), cache=tmp_path)
    assert few_slots == sorted(few_slots)
    assert few_slots[0] < few_slots[-1]


def test_where_slots_never_suffice_the_reference_engine_answers(
    tmp_path: Path, few_slots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enough_slots, "MOST_SLOTS", 2)
    answer = check(kernel(), cache=tmp_path)
    assert answer.report.engine == "reference"
    assert answer.declined is not None
    assert few_slots
    with pytest.raises(SpecError, match="E807"):
        check(kernel(), engine="native", cache=tmp_path)


def test_a_checkpoint_is_of_one_search(tmp_path: Path, few_slots: list[int]) -> None:
    with pytest.raises(SpecError, match="E823"):
        check(kernel(), SearchOptions(checkpoint=tmp_path / "kept"), cache=tmp_path)
    assert not few_slots


def test_walks_have_enough_slots_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[frozenset[str]]()
    run = Simulation.run

    def noted(walks: Simulation[Any]) -> None:
        tried.append(walks.options.never_cut)
        run(walks)

    monkeypatch.setattr(Simulation, "run", noted)
    monkeypatch.setattr(enough_slots, "FEWEST_SLOTS", 2)
    found = simulate(kernel(), Walks(number=300, depth=20), SearchOptions(keep_going=True, threads=1), cache=tmp_path)
    assert (found.report.engine, found.declined, found.report.bounds) == ("native", None, {})
    assert found.report.kernel == kernel()
    assert tried == [{"capacity of messages", "capacity of others"}] * 2
    assert {p.name for p in found.report.properties if p.outcome is Outcome.VIOLATED} == {"grows"}
