"""The native engine on models written as text: the reference's answers, and a plain word where it cannot give one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from tests.stages import slow

from assay.checker.engines.engine_selection import check
from assay.checker.engines.reference_engine import check as reference
from assay.checker.explicit.visited_set import VisitedSet
from assay.checker.lowering.llvm.function_builder import FunctionBuilder
from assay.checker.native.compile import cache_key, object_code
from assay.checker.native.program import program
from assay.checker.native.unroll_budget import SOFT_VISITS
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, Report
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text

COUNTER = """
type Small = 0 .. 5
state:
    x: Small = 0
action up:
    bound most: x < 4
    x := x + 1
"""


def kernel(text: str) -> Kernel:
    return load_text(dedent(text)).kernel


def native(text: str, options: SearchOptions | None = None, cache: Path | None = None) -> Report:
    return check(kernel(text), options, engine="native", cache=cache).report


def outcome(report: Report, name: str) -> Outcome:
    return next(each.outcome for each in report.properties if each.name == name)


def test_what_is_undefined_after_a_false_bound_is_cut_and_no_deadlock(tmp_path: Path) -> None:
    text = """
        state:
            x: 0 .. 3 = 0
        action act:
            bound first: x > 0
            when second: 1 // x == 1
            x := x
    """
    report = native(text, cache=tmp_path)
    assert report.bounds == {"first": 1}
    assert outcome(report, "deadlock") is Outcome.UP_TO_BOUND
    assert report.bounds == reference(kernel(text)).bounds


def test_an_out_of_range_assignment_violates_defined_with_a_trace(tmp_path: Path) -> None:
    report = native("state:\n    x: 0 .. 2 = 0\naction up:\n    x := x + 1\n", cache=tmp_path)
    result = next(each for each in report.properties if each.name == "defined")
    assert result.outcome is Outcome.VIOLATED
    assert result.trace is not None
    assert len(result.trace) == 3


def test_an_over_full_collection_is_cut_under_its_name(tmp_path: Path) -> None:
    text = "param N: set = {a, b, c}\nstate:\n    s: set[N, max 2] = {}\naction add(n: N):\n    s := s + {n}\n"
    report = native(text, cache=tmp_path)
    assert report.bounds == reference(kernel(text)).bounds == {"capacity of s": 3}


def test_a_let_in_a_branch_that_is_not_taken_is_not_asked_for_its_value(tmp_path: Path) -> None:
    text = """
        state:
            x: 0 .. 2 = 0
        action turn:
            if x > 0:
                let half = 2 // x
                x := half
            else:
                x := 2
    """
    report = native(text, cache=tmp_path)
    assert report.outcome is reference(kernel(text)).outcome is Outcome.HOLDS
    assert report.statistics.distinct == 3


def test_a_quotient_is_rounded_down_where_the_divisor_alone_is_negative(tmp_path: Path) -> None:
    text = """
        state:
            x: 0 .. 7 = 0
            y: -3 .. -1 = -1
        action choose(a in 0 .. 7, b in -3 .. -1):
            x := a
            y := b
        invariant quotient: x == 7 and y == -2 implies x // y == -4 and x % y == -1
        invariant both: x // y * y + x % y == x and x % y <= 0
    """
    assert native(text, cache=tmp_path).outcome is reference(kernel(text)).outcome is Outcome.HOLDS


def test_a_violation_ends_the_search_after_its_level_as_in_the_reference(tmp_path: Path) -> None:
    text = COUNTER + "invariant low: x < 3\n"
    ours, theirs = native(text, cache=tmp_path), reference(kernel(text))
    assert ours.stopped == theirs.stopped
    assert ours.statistics.distinct == theirs.statistics.distinct == 4
    assert next(p.trace for p in ours.properties if p.name == "low") == next(
        p.trace for p in theirs.properties if p.name == "low"
    )


def test_a_construct_that_is_not_compiled_is_named_with_its_place(tmp_path: Path) -> None:
    text = "state:\n    s: set[0 .. 12] = {}\naction a:\n    when count({y in 0 .. 2000 if y >= count(s)}) > 0\n    s := {1}\n"
    with pytest.raises(SpecError, match="E807") as caught:
        native(text, cache=tmp_path)
    assert caught.value.diagnostics[0].span.line == 4
    answer = check(kernel(text), SearchOptions(max_states=3), cache=tmp_path)
    assert answer.report.engine == "reference"
    assert answer.declined is not None
    assert answer.declined.code == "E807"


def test_damaged_object_code_is_built_again(tmp_path: Path) -> None:
    made = program(kernel(COUNTER))
    code = object_code(made, tmp_path)
    place = tmp_path / f"{cache_key(made)}.o"
    place.write_bytes(place.read_bytes()[:-1] + b"\0")
    assert object_code(made, tmp_path) == code
    assert place.read_bytes()[32:] == code


def test_cached_object_code_is_used(tmp_path: Path) -> None:
    made = program(kernel(COUNTER))
    place = tmp_path / f"{cache_key(made)}.o"
    object_code(made, tmp_path)
    before = place.stat().st_mtime_ns
    object_code(made, tmp_path)
    assert place.stat().st_mtime_ns == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "distinct", "depth"),
    [
        slow(("r2l2m2e2", 5_973, 18)),
        ("r2l2m2e3", 28_939, 22),
        slow(("r3l2m2e1", 39_619, 22)),
        slow(("r3l2m2e2", 737_794, 26)),
    ],
)
def test_kip320_has_as_many_states_as_its_tla_module(
    checkout: Path, tmp_path: Path, model: str, distinct: int, depth: int
) -> None:
    loaded = load_spec(checkout / "spec" / "kafka" / "replication" / "kip320.assay", model=model)
    report = check(loaded.kernel, engine="native", cache=tmp_path).report
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    assert report.outcome is Outcome.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 4, 7])
def test_the_number_of_threads_changes_no_answer(checkout: Path, tmp_path: Path, threads: int) -> None:
    path = checkout / "spec" / "kafka" / "replication" / "kip320.assay"
    loaded = load_spec(path, model="r3l2m2e1")
    one, many = (
        check(loaded.kernel, SearchOptions(threads=n), engine="native", cache=tmp_path).report for n in (1, threads)
    )
    assert replace(one.statistics, seconds=0) == replace(many.statistics, seconds=0)
    assert one.properties == many.properties
    assert one.bounds == many.bounds
    assert one.coverage == many.coverage


@pytest.mark.slow
def test_a_search_without_memory_goes_to_disk_or_says_so_and_decides_nothing(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VisitedSet, "room", 4 << 20)
    loaded = load_spec(checkout / "spec" / "kafka" / "replication" / "kip320.assay", model="r3l2m2e2")
    report = check(loaded.kernel, engine="native", cache=tmp_path).report
    assert report.outcome is Outcome.HOLDS
    assert report.statistics.distinct == 737_794
    assert report.statistics.effort is not None
    assert report.statistics.effort.visited is not None
    assert report.statistics.effort.visited.runs > 2
    report = check(loaded.kernel, SearchOptions(order="dfs"), engine="native", cache=tmp_path).report
    assert report.stopped is not None
    assert "the memory budget" in report.stopped
    assert 50_000 < report.statistics.distinct < 737_794
    assert report.exit_code is ExitCode.INCONCLUSIVE


def test_where_reading_a_variable_takes_too_much_code_the_function_is_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was refused, with a word about the variable: etcd_raft with room for sixty messages was."""
    text = """
        type Small = 0 .. 5
        state:
            x: Small = 0
            led: map[Small, seq[Small, max 3], max 3] = {}
        action up:
            when more: x < 4
            led[x] := [x]
            x := x + 1
    """
    monkeypatch.setattr("assay.checker.native.unroll_budget.SOFT", 40)
    assert program(kernel(text)).text


