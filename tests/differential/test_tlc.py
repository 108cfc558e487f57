"""TLC, asked about exported specs, finds what assay finds: as many states, as deep, and the same verdict."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.tla.module import export
from assay.grammar.load import load_spec, load_text

from .joined import survey
from .tlc import Answer, java, tlc, write
from .tlc_case import agree, case_about

CHECKOUT = Path(__file__).resolve().parents[2]


def bundled() -> list[str]:
    specs = CHECKOUT / "spec"
    return sorted(path.relative_to(specs).with_suffix("").as_posix() for path in specs.rglob("*.assay"))


def answer_about(text: str, folder: Path, config: str | None = None) -> Answer:
    exported = export(load_text(text).kernel, "Spec_under_test")
    write(exported, folder)
    return tlc(folder, exported.name, config and f"{exported.name}_{config}")


def report_about(text: str) -> Report:
    return check(load_text(text).kernel)


def length(answer: Answer) -> int:
    """The number of states in the trace that TLC prints."""
    return len(re.findall(r"^State \d+:", answer.output, re.MULTILINE))


@pytest.mark.everyday(2)
@pytest.mark.parametrize(
    ("spec", "distinct", "depth"),
    [
        ("classics/die_hard", 16, 8),
        ("classics/transaction_commit", 34, 7),
        ("classics/two_phase", 288, 11),
        ("classics/paxos", 3_921, 17),
        ("classics/token_ring", 256, 1),
        pytest.param("classics/german", 28_593, 27, marks=pytest.mark.slow),
        pytest.param("kafka/membership", 27_451, 24, marks=pytest.mark.slow),
        pytest.param("kafka/controller", 181_168, 26, marks=pytest.mark.slow),
    ],
)
def test_tlc_finds_the_states_that_assay_finds(spec: str, distinct: int, depth: int, tmp_path: Path) -> None:
    loaded = load_spec(CHECKOUT / "spec" / f"{spec}.assay")
    exported = export(loaded.kernel)
    write(exported, tmp_path)
    answer = tlc(tmp_path, exported.name)
    assert answer.is_complete, answer.output
    sizes = engine_selection.check(loaded.kernel).report.statistics
    assert (answer.distinct, answer.depth) == (sizes.distinct, sizes.depth) == (distinct, depth)


@pytest.mark.parametrize(("spec", "distinct"), [("capacity_of_initial_states", 18), ("loops_one_after_another", 7)])
def test_tlc_writes_what_assay_writes(spec: str, distinct: int, tmp_path: Path) -> None:
    loaded = load_spec(CHECKOUT / "tests" / "corpus" / "specs" / f"{spec}.assay")
    exported = export(loaded.kernel)
    write(exported, tmp_path)
    answer = tlc(tmp_path, exported.name)
    assert answer.is_complete, answer.output
    assert answer.distinct == check(loaded.kernel).statistics.distinct == distinct


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "model", "sizes", "distinct", "depth"),
    [
        ("kraft/pre_vote", "n3e2l1", {"Node": "{m1, m2}", "MaxEpoch": "3", "LogSize": "2"}, 4_588, 25),
        pytest.param("kraft/pre_vote", "n3e2l1", {}, 56_833, 20, marks=pytest.mark.slow),
        pytest.param("kraft/snapshots", "n3e3l2", {"MaxEpoch": "2"}, 23_023, 16, marks=pytest.mark.slow),
        pytest.param("cluster", "disk", {}, 22_312, 26, marks=pytest.mark.slow),
    ],
)
def test_tlc_finds_the_states_of_smaller_models_of_what_takes_it_minutes(
    spec: str, model: str, sizes: dict[str, str], distinct: int, depth: int, tmp_path: Path
) -> None:
    """Of the first two every action happens in one: three nodes, but two where there is room for records."""
    loaded = load_spec(CHECKOUT / f"spec/kafka/{spec}.assay", model=model, overrides=sizes)
    exported = export(loaded.kernel)
    write(exported, tmp_path)
    answer = tlc(tmp_path, exported.name)
    assert answer.is_complete, answer.output
    report = engine_selection.check(loaded.kernel).report
    assert Outcome.VIOLATED not in {each.outcome for each in report.properties}
    assert (answer.distinct, answer.depth) == (distinct, depth)
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "model", "distinct", "depth", "lost"),
    [
        ("truncate_to_hw", "r2l2m2e2", 10_131, 20, ("strong_isr", 10)),
        ("kip101", "r2l2m2e2", 9_045, 18, ("strong_isr", 12)),
        ("kip279", "r2l2m2e2", 9_027, 18, None),
        ("kip320_first_try", "r2l2m2e2", 8_429, 18, None),
        ("kip320", "r2l2m2e2", 5_973, 18, None),
        ("async_isr", "r3o1v3", 8_020, 18, None),
    ],
)
def test_tlc_says_of_every_version_of_replication_what_assay_says(
    spec: str, model: str, distinct: int, depth: int, lost: tuple[str, int] | None, tmp_path: Path
) -> None:
    kernel = load_spec(CHECKOUT / f"spec/kafka/replication/{spec}.assay", model=model).kernel
    report = engine_selection.check(kernel, SearchOptions(keep_going=True)).report
    exported = export(kernel)
    write(exported, tmp_path)
    bare = ["SPECIFICATION Spec", *(f"CONSTANT {line}" for line in exported.constants)]
    (tmp_path / "bare.cfg").write_text("\n".join(bare), encoding="utf-8")
    whole, answer = tlc(tmp_path, exported.name, "bare"), tlc(tmp_path, exported.name)
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    assert (whole.distinct, whole.depth) == (distinct, depth), whole.output
    found = [(p.name, len(p.trace)) for p in report.properties if p.outcome is Outcome.VIOLATED and p.trace is not None]
    assert found == ([] if lost is None else [lost])
    assert (None if answer.violated is None else (answer.violated, length(answer))) == lost, answer.output
    assert answer.is_complete is (lost is None)


PUBLISHED = (
    "bakery",
    "barrier",
    "cat_in_boxes",
    "game_of_life",
    "missionaries_and_cannibals",
    "multi_paxos",
    "peterson",
    "queens",
    "spanning_tree",
    "tower_of_hanoi",
    "chameneos",
    "dijkstra_mutex",
    "gossip_counter",
    "lamport_mutex",
    "prisoners",
    "single_lane_bridge",
    "token_ring_426",
    "buffered_file",
    "elevator",
    "tcp",
    "write_through_cache",
    "yo_yo",
)


@pytest.mark.slow
def test_tlc_counts_the_states_of_specs_written_after_published_ones(tmp_path: Path) -> None:
    for name in PUBLISHED:
        loaded = load_spec(CHECKOUT / "tests" / "corpus" / "published" / f"{name}.assay")
        case = case_about(name, loaded.kernel, SearchOptions(keep_going=True))
        assert case is not None
        folder = tmp_path / name
        folder.mkdir()
        agree([case], folder)


@pytest.mark.slow
def test_every_bundled_spec_is_a_module_of_tla(tmp_path: Path) -> None:
    names = []
    for spec in bundled():
        exported = export(load_spec(CHECKOUT / "spec" / f"{spec}.assay").kernel)
        write(exported, tmp_path)
        names += [name for name in exported.files if name.endswith(".tla")]
    done = subprocess.run(
        [*java(tmp_path), "tla2sany.SANY", *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not re.search("error|abort", done.stdout + done.stderr, re.IGNORECASE), done.stdout
    assert all(f"Semantic processing of module {name.removesuffix('.tla')}" in done.stdout for name in names)


def test_a_violated_invariant_has_the_same_name_and_as_long_a_trace(tmp_path: Path) -> None:
    loaded = load_spec(CHECKOUT / "spec/classics/two_phase.assay", overrides={"WaitForAll": "false"})
    exported = export(loaded.kernel)
    write(exported, tmp_path)
    answer = tlc(tmp_path, exported.name)
    found = next(each for each in check(loaded.kernel).properties if each.outcome is Outcome.VIOLATED)
    assert found.trace is not None
    assert (answer.violated, length(answer)) == (found.name, len(found.trace)) == ("consistent", 4)


def test_the_witness_of_a_reachable_is_tlcs_counterexample(tmp_path: Path) -> None:
    exported = export(load_spec(CHECKOUT / "spec/classics/die_hard.assay").kernel)
    write(exported, tmp_path)
    answer = tlc(tmp_path, exported.name, f"{exported.name}_four_gallons")
    assert (answer.violated, length(answer)) == ("never_four_gallons", 7)


COUNTER = """\
module counter
state:
    n: 0 .. 9 = 0
    seen: set[0 .. 9, max 2] = {}
