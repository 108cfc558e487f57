"""What is proved, what is not, and what a proof leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.api.bundled import locate_spec
from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.symbolic.bounded.bmc import check as bmc
from assay.checker.symbolic.certificate.proof import Proofs
from assay.checker.symbolic.induction.ask_inductive import ask_inductive
from assay.checker.symbolic.parametric import prove as parametric
from assay.checker.symbolic.parametric.prove import prove_any
from assay.checker.symbolic.prove import Method, prove
from assay.grammar.diagnostics.diagnostic import Diagnostics, SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded, load_spec, load_text
from assay.grammar.parsing.spec_text import read_text
from assay.report.specs.proof import lemma_name

CONTROLLER = "kafka/controller"
ONE = "one_controller_per_epoch"

TOKEN = """
module token
param Node: set = {a, b, c} symmetric
size param MaxTerm: int = 3
param Checks: bool = true
type Term = 0 .. MaxTerm
state:
    holder: Node? = none
    term: Term = 0
    seen: map[Node, Term] = [n -> 0]
action take(n: Node):
    when free: Checks implies holder == none
    bound terms: term < MaxTerm
    holder := n
    term := if Checks then term + 1 else term
    seen[n] := term + 1
action drop(n: Node):
    when mine: holder == n
    holder := none