@pytest.mark.slow
def test_a_raft_with_room_for_sixty_messages_is_compiled(checkout: Path) -> None:
    raft = load_spec(checkout / "spec" / "systems" / "etcd_raft.assay", overrides={"MaxMessages": "60"}).kernel
    text = program(raft).text
    assert all(f"@action_{at}(" in text for at in range(len(raft.next)))


def test_picks_and_parameters_over_many_values_run_in_loops(tmp_path: Path) -> None:
    text = """
        type Wide = 0 .. 99
        state:
            x: Wide = 0
            seen: set[0 .. 40] = {}
        action jump(y: Wide):
            when near: y > x and y <= x + 30
            x := y
            seen := if y <= 40 then seen + {y} - {x} else seen
        action back:
            pick s in seen
            x := s
    """
    options = SearchOptions(max_states=900)
    ours, theirs = native(text, options, tmp_path), reference(kernel(text), options)
    assert replace(ours.statistics, seconds=0) == replace(theirs.statistics, seconds=0)
    assert ours.coverage == theirs.coverage


def same_as_the_reference(text: str, cache: Path) -> Report:
    """The native report of a small model, after it was compared with the reference's."""
    options = SearchOptions(keep_going=True)
    ours, theirs = native(text, options, cache), reference(kernel(text), options)
    assert (ours.statistics.distinct, ours.statistics.generated) == (
        theirs.statistics.distinct,
        theirs.statistics.generated,
    )
    assert [(p.name, p.outcome) for p in ours.properties] == [(p.name, p.outcome) for p in theirs.properties]
    assert (ours.coverage.actions, ours.coverage.guards) == (theirs.coverage.actions, theirs.coverage.guards)
    return ours