action count:
    when small: n < 4
    GUARD
    n := n + 1
    UPDATE
TERMINAL
"""


JOINT = """\
module counter
state:
    n: 0 .. 2 = 0
    m: 0 .. 2 = 0
action below:
    bound most: n < 2
action count(to: 0 .. 2):
    when higher: to > m
    n := to
    m := to
action count_on = below & count(n + 1)
next: count_on
"""


def counter(guard: str = "", update: str = "", terminal: str = "") -> str:
    lines = COUNTER.replace("GUARD", guard).replace("UPDATE", update).replace("TERMINAL", terminal)
    return "\n".join(line for line in lines.splitlines() if line.strip()) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "distinct", "dead"),
    [
        (counter(), None, True),
        (counter(terminal="terminal: n == 4"), 5, False),
        (counter(guard="bound most: n < 2"), 3, False),
        (counter(update="seen := seen + {n}"), 3, False),
        (counter(guard="bound most: n < 5"), None, True),
        (JOINT, 3, False),
        (JOINT.replace("to > m", "m < 2"), 3, False),
        (JOINT.replace("to > m", "to < 2"), None, True),
    ],
    ids=[
        "blocked",
        "terminal",
        "cut by a bound",
        "cut by a capacity",
        "blocked beside a bound",
        "no value behind a bound",
        "no value behind a bound, and blocked behind that",
        "blocked by a value behind a bound",
    ],
)
def test_what_is_cut_or_terminal_is_no_deadlock(text: str, distinct: int | None, dead: bool, tmp_path: Path) -> None:
    answer, report = answer_about(text, tmp_path), report_about(text)
    (found,) = [each for each in report.properties if each.name == "deadlock"]
    assert (answer.violated == "Deadlock") is (found.outcome is Outcome.VIOLATED) is dead
    if not dead:
        assert (answer.distinct, answer.is_complete) == (report.statistics.distinct, True) == (distinct, True)


@pytest.mark.parametrize(
    "guard",
    [
        "n < 3 implies s == [] or last(s) < n",
        pytest.param("if n < 3 then s == [] or last(s) < n else n == 3", marks=pytest.mark.slow),
        pytest.param("let m = n: s == [] or last(s) < m", marks=pytest.mark.slow),
    ],
)
def test_tlc_heeds_what_a_guard_protects_within_itself(guard: str, tmp_path: Path) -> None:
    text = (
        "module m\nstate:\n    n: 0 .. 4 = 0\n    s: seq[0 .. 4, max 4] = []\naction push:\n"
        f"    when n < 4\n    when {guard}\n    n := n + 1\n    s := s + [n]\nterminal: n == 4\n"
    )
    answer, sizes = answer_about(text, tmp_path), report_about(text).statistics
    assert (answer.is_complete, answer.distinct, answer.depth) == (True, sizes.distinct, sizes.depth) == (True, 5, 5)


def test_a_value_out_of_range_violates_the_type_invariant(tmp_path: Path) -> None:
    text = "module m\nstate:\n    n: 0 .. 2 = 0\naction up:\n    n := n + 1\n"
    assert next(p for p in report_about(text).properties if p.name == "defined").outcome is Outcome.VIOLATED
    assert answer_about(text, tmp_path).violated == "TypeOK"


@pytest.mark.parametrize(
    "update",
    [
        "n := s[n]",
        "w[n] := 1\n    w[0] := 2",
        "p[n].a := 1",
        "o[{n, n + 1}] := 1",
        pytest.param("n := m[n + 2]", marks=pytest.mark.slow),
        pytest.param("n := 1 // n", marks=pytest.mark.slow),
        pytest.param("n := min({x in {1} if n > 0})", marks=pytest.mark.slow),
        pytest.param("t := Held(n + 3)", marks=pytest.mark.slow),
        pytest.param("s := drop(s, n - 1)", marks=pytest.mark.slow),
        pytest.param("s[n] := 1", marks=pytest.mark.slow),
        pytest.param("for x in {0, 1}:\n        r.a := x", marks=pytest.mark.slow),
        pytest.param("for x in {1, 2}:\n        w[x // 3] := 0", marks=pytest.mark.slow),
    ],
)
def test_tlc_stops_where_an_operation_is_undefined(update: str, tmp_path: Path) -> None:
    text = (
        "module m\nenum T: Free, Held(by: 0 .. 2)\nrecord R: a: 0 .. 1\ntype One = set[0 .. 2, max 1]\nstate:\n    n: 0 .. 2 = 0\n    t: T = Free\n    s: seq[0 .. 2, max 2] = []\n"
        f"    m: map[0 .. 4, 0 .. 2, max 2] = {{}}\n    r: R = R(a = 0)\n    w: map[0 .. 2, 0 .. 2] = [x -> 0]\n"
        f"    p: map[0 .. 4, R, max 2] = {{}}\n    o: map[One, 0 .. 1] = [x -> 0]\naction step:\n    {update}\n"
    )
    assert next(p for p in report_about(text).properties if p.name == "defined").outcome is Outcome.VIOLATED
    answer = answer_about(text, tmp_path)
    assert not answer.is_complete
    assert answer.violated is None
    assert "Error: " in answer.output


APART = [
    "for x in 0 .. 2:\n        w[x] := 1",
    "for x in {0, 1}:\n        w[x + 1] := 1",
    "w[n] := 1\n    w[1] := 2",
    "if n == 0:\n        w[0] := 1\n    else:\n        w[n] := 2",
    "for x in 0 .. 2:\n        if x != n:\n            w[x] := 1\n    n := 1",
    "r.a := 1\n    r.b := 1",
    "for x in 0 .. 1:\n        for y in 0 .. 1:\n            g[x][y] := x + y",
]


@pytest.mark.slow
def test_tlc_takes_the_step_where_no_two_assignments_meet(tmp_path: Path) -> None:
    text = (
        "module m\nrecord R: a: 0 .. 1, b: 0 .. 1\nstate:\n    n: 0 .. 2 = 0\n    w: map[0 .. 2, 0 .. 2] = [x -> 0]\n    r: R = R(a = 0, b = 0)\n"
        "    g: map[0 .. 1, map[0 .. 1, 0 .. 2]] = [x -> [y -> 0]]\naction step:\n    "
    )
    kernels = [load_text(f"{text}{update}\n").kernel for update in APART]
    seen, answer = survey(kernels, tmp_path)
    assert answer.is_complete, answer.error
    assert [each.levels.total() for each in seen] == [check(kernel).statistics.distinct for kernel in kernels]
    assert all(each.levels.total() > 1 for each in seen)


EVENTUALLY = """\
module lamp
param Node: set = {a, b}
state:
    on: set[Node] = {}
    calls: 0 .. 2 = 0
