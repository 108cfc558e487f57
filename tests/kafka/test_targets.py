"""A small selection of the table that ``python -m benchmarks traces`` prints: changed logs of the recorded runs, and what is said of them.

The slow ones take as many changes as it needs for a figure to mean something; the others keep each mechanism honest.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from benchmarks.traces.control import EVERY, SPECS, WRONG, Outcome, outcome_without, wrong_specs
from benchmarks.traces.edit import edited
from benchmarks.traces.fields import FieldMutant, field_mutants, field_sites, summary
from benchmarks.traces.healthy import healthy_run
from benchmarks.traces.kinds import KINDS, blames_the_rule, coherent_mutants
from benchmarks.traces.order import is_accepted, misordered
from benchmarks.traces.protocol import REPLICATION, protocol_run
from benchmarks.traces.recorded import RUNS, events_of, of_version, reading, retrial, spec
from benchmarks.traces.shared_witnesses import exercised_by_all, shared_witness
from benchmarks.traces.witnesses import witness

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.incremental.incremental_recheck import RecheckAnswer
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

SEED = 7


@pytest.mark.slow
def test_a_log_without_change_is_judged_as_it_was_validated() -> None:
    judgement = retrial("A1").judge(IdentityMemo())
    assert (judgement.verdict, judgement.rejected) == (TraceVerdict.CONSISTENT, False)


@pytest.mark.slow
def test_a_line_that_can_never_come_is_blamed_although_others_can_come_before_it() -> None:
    """A request that broker 2 is said to have had under another broker's id: what makes it impossible is found before it is its turn."""
    place = "A0/broker-2/state-change.log:65"
    site = next(s for s in field_sites("A0") if str(s.place).endswith(place) and s.field == "broker")
    change = edited(reading("A0").catalogue, site.events, site.event, "broker", 1)
    assert change is not None
    judgement = retrial("A0").judge(change, explained=True)
    assert [violation.place for violation in judgement.violations] == [site.place]


@pytest.mark.slow
def test_a_line_that_nothing_was_compared_with_before_is_blamed_from_the_last_cut_on() -> None:
    """Lines around it say the same, so that it was left out. In a search from the beginning a line of ZooKeeper's log,
    15 seconds earlier, was blamed.
    """
    place = "duplicate-broker/broker-1/state-change.log:286"
    site = next(s for s in field_sites("A2") if str(s.place).endswith(place) and s.field == "broker")
    change = edited(reading("A2").catalogue, site.events, site.event, "broker", 2)
    assert change is not None
    assert [violation.place for violation in retrial("A2").judge(change, explained=True).violations] == [site.place]


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    ("run", "place", "field", "new"),
    [
        ("A0", "A0/broker-1/controller.log:20", "broker", 3),
        ("A0", "A0/broker-3/server.log:637", "broker", 1),
        ("A1", "elections/broker-1/controller.log:48", "broker", 3),
        ("A1", "elections/broker-2/state-change.log:184", "controller_epoch", 3),
        ("A1", "elections/broker-2/state-change.log:184", "removed", 2),
        ("A0", "A0/broker-3/controller.log:106", "version", 999),
        ("A1", "elections/broker-1/server.log:1448", "controller", 1),
        ("A1", "elections/broker-2/controller.log:105", "leader", 3),
        ("A1", "elections/broker-1/server.log:763", "leader", 1),
    ],
)
def test_a_wrong_value_that_one_line_alone_states_is_rejected(run: str, place: str, field: str, new: int) -> None:
    """The fields that are edited. Who writes the ISR, resigns, fetches, and sees the brokers change. The version of a
    removal, and whose it is; a version that nothing reached; an earlier controller. Who is preferred, and from whom a
    follower fetches.
    """
    site = next(s for s in field_sites(run) if str(s.place).endswith(place) and s.field == field)
    change = edited(reading(run).catalogue, site.events, site.event, field, new)
    assert change is not None
    assert retrial(run).judge(change).rejected