def test_a_body_undefined_for_some_element_is_judged_in_canonical_order_even_where_the_set_has_none(
    tmp_path: Path,
) -> None:
    text = """
        param N: set = {a, b}
        record Note: seen: set[N], size: 0 .. 2
        state:
            notes: set[Note, max 2] = {}
        action write(s in subsets(N), n: 0 .. 2):
            notes := notes + {Note(seen = s, size = n)}
        invariant divides: forall m in notes: 2 // m.size > count(m.seen)
    """
    report = same_as_the_reference(text, tmp_path)
    assert outcome(report, "defined") is Outcome.VIOLATED


def test_elements_of_a_collection_may_take_more_than_a_word(tmp_path: Path) -> None:
    text = """
        record Long: low: 0 .. 1073741823, log: seq[0 .. 65535, max 4], high: 0 .. 65535
        state:
            sent: set[Long, max 2] = {}
            last: seq[Long, max 2] = []
        action send(n in {1, 60000}):
            bound short: count(sent) < 2
            sent := sent + {Long(low = n * 7, log = [n, 3, n], high = n)}
            last := take([Long(low = n, log = [], high = n)] + last, 2)
        invariant low_is_seven_times: forall m in sent: m.low == 7 * m.high and m.log[0] == m.high
    """
    assert outcome(same_as_the_reference(text, tmp_path), "low_is_seven_times") is Outcome.UP_TO_BOUND


def test_subsets_of_many_elements_and_values_of_large_types_are_run_through_by_loops(tmp_path: Path) -> None:
    text = """
        param N: set = 10
        record Wide: left: 0 .. 40, right: 0 .. 40
        state:
            chosen: set[N] = {}
            last: Wide = Wide(left = 0, right = 0)
        action choose:
            pick s in subsets(N)
            when ten: count(s) >= 9
            chosen := s
        action store(w: Wide):
            when near: w.left + w.right == 3
            last := w
        invariant many: exists s in subsets(N): s == chosen
    """
    assert same_as_the_reference(text, tmp_path).statistics.distinct == 60


@pytest.mark.slow
def test_a_model_too_long_to_be_unrolled_is_compiled_with_loops() -> None:
    spec = Path("spec/kafka/membership.assay")
    sizes = {"Process": "7", "Broker": "7", "Session": "7"}
    lines = program(load_spec(spec, overrides=sizes).kernel).text.count("\n")
    assert lines < 70_000