action light(x: Node) FAIR:
    when dark: not (x in on)
    on := on + {x}
action dim(x: Node):
    when lit: x in on
    when few: calls < 2
    calls := calls + 1
    on := on - {x}
action idle:
    calls := calls
property all_lit: PROPERTY
"""


@pytest.mark.parametrize(
    ("fair", "formula", "holds"),
    [
        pytest.param("", "eventually on == Node", False, marks=pytest.mark.slow),
        ("fair", "eventually on == Node", True),
        pytest.param("fair per x", "forall x in Node: eventually always x in on", True, marks=pytest.mark.slow),
        pytest.param("strong fair", "on == {} leads_to on != {}", True, marks=pytest.mark.slow),
        ("fair", "always eventually calls == 0", False),
        pytest.param("fair", "eventually always not enabled(dim)", False, marks=pytest.mark.slow),
        pytest.param("fair", "always (enabled(light(a)) implies not (a in on))", True, marks=pytest.mark.slow),
        pytest.param("fair", "always eventually occurs(light)", False, marks=pytest.mark.slow),
        pytest.param("fair", "always not occurs(dim)", False, marks=pytest.mark.slow),
    ],
)
def test_tlc_checks_temporal_properties_under_fairness(fair: str, formula: str, holds: bool, tmp_path: Path) -> None:
    answer = answer_about(EVENTUALLY.replace(" FAIR", f" {fair}".rstrip()).replace("PROPERTY", formula), tmp_path)
    broken = "Temporal properties were violated" in answer.output or answer.violated == "all_lit"
    assert (answer.is_complete, broken) == (holds, not holds), answer.output


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("always (on == {} or (on != {} until on == {})) or eventually always on != {}", True),
        ("always (on == {} or (on != {} until on == {}))", False),
    ],
)
def test_tlc_reads_the_module_of_a_property_with_auxiliary_variables(formula: str, holds: bool, tmp_path: Path) -> None:
    exported = export(load_text(EVENTUALLY.replace(" FAIR", "").replace("PROPERTY", formula)).kernel)
    assert list(exported.watched) == ["all_lit"]
    write(exported, tmp_path)
    answer = tlc(tmp_path, f"{exported.name}_all_lit")
    broken = "Temporal properties were violated" in answer.output
    assert (answer.is_complete, broken) == (holds, not holds), answer.output


EVERYTHING = """\
module everything
param Node: set = {a, b, Len} symmetric
param Rank: set = {low, mid, high}
enum Init: Next, Spec(x: 0 .. 2), TypeOK(x: Rank, IN: Node)
record DOMAIN: UNION: 0 .. 2, kind: Node?
type Many = 0 .. 200
state:
    x: Init in {Next, Spec(1)}
    s: map[Node, DOMAIN]
    vars: map[Node, map[Rank, 0 .. 2, max 2]] = [n -> {}]
    S: seq[DOMAIN, max 2] = []
    deep: Node?? = none
    few: set[Many, max 2] = {}
    total: map[Many, bool] = [m -> false]
    bags: bag[Rank, max 3] = bag{}
    none_: bool
    clock: 0 .. 2 = 0