invariant seen_is_past: forall n in Node: seen[n] <= term
invariant seen_differs: forall n, m in Node: n != m and seen[n] > 0 implies seen[n] != seen[m]
reachable all_seen: forall n in Node: seen[n] > 0
reachable ahead: exists n in Node: seen[n] > term
"""


def loaded(text: str = TOKEN, **overrides: str) -> Loaded:
    return load_text(text, overrides=overrides)


def kernel(text: str = TOKEN, **overrides: str) -> Kernel:
    return load_text(text, overrides=overrides).kernel


def spec(name: str, model: str | None = None, **overrides: str) -> Kernel:
    return load_spec(locate_spec(name), model=model, overrides=overrides).kernel


def only(*names: str) -> SearchOptions:
    return SearchOptions(properties=frozenset(names), timeout=600, check_deadlock=False)


def outcomes(proofs: Proofs) -> dict[str, Outcome]:
    return {each.name: each.outcome for each in proofs.report.properties if each.name != "defined"}


def test_what_is_inductive_is_proved_up_to_the_named_bounds() -> None:
    proofs = prove(kernel(), only("seen_is_past", "seen_differs"))
    assert outcomes(proofs) == {"seen_is_past": Outcome.UP_TO_BOUND, "seen_differs": Outcome.UP_TO_BOUND}
    reasons = [each.reason or "" for each in proofs.report.properties if each.name != "defined"]
    assert all("confirmed by a second encoding; assumed: bound `terms`" in reason for reason in reasons)


def test_that_everything_is_defined_is_confirmed_by_the_second_encoding() -> None:
    text = TOKEN + "action again(n: Node):\n    when holder == n\n    seen[n] := term * seen[n]\n    term := seen[n]\n"
    defined = prove(kernel(), only("seen_is_past")).report.properties[0]
    assert (defined.name, defined.outcome) == ("defined", Outcome.UP_TO_BOUND)
    assert "confirmed by a second encoding" in (defined.reason or "")
    assert prove(kernel(text), only("seen_is_past")).report.properties[0].outcome is Outcome.VIOLATED


def test_an_accepted_bound_is_not_assumed() -> None:
    assert outcomes(prove(kernel(TOKEN + "accept bounds: terms\n"), only("seen_is_past"))) == {
        "seen_is_past": Outcome.HOLDS
    }


def test_with_the_safeguard_switched_off_the_run_is_shown() -> None:
    result = prove(kernel(Checks="false"), only("seen_differs")).report.properties[-1]
    assert result.outcome is Outcome.VIOLATED
    assert result.trace is not None
    assert len(result.trace) == 3


def test_what_is_reachable_is_found_and_what_is_not_is_unknown_within_bounds() -> None:
    found = outcomes(prove(kernel(), only("all_seen", "ahead")))
    assert found == {"all_seen": Outcome.HOLDS, "ahead": Outcome.UNKNOWN}


def test_behind_an_accepted_bound_there_may_be_what_is_unreachable_before_it() -> None:
    accepted = TOKEN + "accept bounds: terms\n"
    assert outcomes(prove(kernel(accepted), only("ahead"))) == {"ahead": Outcome.UNKNOWN}
    never = accepted.replace("    bound terms: term < MaxTerm\n", "    bound terms: term < 9\n    when term < 3\n")
    assert outcomes(prove(kernel(never), only("ahead"))) == {"ahead": Outcome.VIOLATED}


def test_a_certificate_is_inductive_where_it_is_read_as_part_of_the_spec() -> None:
    certificate = dict(prove(kernel(), only("seen_differs")).certificates)["seen_differs"]
    lemma = "\n".join([f"lemma {lemma_name('seen_differs')}:", *(f"    {line}" for line in certificate.lines)])
    again = ask_inductive(kernel(f"{TOKEN}\n{lemma}\n"), [lemma_name("seen_differs")])
    assert again.report.properties[0].outcome is Outcome.UP_TO_BOUND


@pytest.mark.slow
def test_the_certificate_of_the_controller_can_be_kept_in_its_spec() -> None:
    certificate = dict(prove(spec(CONTROLLER), only(ONE)).certificates)[ONE]
    text = read_text(locate_spec(CONTROLLER), Diagnostics())
    lemma = "\n".join([f"lemma {lemma_name(ONE)}:", *(f"    {line}" for line in certificate.lines)])
    again = ask_inductive(kernel(f"{text}\n{lemma}\n"), [lemma_name(ONE)])
    assert again.report.properties[0].outcome is Outcome.UP_TO_BOUND


@pytest.mark.slow
@pytest.mark.parametrize(("elements", "outcome"), [(2, Outcome.HOLDS), (3, Outcome.UP_TO_BOUND)])
def test_one_controller_per_epoch_is_proved(elements: int, outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.checker.symbolic.prove.OF_BOUND", 150.0)  # slow machines need more than users wait for
    sizes = {name: str(elements) for name in ("Process", "Broker", "Session")}
    assert outcomes(prove(spec(CONTROLLER, **sizes), only(ONE))) == {ONE: outcome}


@pytest.mark.parametrize(
    ("name", "switch"),
    [("weak_isr", "FenceFetch"), ("strong_isr", "FenceTruncation"), ("strong_isr", "EpochBeforeExpansion")],
)
@pytest.mark.slow
def test_what_a_switched_off_rule_loses_is_not_proved(name: str, switch: str) -> None:
    broken = spec("kafka/replication/kip320", "r3l2m2e2", **{switch: "false"})
    assert outcomes(prove(broken, SearchOptions(properties=frozenset({name}), timeout=60)))[name] in {
        Outcome.VIOLATED,
        Outcome.UNKNOWN,
    }


def test_a_counterexample_to_induction_names_the_failing_statement() -> None:
    proofs = ask_inductive(kernel(), ["seen_differs"])
    assert outcomes(proofs) == {"seen_differs": Outcome.UNKNOWN}
    ((name, step),) = proofs.steps
    assert (name, step.before is None) == ("seen_differs", False)
    assert "seen[n] != seen[m]" in step.failing


def test_invariants_may_be_inductive_together_and_it_is_said_which_of_them_needs_which() -> None:
    text = TOKEN + "lemma no_use: term >= 0\n"
    proofs = ask_inductive(kernel(text), ["seen_differs", "no_use", "seen_is_past"])
    assert set(outcomes(proofs).values()) == {Outcome.UP_TO_BOUND}
    grounds = {each.name: (each.reason or "").partition(",")[0] for each in proofs.report.properties}
    assert grounds == {
        "seen_differs": "inductive with `seen_is_past`",
        "no_use": "inductive",
        "seen_is_past": "inductive",
    }


def test_an_initial_state_that_fails_violates() -> None:
    text = TOKEN + "invariant wrong: term > 0\n"
    assert outcomes(ask_inductive(kernel(text), ["wrong"])) == {"wrong": Outcome.VIOLATED}


def test_only_properties_of_states_can_be_inductive() -> None:
    with pytest.raises(SpecError) as raised:
        ask_inductive(kernel(), ["all_seen"])
    assert [d.code for d in raised.value.diagnostics] == ["E825"]


FIRST = """
module first
param Node: set = {a, b, c}
state:
    some: set[Node, max 1]
    x: 0 .. 1 = 0
