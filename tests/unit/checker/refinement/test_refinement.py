"""Small mappings, right and wrong, and what each engine says of them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine, compile_kernel
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, PropertyResult, Report
from assay.checker.saved_traces.replay import replay
from assay.checker.saved_traces.saved_trace import trace_from_json, trace_to_json
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import simulate
from assay.grammar.load import Loaded, UnusableSpecError, load_text
from assay.report.specs.check_object import report_object
from assay.report.specs.text import report_lines

CLOCK = """
module clock
param Hours: int = 3
size param Most: int = 9
enum Face: Blank, Shows(hour: 0 .. 9)
state:
    face: Face = Shows(0)
    moves: 0 .. Most = 0
    day: 0 .. 1 = 0
    ghost seen: 0 .. 1 = 0
action tick:
    when shown: face is Shows(h)
    bound early: moves < 1
    face := Shows((h + 1) % Hours)
    moves := moves + 1
    seen := 1
action turn(to: 0 .. 9):
    when shown: face is Shows(h)
    when forward: to >= h
    face := Shows(to)
"""

WATCH = """
module watch
param Hours: int = 3
param Wrong: bool = false
state:
    h: 0 .. 9 = {start}
    quarter: 0 .. 3 = 0
    n: 0 .. 4 = 0
action quarter_passes:
    when quarter < 3
    quarter := quarter + 1
action hour_passes:
    when quarter == 3
    when n < 4
    quarter := 0
    h := if Wrong and h == 1 then 0 else (h + 1) % Hours
    n := n + 1
action adjust(x: 0 .. 2):
    when x > h
    h := x
