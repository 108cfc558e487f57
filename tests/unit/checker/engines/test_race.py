"""Two engines side by side: who comes first answers, and who contradicts the other is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.api.bundled import locate_spec
from assay.checker.engines import engine_selection
from assay.checker.engines import reference_engine as reference
from assay.checker.engines.race import RaceDisagreementError, race
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report
from assay.checker.symbolic.bounded import bmc
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text

TWO_PHASE = "classics/two_phase"


def kernel(**settings: str) -> Kernel:
    return load_spec(locate_spec(TWO_PHASE), overrides=settings).kernel


GOOD, BAD = kernel(), kernel(WaitForAll="false")


def explicitly(of: Kernel, options: SearchOptions) -> Report:
    return reference.check(of, options)


def symbolically(of: Kernel, options: SearchOptions) -> Report:
    return bmc.check(of, options)


def length(report: Report, name: str) -> int | None:
    result = next(each for each in report.properties if each.name == name)
    return None if result.trace is None else len(result.trace)


def test_a_search_of_all_states_answers_where_nothing_is_violated() -> None:
    report = engine_selection.check(GOOD, engine="race").report
    assert report.exit_code is ExitCode.OK
    assert report.statistics.distinct == 288


def test_whoever_answers_finds_the_shortest_run() -> None:
    report = engine_selection.check(BAD, engine="race").report
    assert report.exit_code is ExitCode.VIOLATED
    assert length(report, "consistent") == 4


def test_a_violation_that_bounded_search_finds_ends_the_other_search() -> None:
    def waits(options: SearchOptions) -> Report:
        while not options.interrupted():
            pass
        return explicitly(BAD, options)

    report = race(waits, lambda options: symbolically(BAD, options), SearchOptions())
    assert report.engine == "bmc"
    assert length(report, "consistent") == 4
    assert not report.interrupted


def test_bounded_search_goes_on_where_the_other_has_reached_its_limit() -> None:
    limits = SearchOptions(max_states=2, timeout=60.0)
    report = engine_selection.check(BAD, limits, engine="race").report
    assert report.exit_code is ExitCode.VIOLATED
    assert length(report, "consistent") == 4
    nothing = engine_selection.check(GOOD, SearchOptions(max_states=2, max_depth=3), engine="race").report
    assert nothing.exit_code is ExitCode.INCONCLUSIVE
    assert nothing.statistics.distinct > 0


def test_engines_that_contradict_each_other_are_found_out() -> None:
    def waits(options: SearchOptions) -> Report:
        while not options.interrupted():
            pass
        return explicitly(GOOD, SearchOptions())

    with pytest.raises(RaceDisagreementError, match=r"`consistent`.*`holds`.*run of 4 states: .*decide_commit"):
        race(waits, lambda options: symbolically(BAD, options), SearchOptions())


def test_a_search_that_ends_before_the_steps_of_the_last_level_contradicts_no_deadlock_there() -> None:
    spec = "state:\n    x: 0 .. 3 = 0\naction up:\n    when x < 3\n    x := x + 1\n"
    of = load_text(spec).kernel
    report = race(
        lambda _: explicitly(of, SearchOptions(max_states=4)),
        lambda options: symbolically(of, options),
        SearchOptions(max_depth=9),
    )
    assert length(report, "deadlock") == 4


def test_a_spec_without_encoding_is_left_to_the_other_engine() -> None:
    def refuses(options: SearchOptions) -> Report:
        raise SpecError([])

    assert race(lambda o: explicitly(GOOD, o), refuses, SearchOptions()).exit_code is ExitCode.OK


def test_what_goes_wrong_in_the_bounded_search_is_raised() -> None:
    def fails(options: SearchOptions) -> Report:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        race(lambda o: explicitly(GOOD, o), fails, SearchOptions())


def test_the_user_may_interrupt_both() -> None:
    report = race(
        lambda o: explicitly(GOOD, o), lambda o: symbolically(GOOD, o), SearchOptions(interrupted=lambda: True)
    )
    assert report.exit_code is ExitCode.INTERRUPTED
    assert all(each.outcome is not Outcome.VIOLATED for each in report.properties)


def test_a_race_refuses_to_go_on_after_a_violation() -> None:
    with pytest.raises(SpecError):
        engine_selection.check(GOOD, SearchOptions(keep_going=True), engine="race")


@pytest.mark.slow
def test_engines_that_contradict_each_other_about_behaviours_are_found_out() -> None:
    goes = SearchOptions(properties=frozenset({"stray_replica_goes"}))
    good, bad = (
        load_spec(locate_spec("kafka/stop_replica"), overrides={"StopAtSameEpoch": each}).kernel
        for each in ("true", "false")
    )

    def waits_for(kernel: Kernel) -> Callable[[SearchOptions], Report]:
        def search(options: SearchOptions) -> Report:
            while not options.interrupted():
                pass
            return explicitly(kernel, goes)

        return search

    agreed = race(waits_for(bad), lambda options: symbolically(bad, options), goes)
    assert length(agreed, "stray_replica_goes") is not None
    with pytest.raises(RaceDisagreementError, match="stray_replica_goes"):
        race(waits_for(good), lambda options: symbolically(bad, options), goes)