init:
    pick first in Node
    for n in Node:
        s[n] := DOMAIN(UNION = 1, kind = first)
    none_ := true
    when start: exists n in Node: s[n].kind == some(n)
    when low_first: forall r in Rank: r >= low
action nest(y: Node, r: Rank):
    bound time: clock < 2
    when not_yet: not (r in vars[y])
    vars[y][r] := 1
    clock := clock + 1
action bump(y: Node):
    bound time: clock < 2
    for r in keys(vars[y]):
        if vars[y][r] == 1:
            vars[y][r] := 2
    for n in {n in Node if s[n].UNION == 1 and n != y}:
        s[n].kind := some(y)
    s[y].UNION := 2
    clock := clock + 1
action both(y: Node):
    bound time: clock < 2
    when other: exists z in Node: z != y
    S := [e in S if e.UNION == 1] + [s[y]]
    x := if x is Spec(v) then TypeOK(x = mid, IN = y) else Spec(x = 2)
    deep := if deep == none then some(none) else some(some(y))
    clock := clock + 1
action count_up(m: Many):
    bound time: clock < 2
    when little: m < 3
    few := few + {m}
    total[m] := true
    clock := clock + 1
action collect(r: Rank):
    bound time: clock < 2
    bags := bag{e in bags if e != mid} + bag{r} - bag{low}
    clock := clock + 1