refines clock with:
"""

MAPPED = ("face = Shows(h)", "moves = n", "day = 0", "action hour_passes = tick")


def loaded(*lines: str, start: str = "0", **overrides: str) -> Loaded:
    text = WATCH.format(start=start) + "".join(f"    {line}\n" for line in lines)
    return load_text(dedent(text), modules={"clock": CLOCK}, overrides=overrides)


def report(spec: Loaded, engine: Engine, **options: object) -> Report:
    return engine_selection.check(spec.kernel, SearchOptions(**options), spec.sources, engine).report  # type: ignore[arg-type]


def refinement(spec: Loaded, engine: Engine, **options: object) -> PropertyResult:
    return next(each for each in report(spec, engine, **options).properties if each.kind == "refinement")


engines = pytest.mark.parametrize("engine", ["reference", "native"])


@engines
def test_a_right_mapping_holds_and_bounds_of_the_abstract_side_are_no_guards(engine: Engine) -> None:
    found = refinement(loaded(*MAPPED, "action adjust(x) = turn(x)"), engine)
    assert (found.outcome, found.reason) == (Outcome.HOLDS, None)


@engines
@pytest.mark.parametrize(
    "mapping",
    ["action adjust(x) = turn(_)", "action adjust(_) = any", "action adjust(x) = turn(h) or tick or turn(x)"],
)
def test_other_ways_to_say_what_an_action_may_be(engine: Engine, mapping: str) -> None:
    assert refinement(loaded(*MAPPED, mapping), engine).outcome is Outcome.HOLDS


@engines
@pytest.mark.parametrize(
    ("lines", "overrides", "length"),
    [
        (
            ("action hour_passes = tick", "action adjust(x) = turn(x)"),
            {"Wrong": "true"},
            6,
        ),  # from 1 to 0, and not to 2
        (("action hour_passes = tick",), {}, 2),  # an action without mapping changes the abstract state
        (("action hour_passes = tick", "action adjust(x) = turn(h)"), {}, 2),  # another argument
        (("action hour_passes = tick", "action adjust(x) = turn(x + 9)"), {}, 2),  # no instance
        (("action hour_passes = tick", "action adjust(x) = turn(x)", "action quarter_passes = tick"), {}, 2),
        (("action hour_passes = tick", "action adjust(x) = turn(x)", "Hours = 2"), {}, 6),  # another parameter
        (("action hour_passes = any", "action adjust(x) = turn(x)"), {"Wrong": "true"}, 6),
    ],
)
def test_a_wrong_mapping_is_violated_by_the_shortest_run(
    engine: Engine, lines: tuple[str, ...], overrides: dict[str, str], length: int
) -> None:
    found = refinement(loaded("face = Shows(h)", "moves = n", "day = 0", *lines, **overrides), engine)
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == length
    assert found.abstract is not None


@engines
def test_an_initial_state_has_to_be_one_there(engine: Engine) -> None:
    found = refinement(loaded(*MAPPED, "action adjust(x) = turn(x)", start="1"), engine)
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == 1
    assert found.reason == "the initial state is none of clock"


@engines
def test_a_value_that_the_abstract_variable_cannot_have_is_a_violation(engine: Engine) -> None:
    shifted = ("face = Shows(h)", "moves = n", "day = h // 2 * 2", "action adjust(_) = any")
    found = refinement(loaded(*shifted), engine)
    assert found.outcome is Outcome.VIOLATED
    assert "2 is not in 0 .. 1" in str(found.reason)


@engines
def test_a_value_beyond_a_size_of_the_abstract_side_is_undecided(engine: Engine) -> None:
    spec = loaded(*MAPPED, "action adjust(x) = turn(x)", "Most = 3")
    found = report(spec, engine, check_deadlock=False)
    (answer,) = [each for each in found.properties if each.kind == "refinement"]
    assert answer.outcome is Outcome.UNKNOWN
    assert "too small" in str(answer.reason)
    assert found.exit_code is ExitCode.INCONCLUSIVE


@engines
def test_a_mapping_without_value_violates_defined(engine: Engine) -> None:
    found = report(
        loaded("face = Shows(1 // (2 - h) * 0 + h)", "moves = n", "day = 0", "action adjust(_) = any"), engine
    )
    outcomes = {each.kind: each.outcome for each in found.properties}
    assert outcomes["defined"] is Outcome.VIOLATED
    assert outcomes["refinement"] is Outcome.UNKNOWN


@engines
def test_both_sides_of_a_violation_are_told(engine: Engine) -> None:
    spec = loaded(*MAPPED, "action adjust(x) = turn(h)")
    answer = report(spec, engine)
    text = "\n".join(line.text for line in report_lines(answer))
    assert "as clock sees it" in text
    assert "expected turn(h)" in text
    assert "would make face = Shows(0)" in text
    (found,) = [each for each in report_object(answer)["properties"] if each["kind"] == "refinement"]
    assert found["abstract"]["before"] == {"face": {"variant": "Shows", "hour": 0}, "moves": 0, "day": 0}
    assert found["abstract"]["attempts"][0]["instance"] == "turn(0)"


@engines
def test_guards_of_the_abstract_action_are_told(engine: Engine) -> None:
    spec = loaded("face = Blank", "moves = 0", "day = 0", "action adjust(x) = turn(x)", "action hour_passes = stutter")
    found = refinement(spec, engine)
    assert found.abstract is not None
    assert "the initial state" in str(found.reason)


@engines
def test_further_violations_are_found(engine: Engine) -> None:
    spec = loaded(*MAPPED)
    found = refinement(spec, engine, keep_going=True, violations=3)
    assert [other.abstract is not None for other in found.others] == [True, True]


def test_reports_are_the_same() -> None:
    for lines in ((*MAPPED, "action adjust(x) = turn(x)"), (*MAPPED, "action adjust(x) = turn(h)"), MAPPED):
        spec = loaded(*lines)
        texts = [[line.text for line in report_lines(report(spec, engine))][:-1] for engine in ("reference", "native")]
        assert texts[0] == texts[1]


def test_a_saved_violation_is_judged_again() -> None:
    spec = loaded(*MAPPED, "action adjust(x) = turn(h)")
    trace = refinement(spec, "reference").trace
    assert trace is not None
    saved = trace_from_json(trace_to_json(trace, spec.kernel, "watch", "refines clock", {}), "trace.json")
    again = replay(spec.kernel, saved, spec.sources)
    assert (again.violated, again.reason) == (True, "the step is not turn(h) of clock")
    repaired = loaded(*MAPPED, "action adjust(x) = turn(x)")
    assert replay(repaired.kernel, saved, repaired.sources).violated is False


@pytest.mark.parametrize("engine", ["bmc", "prove"])
def test_engines_that_follow_no_other_side_say_so(engine: Engine) -> None:
    found = refinement(loaded(*MAPPED, "action adjust(x) = turn(x)"), engine, max_depth=3)
    assert found.outcome is Outcome.UNKNOWN
    assert "not followed on the abstract side" in str(found.reason)


def test_walks_follow_no_other_side_and_say_so() -> None:
    spec = loaded(*MAPPED, "action adjust(x) = turn(h)")
    report_ = simulate(spec.kernel, Walks(5, 5, 1)).report
    (found,) = [each for each in report_.properties if each.kind == "refinement"]
    assert "not followed on the abstract side" in str(found.reason)


def test_compiled_code_is_another_where_the_mapping_is() -> None:
    one, other = (loaded(*MAPPED, mapping) for mapping in ("action adjust(x) = turn(x)", "action adjust(_) = any"))
    assert (
        compile_kernel(one.kernel, SearchOptions()).identity != compile_kernel(other.kernel, SearchOptions()).identity
    )


SHARED = {
    "below": "module below\nuse lamp\naction flip = lamp.flip\n",
    "lamp": "module lamp\nstate:\n    on: bool = false\naction flip: on := not on\n",
}


@engines
@pytest.mark.parametrize(
    ("mapping", "outcome"), [("action twice = stutter", Outcome.HOLDS), ("lamp.on = false", Outcome.VIOLATED)]
)
def test_what_both_sides_use_is_itself_unless_it_is_mapped(engine: Engine, mapping: str, outcome: Outcome) -> None:
    text = (
        "module above\nuse lamp\nstate:\n    count: 0 .. 3 = 0\n"
        "action flip = lamp.flip\naction twice:\n    count := (count + 1) % 4\n"
        f"next: flip, twice\nrefines below with:\n    action flip = flip\n    {mapping}\n"
    )
    assert refinement(load_text(text, modules=SHARED), engine).outcome is outcome


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (("face = Shows(h)", "moves = n", "day = 0", "Hours = h"), ["E108"]),
        (("face = Shows(h)", "moves = n", "day = 0", "action adjust = tick"), ["E510"]),
        (("face = Shows(h)", "moves = n", "day = 0", "action adjust(x) = tick", "action adjust(y) = tick"), ["E511"]),
        (("face = Shows(h)", "moves = true", "day = 0"), ["E201"]),
        (("face = Gone", "moves = n", "day = 0"), ["E101"]),
        (("face = clock.Blank", "moves = n", "day = 0", "action adjust(_) = any or stutter"), []),
    ],
)
def test_mistakes_in_a_mapping_are_told(lines: tuple[str, ...], codes: list[str]) -> None:
    if not codes:
        assert loaded(*lines).kernel.refinements
        return
    with pytest.raises(UnusableSpecError) as caught:
        loaded(*lines)
    assert [each.code for each in caught.value.diagnostics] == codes


def test_a_parameter_without_value_and_an_action_that_is_no_step_are_refused() -> None:
    abstract = "module low\nparam N: int\nstate:\n    x: 0 .. 3 = 0\naction a: x := 1\naction b: x := 2\nnext: a\n"
    text = "state:\n    y: 0 .. 3 = 0\naction c: y := 1\nrefines low with:\n    x = y\n    {}\n    action c = b\n"
    for line, code in (("action c = a", "E525"), ("N = 3", "E526")):
        body = text.format(line).replace("    action c = b\n", "" if code == "E525" else "    action c = b\n")
        with pytest.raises(UnusableSpecError) as caught:
            load_text(body, modules={"low": abstract})
        assert [each.code for each in caught.value.diagnostics] == [code]