@pytest.mark.parametrize(
    ("run", "place", "new"),
    [
        ("A0", "A0/broker-3/state-change.log:92", 2),
        pytest.param("A2", "duplicate-broker/broker-3/state-change.log:131", 7, marks=pytest.mark.slow),
    ],
)
def test_a_version_that_one_line_alone_states_is_blamed_on_that_line_alone(run: str, place: str, new: int) -> None:
    """Then the update of the old version has no line, and that of the new one has a line too many. Up to six other
    lines were blamed.
    """
    site = next(s for s in field_sites(run) if str(s.place).endswith(place) and s.field == "version")
    change = edited(reading(run).catalogue, site.events, site.event, "version", new)
    assert change is not None
    (violation,) = retrial(run).judge(change, explained=True).violations
    assert violation.place == site.place
    assert violation.repair.field in (None, "version")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "field", "shift"),
    [("DeltaApplied", "broker", -1), ("BecameLeader", "version", -1), ("PartitionStateApplied", "version", -1)],
)
def test_in_kraft_mode_who_wrote_a_line_and_in_which_order_it_applied_changes_is_compared(
    kind: str, field: str, shift: int
) -> None:
    sites = [
        s for s in field_sites("C2") if s.event.kind == kind and s.field == field and s.event.run.node == "broker-2"
    ]
    site = sites[len(sites) // 2]
    change = edited(reading("C2").catalogue, site.events, site.event, field, int(str(site.event.fields[field])) + shift)
    assert change is not None
    violations = retrial("C2").judge(change, explained=True).violations
    assert [violation.place for violation in violations] == [site.place]


@pytest.mark.slow
def test_without_guards_less_is_rejected_and_what_takes_too_long_is_a_class_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutants = [
        each for each in coherent_mutants(("A1",), 16, SEED) if each.kind == "not the first live in-sync replica"
    ]
    assert all(retrial("A1").judge(mutant.change).rejected for mutant in mutants)
    assert Outcome.ACCEPTED in {outcome_without(mutant, EVERY) for mutant in mutants}
    assert outcome_without(mutants[0], frozenset()) is Outcome.REJECTED
    monkeypatch.setattr(sys.modules[Outcome.__module__], "NODES", 10)
    assert outcome_without(mutants[0], EVERY) is Outcome.UNDECIDED


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    ("run", "action", "label", "outcome"),
    [
        ("A1", "hand_over", "leader_leaves", Outcome.ACCEPTED),
        ("A1", "change_isr", "other", Outcome.ACCEPTED),
        ("A1", "prefer", "preferred", Outcome.ACCEPTED),
        ("A1", "leadership.assign", "distinct", Outcome.ACCEPTED),
        ("A1", "elect_leader", "in_sync", Outcome.BY_INVARIANT),
        ("A3", "raise_epoch", "not_fenced", Outcome.ACCEPTED),
        ("A1", "elect_leader", "created", Outcome.REJECTED),
    ],
)
def test_a_log_that_ends_with_what_one_guard_forbids_is_accepted_without_it(
    run: str, action: str, label: str, outcome: Outcome
) -> None:
    found = witness(run, (action, label))
    assert found.outcome is outcome
    assert (found.alone > 0) is (outcome is not Outcome.REJECTED)


@pytest.mark.slow
def test_an_order_of_a_controller_that_sent_none_is_a_log_for_the_guard_that_forbids_it() -> None:
    rule = "controller.obey", "sent"
    assert rule in exercised_by_all("A0")
    assert shared_witness("A0", rule).outcome is Outcome.ACCEPTED


@pytest.mark.slow
@pytest.mark.parametrize(("number", "so"), [(107, True), (104, False)], ids=["unchanged by it", "another ISR"])
def test_a_changed_line_that_states_what_was_written_is_no_mutant(number: int, so: bool) -> None:
    """Write 107 moved a replica to another directory, and changed nothing that the line states; write 104 left another ISR."""
    place = "C1/broker-3/state-change.log:865"
    site = next(s for s in field_sites("C1") if str(s.place).endswith(place) and s.field == "version")
    change = edited(reading("C1").catalogue, site.events, site.event, "version", number)
    assert change is not None
    assert FieldMutant(site, number, RecheckAnswer(TraceVerdict.CONSISTENT), change).still_true is so


