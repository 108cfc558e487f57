"""Random walks: reproducible, runs of the system, and never more than the search says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.checker.engines.engine_selection import Engine
from assay.checker.engines.reference_engine import check as search
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, PropertyResult
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import Simulated, simulate
from assay.grammar.load import load_spec, load_text
from assay.report.specs.simulation import simulation_lines, simulation_object

DICE = """
param Die: set = {a, b}
state:
    shown: map[Die, 1 .. 6] = [d -> 1]
    left: 0 .. 12 = 12
action roll(d: Die):
    when rolls_left: left > 0
    pick n in 1 .. 6
    shown[d] := n
    left := left - 1
terminal: left == 0
invariant never_two_sixes: shown[a] + shown[b] < 12
reachable seven: shown[a] + shown[b] == 7
"""


@pytest.fixture(params=["native", "reference"])
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


def walk(text: str, engine: Engine, folder: Path, walks: Walks | None = None, **options: Any) -> Simulated:
    kernel = load_text(dedent(text)).kernel
    return simulate(kernel, walks or Walks(120, 20, 7), SearchOptions(**options), None, engine, folder)


def result(simulated: Simulated, name: str) -> PropertyResult:
    return next(each for each in simulated.report.properties if each.name == name)


def test_a_seed_gives_the_same_walks_again_and_another_one_others(engine: Engine, tmp_path: Path) -> None:
    one, same, other = (walk(DICE, engine, tmp_path, Walks(40, 20, seed), keep_going=True) for seed in (3, 3, 4))
    assert result(one, "never_two_sixes").trace == result(same, "never_two_sixes").trace
    assert one.report.coverage == same.report.coverage
    assert one.report.coverage != other.report.coverage


def test_a_violation_is_a_run_that_ends_in_it(engine: Engine, tmp_path: Path) -> None:
    simulated = walk(DICE, engine, tmp_path)
    found = result(simulated, "never_two_sixes")
    assert simulated.report.exit_code is ExitCode.VIOLATED
    assert found.explanation is not None
    assert found.trace is not None
    totals = [sum(dict(step.state[0]).values()) for step in found.trace.steps]  # type: ignore[call-overload]
    assert totals[-1] == 12
    assert 12 not in totals[:-1]


NOISE = """
state:
    x: 0 .. 20 = 0
    y: 0 .. 20 = 0
action up:
    when x < 20
    x := x + 1
action noise(v: 0 .. 20):
    y := v
terminal: x == 20
invariant small: x < 5
transition never_from_six: old(x) == 6 implies x == 6
reachable eight: x == 8
"""


@pytest.mark.everyday(1)
def test_steps_that_have_nothing_to_do_with_it_are_left_out(engine: Engine, tmp_path: Path) -> None:
    simulated = walk(NOISE, engine, tmp_path, Walks(50, 100, 1), keep_going=True)
    lengths = {"small": 6, "never_from_six": 8, "eight": 9}
    for name, length in lengths.items():
        trace = result(simulated, name).trace
        assert trace is not None
        assert len(trace) == length
        assert {step.action for step in trace.steps[1:]} == {"up"}


RARE = """
state:
    x: 0 .. 9 = 0
    y: 0 .. 40 = 0
action noise(v: 0 .. 40):
    y := v
action climb:
    when below: x < 8
    x := x + 1
action top:
    when high: x == 8
    x := 9
action fall:
    when on_top: x == 9
    x := 0