init:
    pick n in Node
    pick m in Node
    some := {n, m}
action flip:
    x := 1 - x
invariant small: count(some) <= 1
"""


def test_a_capacity_that_cuts_an_initial_state_is_assumed() -> None:
    result = prove(kernel(FIRST), only("small"), exhaustive=lambda options: check(kernel(FIRST), options)).report
    small = next(each for each in result.properties if each.name == "small")
    assert small.outcome is Outcome.UP_TO_BOUND
    assert "`capacity of some`" in (small.reason or "")


def test_nothing_is_proved_where_there_is_no_initial_state() -> None:
    found = outcomes(prove(kernel(FIRST.replace("some := {n, m}", "some := {n}\n    when x > 0")), only("small")))
    assert found["small"] is Outcome.VACUOUS


ENDS = """
module ends
state:
    x: 0 .. 3 = 0
action stop:
    when x == 0
    x := 1
action go:
    when x == 0
    x := 2
action on:
    when x == 2
    x := 3
"""
TERMINAL = "terminal: 1 // (3 - x) == 1\n"


@pytest.mark.parametrize("by", ["ic3", "k-induction", "spacer"])
@pytest.mark.parametrize("asks", ["invariant low: 6 // (3 - x) > 0\n", "transition up: 1 // (3 - x) >= 0\n", TERMINAL])
def test_a_property_or_terminal_without_value_violates_defined(asks: str, by: Method) -> None:
    defined = prove(kernel(ENDS + asks), by=by).report.properties[0]
    assert (defined.name, defined.outcome) == ("defined", Outcome.VIOLATED)


@pytest.mark.parametrize("engine", [check, bmc])
def test_a_terminal_without_value_is_found_after_a_deadlock(engine: Callable[..., Report]) -> None:
    found = {
        each.name: each.outcome for each in engine(kernel(ENDS + TERMINAL), SearchOptions(keep_going=True)).properties
    }
    assert found == {"defined": Outcome.VIOLATED, "deadlock": Outcome.VIOLATED}


def test_no_terminal_is_asked_where_deadlocks_are_not_looked_for() -> None:
    options = SearchOptions(check_deadlock=False, keep_going=True)
    assert [each.outcome for each in bmc(kernel(ENDS + TERMINAL), options).properties] == [Outcome.UNKNOWN]
    proofs = prove(kernel(ENDS + TERMINAL), options, exhaustive=lambda more: check(kernel(ENDS + TERMINAL), more))
    assert [each.outcome for each in proofs.report.properties] == [Outcome.HOLDS]


@pytest.mark.slow
def test_one_controller_per_epoch_is_proved_for_any_number_of_processes() -> None:
    proofs = prove_any(load_spec(locate_spec(CONTROLLER)), ["Process", "Broker", "Session"], only(ONE))
    assert outcomes(proofs) == {ONE: Outcome.HOLDS}
    lines = dict(proofs.certificates)[ONE].lines
    assert len(lines) == 2
    assert any("<= controller_epoch" in line for line in lines)
    assert any("bounds are no guards" in each for each in proofs.assumptions)


def test_any_size_proves_what_needs_help_from_what_was_mined() -> None:
    found = outcomes(prove_any(loaded(), ["Node"], only("seen_is_past", "seen_differs")))
    assert found == {"seen_is_past": Outcome.HOLDS, "seen_differs": Outcome.HOLDS}


LEADERSHIP = {"leader_in_isr", "one_leader_per_epoch"}


@pytest.mark.slow
def test_leadership_is_proved_for_any_number_of_brokers_and_partitions() -> None:
    proofs = prove_any(load_spec(locate_spec("kafka/leadership_abstract")), ["Broker", "Partition"], only(*LEADERSHIP))
    assert outcomes(proofs) == dict.fromkeys(LEADERSHIP, Outcome.HOLDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("safeguard", "lost"), [("EpochPerElection", "one_leader_per_epoch"), ("ConditionalWrites", "leader_in_isr")]
)
def test_leadership_is_not_proved_without_a_safeguard(safeguard: str, lost: str) -> None:
    loaded_ = load_spec(locate_spec("kafka/leadership_abstract"), overrides={safeguard: "false"})
    assert outcomes(prove_any(loaded_, ["Broker", "Partition"], only(lost))) == {lost: Outcome.UNKNOWN}


def test_any_size_never_says_violated_and_never_proves_the_variant_without_safeguard() -> None:
    found = outcomes(prove_any(loaded(Checks="false"), ["Node"], only("seen_is_past", "seen_differs")))
    assert found["seen_differs"] is Outcome.UNKNOWN
    assert Outcome.VIOLATED not in found.values()


def test_a_number_of_elements_follows_laws_and_a_sum_has_no_form_for_any_size() -> None:
    text = TOKEN + "invariant few: count({n in Node if holder == n}) <= 1\ninvariant less: sum({count(Node)}) >= 0\n"
    _, few, less = prove_any(loaded(text), ["Node"], only("few", "less")).report.properties
    assert few.outcome is Outcome.HOLDS
    assert less.outcome is Outcome.UNKNOWN
    assert "is outside the theory" in (less.reason or "")


def test_steps_without_a_form_for_any_size_end_the_search_for_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parametric, "Templates", lambda _: pytest.fail("candidates are made"))
    text = TOKEN.replace(
        "    bound terms", "    when exists s in subsets(Node): n in s and seen[n] == 0\n    bound terms"
    )
    (_, past) = prove_any(loaded(text), ["Node"], only("seen_is_past")).report.properties
    assert past.outcome is Outcome.UNKNOWN
    assert "the set of all subsets is outside the theory" in (past.reason or "")


def test_a_set_that_is_not_symmetric_has_a_fixed_size() -> None:
    with pytest.raises(SpecError) as raised:
        prove_any(loaded(TOKEN.replace(" symmetric", "")), ["Node"])
    assert [d.code for d in raised.value.diagnostics] == ["E826"]


def test_what_is_computed_from_the_size_of_a_set_is_refused_for_any_size() -> None:
    text = TOKEN.replace("type Term", "param Most: int = count(Node)\ntype Term")
    with pytest.raises(SpecError) as raised:
        prove_any(loaded(text + "invariant low: term <= Most\n"), ["Node"], only("low"))
    assert [d.code for d in raised.value.diagnostics] == ["E826"]


@pytest.mark.parametrize(
    "declared",
    [
        "type Round = 0 .. count(Node) // 9",
        "param Many: bool = count(Node) >= 9",
        "def rounds(): int = count({n in Node if n in Node}) // 9\ntype Round = 0 .. rounds()",
        "model default: MaxTerm = 2; Checks = count(Node) < 9",
    ],
)
def test_what_differs_for_much_larger_sets_alone_is_refused_for_any_size(declared: str) -> None:
    with pytest.raises(SpecError) as raised:
        prove_any(loaded(TOKEN + declared + "\n"), ["Node"], only("seen_is_past"))
    assert [d.code for d in raised.value.diagnostics] == ["E826"]


SHIFTED = """
module shifted
param Node: set = {a, b} symmetric
size param Most: int = 2
type Lag = 0 - Most .. Most
state:
    lag: Lag = 0