def test_a_line_with_a_stack_trace_below_it_is_read_again_when_it_is_changed() -> None:
    site = next(s for s in field_sites("A1") if "\n" in s.event.record.message and s.field == "broker")
    change = edited(reading("A1").catalogue, site.events, site.event, "broker", 3)
    assert change is not None
    assert [new.fields["broker"] for events in change.values() for new in events if "broker" in new.fields] != []


@pytest.mark.slow
def test_most_one_field_mutants_are_rejected_and_blamed() -> None:
    sums = summary(mutant.as_line() for mutant in field_mutants("A1", 24, SEED))
    assert sums["mutants"] >= 20
    assert sums["rejected"] >= 0.8 * sums["mutants"]
    blamed = sums["of_these_blamed_first"] + sums["of_these_blamed_first_or_second"]
    assert blamed >= 0.8 * sums["rejected"]


@pytest.mark.slow
def test_false_histories_of_each_kind_are_rejected_and_the_broken_rule_is_named() -> None:
    mutants = coherent_mutants(("A1",), 16, SEED)
    assert len({mutant.kind for mutant in mutants}) >= len(KINDS) - 5  # of five kinds this log has nothing to change
    judged = [(mutant, retrial(mutant.run).judge(mutant.change)) for mutant in mutants]
    rejected = [(mutant, judgement) for mutant, judgement in judged if judgement.rejected]
    assert len(rejected) >= 0.9 * len(judged)
    assert sum(blames_the_rule(*each) for each in rejected) >= 0.7 * len(rejected)


def test_dropped_doubled_and_exchanged_lines_have_the_answer_that_the_ground_truth_lets_expect() -> None:
    found = list(misordered("A1", 12, SEED))
    assert {each.kind for each in found} == {"dropped", "doubled", "exchanged"}
    assert sum(each.is_right for each in found) >= 10


def test_lines_of_the_protocol_are_used_but_for_what_they_say_of_offsets() -> None:
    found = protocol_run("A0")
    lines, used = (sum(n for subject, n in found[key].items() if subject != REPLICATION) for key in ("lines", "used"))
    assert used >= 0.95 * lines > 0


@pytest.mark.slow
def test_what_a_version_is_known_to_do_is_a_remark_and_explains_nothing_where_that_is_asked() -> None:
    """In run A2 the controller wrote an ISR with a broker that its own log says is gone; ZooKeeper's log holds that write.

    It is explained no more; where steps that left no line may have come at another time, it is no violation for certain.
    """
    answer = validate(spec(), events_of("A2"), options=of_version("A2"))
    remarks = [remark for result in answer.slices for remark in result.remarks]
    assert (answer.verdict, [remark.severity for remark in remarks]) == (TraceVerdict.CONSISTENT, ["known"])
    assert "Kafka 2.7 to 3.2" in remarks[0].text
    strictly = validate(spec(), events_of("A2"), options=replace(of_version("A2"), strict=True))
    assert strictly.verdict in {TraceVerdict.INCONCLUSIVE, TraceVerdict.INCONSISTENT}
    blamed = [str(violation.place) for violation in strictly.violations]
    assert any(str(remarks[0].event.record.place) in said for said in (str(strictly.reason), *blamed))


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_a_recorded_run_is_no_false_alarm_and_holds_every_stored_write(run: str) -> None:
    for alone in (False, True):
        found = healthy_run(run, brokers_alone=alone)
        assert (found["false_alarms"], found["inconclusive"], found["unmapped"]) == (0, 0, 0)
        assert found["contained"] == found["state_writes"] > 0


@pytest.mark.slow
def test_six_wrong_specs_are_refuted_by_a_healthy_run() -> None:
    accepted = [each["wrong"] for each in wrong_specs("A1") if each["verdict"] != "inconsistent"]
    assert accepted == []


def test_each_wrong_spec_differs_from_the_right_one_in_one_place() -> None:
    text = (SPECS / "kafka" / "leadership.assay").read_text(encoding="utf-8")
    assert [text.count(old) for old, _ in WRONG.values()] == [1] * 6


@pytest.mark.slow
def test_a_clock_that_is_off_is_accepted_as_far_as_the_skew_allows() -> None:
    assert is_accepted("A1", "broker-3", 0, 0)
    assert not is_accepted("A1", "broker-3", 60_000, 5)