invariant fine: x <= 9
"""


@pytest.mark.everyday(1)
def test_walks_go_on_until_nothing_new_is_exercised(engine: Engine, tmp_path: Path) -> None:
    flat = walk(RARE, engine, tmp_path, Walks(1, 30, 3, plateau=300))
    assert all(each.taken for each in flat.report.coverage.actions)
    assert all(each.decisive for each in flat.report.coverage.guards if each.label != "below")
    assert flat.walks >= 300
    assert flat.report.stopped is not None
    assert flat.report.stopped.endswith("the last 300 or more without anything new")
    even = walk(RARE, engine, tmp_path, Walks(flat.walks, 30, 3))
    tops = [next(a.taken for a in each.report.coverage.actions if a.action == "top") for each in (flat, even)]
    assert tops[0] > 2 * tops[1]
    assert walk(RARE, engine, tmp_path, Walks(1, 30, 3, plateau=300)).report.coverage == flat.report.coverage


def test_a_walk_to_a_deadlock_is_shortened(engine: Engine, tmp_path: Path) -> None:
    text = NOISE.replace("terminal: x == 20\n", "").replace("    y := v", "    when x < 9\n    y := v")
    simulated = walk(
        text.replace("x < 20", "x < 9"), engine, tmp_path, Walks(50, 100, 1), properties=frozenset({"deadlock"})
    )
    trace = result(simulated, "deadlock").trace
    assert trace is not None
    assert len(trace) == 10


def test_what_was_not_violated_is_unknown_and_what_was_reached_holds(engine: Engine, tmp_path: Path) -> None:
    simulated = walk(DICE.replace("< 12", "<= 12"), engine, tmp_path)
    assert result(simulated, "never_two_sixes").outcome is Outcome.UNKNOWN
    assert result(simulated, "seven").outcome is Outcome.HOLDS
    assert simulated.report.exit_code is ExitCode.INCONCLUSIVE
    assert simulated.report.stopped == "only 120 random walks were made, of up to 20 states"
    assert simulated.ended == 120
    assert simulated.report.statistics.depth == 13


def test_no_walk_is_longer_than_was_asked_for(engine: Engine, tmp_path: Path) -> None:
    simulated = walk(DICE.replace("< 12", "<= 12"), engine, tmp_path, Walks(10, 5, 0))
    assert simulated.report.statistics.depth == 5
    assert simulated.report.statistics.generated == 50


@pytest.mark.slow
def test_deadlocks_steps_and_undefined_instances_are_found(engine: Engine, tmp_path: Path) -> None:
    dead = walk(DICE.replace("terminal: left == 0\n", "").replace("< 12", "<= 12"), engine, tmp_path)
    assert result(dead, "deadlock").outcome is Outcome.VIOLATED
    assert result(dead, "deadlock").blocked
    step = walk(DICE.replace("< 12", "<= 12") + "transition up: old(left) == 3 implies left == 3\n", engine, tmp_path)
    found = result(step, "up")
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert [state.state[1] for state in found.trace.steps][-2:] == [3, 2]
    undefined = walk("state:\n    x: 0 .. 3 = 0\naction up:\n    x := x + 1\n", engine, tmp_path)
    assert result(undefined, "defined").outcome is Outcome.VIOLATED
    assert len(result(undefined, "defined").trace or ()) == 4


def test_coverage_and_bounds_of_the_walks_are_told(engine: Engine, tmp_path: Path) -> None:
    text = """
        state:
            x: 0 .. 9 = 0
        action up:
            bound few: x < 3
            x := x + 1
        action down:
            when some: x > 0
            x := x - 1
        action never:
            when far: x > 5
            x := 0
    """
    simulated = walk(text, engine, tmp_path)
    taken = {each.action: each.taken for each in simulated.report.coverage.actions}
    assert taken["never"] == 0 < taken["down"]
    assert simulated.report.bounds["few"] > 0
    assert simulated.report.statistics.distinct == 4
    assert any("action never never happens" in line.text for line in simulation_lines(simulated))
    walks = simulation_object(simulated)["walks"]
    assert (walks["distinct"], walks["distinct_is_exact"]) == (4, True)
    more = simulation_object(replace(simulated, more_states=True))["walks"]
    assert (more["distinct"], more["distinct_is_exact"]) == (4, False)


@pytest.mark.slow
def test_both_engines_see_all_states_of_a_small_model_that_the_search_sees(engine: Engine, tmp_path: Path) -> None:
    kernel = load_spec(Path("spec/classics/two_phase.assay"), overrides={"ResourceManager": "2"}).kernel
    simulated = simulate(kernel, Walks(768, 30, 1), SearchOptions(), None, engine, tmp_path)
    whole = search(kernel)
    assert simulated.report.statistics.distinct == whole.statistics.distinct
    fired = {each.action for each in whole.coverage.actions if each.taken}
    assert {each.action for each in simulated.report.coverage.actions if each.taken} == fired


def test_a_model_without_initial_state_is_vacuous(engine: Engine, tmp_path: Path) -> None:
    text = "state:\n    x: 0 .. 3\ninit:\n    x := 1\n    when other: x == 2\naction up:\n    x := 1\n"
    assert walk(text, engine, tmp_path).report.exit_code is ExitCode.VACUOUS


def test_states_that_differ_in_minus_one_and_minus_two_are_distinct(engine: Engine, tmp_path: Path) -> None:
    """Python gives both numbers one hash, and so tuples, sets and maps with one or the other."""
    text = """
        state:
            x: -2 .. 0 = 0
            seen: set[-2 .. 0] = {}
            last: map[0 .. 1, -2 .. 0] = [n -> 0]
        action to(k: -2 .. 0, n: 0 .. 1):
            x := k
            seen := seen + {k}
            last[n] := k
    """
    report = walk(text, engine, tmp_path, Walks(400, 40, 1)).report
    assert report.statistics.distinct == search(load_text(dedent(text)).kernel).statistics.distinct