action fall(n: Node):
    bound lags: lag > 0 - Most
    lag := lag - 1
invariant near: lag >= 0 - 2
"""


def test_the_lower_end_of_a_range_is_open_where_a_size_parameter_is_read_in_it() -> None:
    assert outcomes(prove_any(loaded(SHIFTED), ["Node"], only("near"))) == {"near": Outcome.UNKNOWN}


QUEUE = """
module queue
param Node: set = {a, b} symmetric
size param Most: int = 2
state:
    queue: seq[Node, max Most] = []
action push(n: Node):
    bound room: count(queue) < Most
    queue := queue + [n]
invariant short: count(queue) <= 2
"""


def test_how_long_sequences_can_be_is_an_assumption_of_proofs_for_any_size() -> None:
    result = prove_any(loaded(QUEUE), ["Node"], only("short")).report.properties[1]
    assert result.outcome is Outcome.UP_TO_BOUND
    assert "`capacity of queue`" in (result.reason or "")


NAMES = """
module names
param Node: set = {a, b} symmetric
record Entry: has: bool
state:
    table: map[Node, Entry, max 5] = {}
    three: bool = false
action add(n: Node):
    table[n] := Entry(has = false)
action see(n: Node, m: Node, o: Node):
    when n != m and m != o and n != o
    when n in table and not table[n].has
    three := true