action pairs:
    bound time: clock < 2
    let sums = {p + q for p in 0 .. 2, q in 0 .. p if p != q}
    pick t in sums
    bound small: t < 3
    when matters: t > 0 and Many != {}
    few := {t}
    clock := clock + 1
invariant sane: forall n in Node: s[n].UNION >= 1 and (s[n].kind is some(k) implies k in Node)
transition grows: count(elements(S)) >= 0 and old(count(few)) <= 2
reachable sized: count(S) == 2
"""


@pytest.mark.slow
def test_every_kind_of_name_and_value_goes_through(tmp_path: Path) -> None:
    """Names that TLA+ reserves or defines, variants and fields that meet, nested options, parts of initial values."""
    report = report_about(EVERYTHING)
    answer = answer_about(EVERYTHING, tmp_path)
    assert answer.is_complete, answer.output
    assert (answer.distinct, answer.depth) == (report.statistics.distinct, report.statistics.depth)
    assert report.statistics.distinct > 500


def test_what_a_loop_goes_through_has_names_of_its_own() -> None:
    """TLA+ declares no name again where it is declared already."""
    text = "module m\nstate:\n    seen: map[0 .. 1, bool] = [k -> false]\n"
    text += "action step:\n    for k in {k in 0 .. 1 if not seen[k]}:\n        seen[k] := true\n"
    module = export(load_text(text).kernel).files["m.tla"]
    assert "[k \\in DOMAIN seen |-> IF k \\in {k_2 \\in 0..1 : ~seen[k_2]} THEN" in " ".join(module.split())


def test_a_number_that_tlc_cannot_read_is_told() -> None:
    text = "module m\nstate:\n    n: 0 .. 9 = 0\n    far: -{0} .. {0} = 0\naction step:\n    far := n\n"
    assert export(load_text(text.format(2**31 - 1)).kernel).warnings == ()
    (warning,) = export(load_text(text.format(2**31)).kernel).warnings
    assert (warning.code, warning.span.line) == ("E808", 4)
    assert "32 bits" in warning.message