def test_subsets_of_a_set_made_on_the_way_are_those_of_few_elements(tmp_path: Path) -> None:
    text = """
        param N: set = {a, b, c}
        state:
            chosen: set[N] = {}
            tried: set[set[N]] = {}
        action choose(n: N):
            pick s in subsets({n} + {m in chosen if m != n})
            chosen := s
            tried := {t in subsets({n, a}) if count(t) < 2}
        invariant few: forall t in subsets(chosen + {a}): t <= N
    """
    assert outcome(same_as_the_reference(text, tmp_path), "few") is Outcome.HOLDS


@pytest.mark.slow
def test_quantifiers_within_quantifiers_are_not_written_out_for_long(tmp_path: Path) -> None:
    """Their sums are few and soon known, so that little code is written however long it takes."""
    names = [f"q{at}" for at in range(8)]
    total = " + ".join(f"x[{name}]" for name in names)
    text = f"""
        type K = 0 .. 3
        state:
            x: map[K, 0 .. 1] = [k -> 0]
        action up(k: K):
            when some: exists {", ".join(names)} in K: {total} == 0
            x[k] := 1
        invariant few: exists {", ".join(names)} in K: {total} < 9
    """
    with pytest.MonkeyPatch.context() as patch:
        visits = 0
        visit = FunctionBuilder.visit

        def counted(code: FunctionBuilder) -> None:
            nonlocal visits
            visits += 1
            visit(code)

        patch.setattr(FunctionBuilder, "visit", counted)
        report = native(text, cache=tmp_path)
    assert visits < 6 * SOFT_VISITS
    assert (report.statistics.distinct, report.statistics.depth) == (16, 5)
    assert outcome(report, "deadlock") is Outcome.VIOLATED


@pytest.mark.parametrize(("narrow", "wide"), [("0 .. 3", "0 .. 5"), ("2 .. 5", "0 .. 3")])
def test_a_set_of_numbers_is_stored_only_where_each_of_them_has_a_place(narrow: str, wide: str, tmp_path: Path) -> None:
    """Two types may begin with the same number, or be as large, and differ."""
    text = f"""
        type Narrow = {narrow}
        type Wide = {wide}
        state:
            some: set[Wide] = {{}}
            few: set[Narrow] = {{}}
        action add:
            pick n in Wide
            some := some + {{n}}
        action store:
            few := some
    """
    report = native(text, cache=tmp_path)
    assert outcome(report, "defined") is Outcome.VIOLATED
    assert outcome(reference(kernel(text)), "defined") is Outcome.VIOLATED


def test_what_stands_behind_the_end_of_a_sequence_need_not_fit_where_it_is_stored(tmp_path: Path) -> None:
    text = """
        state:
            long: seq[0 .. 3, max 3] = [0, 3, 2]
            short: seq[0 .. 1, max 3] = []
            n: 0 .. 3 in 0 .. 3
        action cut:
            short := take(long, n)
        invariant least: count(short) < 2
    """
    assert outcome(same_as_the_reference(text, tmp_path), "defined") is Outcome.VIOLATED
    assert (
        outcome(same_as_the_reference(text.replace("in 0 .. 3\n", "in 0 .. 1\n"), tmp_path), "defined") is Outcome.HOLDS
    )


def test_a_map_whose_keys_are_collections_is_no_trouble_where_nothing_reads_it(tmp_path: Path) -> None:
    text = """
        param Node: set = {a, b}
        type One = set[Node, max 1]
        state:
            kept: map[One, 0 .. 1] = [o -> 0]
            x: 0 .. 3 = 0
        action up(n: Node):
            x := (x + 1) % 4
    """
    report = native(text, cache=tmp_path)
    assert report.statistics.distinct == reference(kernel(text)).statistics.distinct == 4