invariant two: not three
"""


def test_a_field_called_has_is_not_taken_for_the_keys_of_its_map() -> None:
    assert outcomes(prove_any(loaded(NAMES), ["Node"], only("two"))) == {"two": Outcome.UNKNOWN}


BRANCHES = """
module branches
param Node: set = {a, b} symmetric
state:
    marked: map[0 .. 2, bool] = [n -> false]
    low: set[0 .. 2] = {}
    of: map[Node, set[0 .. 2], max 3] = {}
    three: bool = false
action see(n: Node, m: Node, o: Node, i: 0 .. 5):
    when n != m and m != o and n != o
    UPDATE
invariant two: not three
"""


@pytest.mark.parametrize(
    "update",
    [
        "if i <= 2:\n        marked[i] := true\n    else:\n        three := true",
        "for x in low:\n        marked[x + 1] := true\n    three := true",
        "if n in of:\n        for x in of[n]:\n            marked[x] := true\n    else:\n        three := true",
    ],
)
def test_what_a_branch_that_is_not_taken_would_write_hinders_no_step(update: str) -> None:
    found = outcomes(prove_any(loaded(BRANCHES.replace("UPDATE", update)), ["Node"], only("two")))
    assert found == {"two": Outcome.UNKNOWN}


def test_a_range_that_grows_with_the_set_is_refused_for_any_size() -> None:
    text = TOKEN.replace("    term: Term = 0\n", "    term: Term = 0\n    votes: 0 .. count(Node) = 0\n")
    with pytest.raises(SpecError) as raised:
        prove_any(loaded(text), ["Node"])
    assert "the variable `votes` depends on the size of Node" in str(raised.value.diagnostics[0].message)


SENT_QUEUE = """
module queue
type Small = 0 .. 3
state:
    queue: seq[Small, max 3] = []
    sent: set[Small] = {}
action send(n: Small):
    when room: count(queue) < 3
    queue := queue + [n]
    sent := sent + {n}
invariant known: {n for n in elements(queue)} <= sent
"""


def test_behind_the_end_of_a_sequence_there_is_no_element() -> None:
    assert outcomes(prove(kernel(SENT_QUEUE), only("known"), by="ic3")) == {"known": Outcome.UP_TO_BOUND}
