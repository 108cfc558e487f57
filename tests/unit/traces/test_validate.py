"""What a validation answers about small logs of an election."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.load import Loaded
from assay.traces.event import Event, Field
from assay.traces.incremental import incremental_recheck
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search import driver
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Conclusion
from assay.traces.search.path import SearchPath
from assay.traces.shared_search import check
from assay.traces.validate import validate

Election = Callable[..., Loaded]
Line = Callable[..., Event]


def edited(log: tuple[Event, ...], place: str, **fields: Field) -> tuple[Event, ...]:
    """The log with other fields in the line at a place."""
    assert sum(str(event.record.place) == place for event in log) == 1
    return tuple(
        replace(event, fields={**event.fields, **fields}) if str(event.record.place) == place else event
        for event in log
    )


def without(log: tuple[Event, ...], place: str) -> tuple[Event, ...]:
    """The log without the line at a place."""
    assert any(str(event.record.place) == place for event in log)
    return tuple(event for event in log if str(event.record.place) != place)


def places(validation: Validation) -> list[str]:
    """The lines that violations blame."""
    return [str(violation.place) for violation in validation.violations]


def test_a_healthy_log_is_consistent_and_everything_is_counted(election: Election, healthy: tuple[Event, ...]) -> None:
    found = validate(election(), healthy)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.unmapped) == (10, 8, 1, 1)
    assert found.counts.fields == 13
    assert found.hidden == {"expire": 1}
    assert [(each.kind, each.count, str(each.example)) for each in found.ignored] == [("Noise", 1, "n1/a.log:5")]
    assert [(each.kind, each.count, str(each.example)) for each in found.unmapped] == [("Odd", 1, "n1/a.log:6")]
    assert not found.violations


def test_the_accepted_execution_has_a_state_after_every_step(election: Election, healthy: tuple[Event, ...]) -> None:
    found = validate(election(), healthy)
    assert found.execution is not None
    actions = [step.action for step in found.execution.steps if step.action is not None]
    assert sorted(actions) == ["elect", "elect", "expire", "join", "join"]
    hidden = [step for step in found.execution.steps if step.action == "expire"]
    assert [step.event for step in hidden] == [None]
    names = [variable.name for variable in found.kernel.variables]
    assert found.execution.steps[-1].state[names.index("term")] == 2


def test_a_process_that_was_replaced_unawares_may_go_on_saying_so(
    election: Election, healthy: tuple[Event, ...], line: Line
) -> None:
    zombie = (*healthy, line("n1", 7, 400, "Leading", number=1))
    assert validate(election(), zombie).verdict is TraceVerdict.CONSISTENT


def test_a_process_that_left_may_not(election: Election, healthy: tuple[Event, ...], line: Line) -> None:
    gone = (*healthy[:3], line("n1", 4, 130, "Left"), line("n1", 5, 140, "Leading", number=1))
    found = validate(election(), gone)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert places(found) in (["n1/a.log:5"], ["n1/a.log:4"])


@pytest.mark.parametrize(
    ("place", "wrong", "right"),
    [("n1/a.log:2", 7, 1), ("n2/a.log:2", 8, 2), ("n1/a.log:3", 3, 1), ("n2/a.log:3", 1, 2), ("n2/a.log:4", 3, 2)],
)
def test_a_wrong_number_is_blamed_on_its_line_with_both_values(
    election: Election, healthy: tuple[Event, ...], place: str, wrong: int, right: int
) -> None:
    found = validate(election(window=20), edited(healthy, place, number=wrong))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert places(found) == [place]
    violation = found.violations[0]
    assert (violation.repair.kind, violation.repair.old, violation.repair.new) == ("change", str(wrong), str(right))
    values = [(part.log, part.model) for part in violation.blame[0].parts]
    assert any(("number", str(wrong)) in log and str(right) in dict(model).values() for log, model in values)


def test_the_blame_names_the_action_the_condition_and_the_place_in_the_spec(
    election: Election, healthy: tuple[Event, ...]
) -> None:
    blame = validate(election(), edited(healthy, "n1/a.log:2", number=7)).violations[0].blame[0]
    part = blame.parts[0]
    assert (blame.action, part.kind, part.text) == ("elect", "then", "term == number")
    assert (part.spec.file, part.spec.line) == ("spec.assay", 43)
    assert (part.log, part.model) == ((("number", "7"),), (("term", "1"),))


def test_a_guard_is_blamed_by_its_label(election: Election, healthy: tuple[Event, ...], line: Line) -> None:
    second = (*healthy[:2], line("n1", 3, 115, "Elected", number=2))
    found = validate(election(limit=0), second)
    assert found.verdict is TraceVerdict.INCONSISTENT
    labels = {(part.kind, part.label) for violation in found.violations for part in violation.blame[0].parts}
    assert ("guard", "vacant") in labels


def test_every_mismatch_is_reported_in_one_run(election: Election, healthy: tuple[Event, ...]) -> None:
    log = edited(edited(healthy, "n1/a.log:2", number=7), "n2/a.log:4", number=9)
    found = validate(election(window=20), log)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert sorted(places(found)) == ["n1/a.log:2", "n2/a.log:4"]


def test_a_missing_line_is_named_as_missing(election: Election, healthy: tuple[Event, ...]) -> None:
    found = validate(election(window=20), without(healthy, "n2/a.log:1"))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert [violation.repair.kind for violation in found.violations] == ["add"]
    assert "`join(n2)`" in found.violations[0].repair.text


def test_two_lines_of_one_file_in_the_wrong_order_are_named_as_exchanged(
    election: Election, healthy: tuple[Event, ...]
) -> None:
    joined, chosen, *rest = healthy
    found = validate(election(window=20), (chosen, joined, *rest))
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert violation.repair.kind == "add"
    assert "; or n1/a.log:2 is exchanged with n1/a.log:1" in violation.repair.text


def test_nothing_used_is_vacuous(election: Election, line: Line) -> None:
    for log in ((), (line("n1", 1, 1, "Odd"), line("n1", 2, 2, "Noise"))):
        found = validate(election(), log)
        assert found.verdict is TraceVerdict.VACUOUS
        assert found.reason is not None


def test_the_bounds_of_the_model_do_not_limit_a_log(election: Election, healthy: tuple[Event, ...], line: Line) -> None:
    third = (*healthy, line("n1", 7, 400, "Joined"), line("n1", 8, 500, "Elected", number=3))
    found = validate(election(limit=3), third)
    assert (found.verdict, found.violations) == (TraceVerdict.VIOLATED, ())  # explained, and it breaks an invariant


def test_a_property_that_is_false_on_the_way_is_reported_with_its_place(
    election: Election, healthy: tuple[Event, ...], line: Line
) -> None:
    third = (*healthy, line("n1", 7, 400, "Joined"), line("n1", 8, 500, "Elected", number=3))
    broken = validate(election(limit=3), third).properties
    assert [(each.name, each.kind) for each in broken] == [("few_terms", "invariant")]
    assert broken[0].event is not None
    assert str(broken[0].event.record.place) == "n1/a.log:8"


# ------------------------------------------------------------------------------------------------- hidden steps


@pytest.mark.slow
def test_a_budget_of_hidden_steps_that_runs_out_is_inconclusive_and_says_how_many_are_needed(
    election: Election, line: Line
) -> None:
    joined = (line(f"n{i}", 1, 100 + i, "Joined") for i in (1, 2, 3))
    log = (*joined, line("n4", 1, 150, "Full"), line("n4", 2, 200, "Gone"))
    assert validate(election(limit=3, window=20), log).verdict is TraceVerdict.CONSISTENT
    found = validate(election(limit=2, window=20), log)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert "3 hidden steps before n4/a.log:2; the clause allows 2" in found.reason


def test_a_log_that_no_number_of_hidden_steps_explains_is_inconsistent(election: Election, line: Line) -> None:
    log = (line("n1", 1, 100, "Joined"), line("n1", 2, 110, "Seen", number=1))
    assert validate(election(limit=1), log).verdict is TraceVerdict.INCONSISTENT


def test_what_cannot_happen_without_too_many_hidden_steps_is_not_called_inconsistent(
    election: Election, line: Line
) -> None:
    log = (line("n1", 1, 100, "Joined"), line("n1", 2, 110, "Elected", number=1), line("n2", 1, 200, "Joined"))
    more = (line("n2", 2, 210, "Elected", number=2), line("n3", 1, 300, "Joined"))
    found = validate(election(limit=0), (*log, *more, line("n3", 2, 310, "Elected", number=3)))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    # Of each leader one step is hidden: they are counted from one line that names its action to the next.
    assert "1 hidden steps before n2/a.log:2; the clause allows 0" in (found.reason or "")


def test_a_capacity_that_runs_out_is_inconclusive(line: Line, load: Callable[[str], Loaded]) -> None:
    spec = """\
module bag_of_names
param Process: set = {p1}
state:
    seen: set[Process, max 1] = {}
action see(p: Process):
    seen := seen + {p}
trace log:
    from toy
    on Joined(node: Process): see(node)
    order: file
"""
    found = validate(load(spec), (line("n1", 1, 1, "Joined"), line("n2", 1, 2, "Joined")))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason == "the model is too small for the log: capacity of seen ran out"


# -------------------------------------------------------------------------------------------------------- order


def test_lines_of_two_nodes_need_not_be_in_the_order_of_time(election: Election, line: Line) -> None:
    log = (line("n1", 1, 100, "Joined"), line("n1", 2, 109, "Elected", number=1), line("n2", 1, 106, "Seen", number=1))
    found = validate(election(limit=0, window=20), log)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.reordering == 3.0


@pytest.mark.parametrize(("skew", "verdict"), [(4, TraceVerdict.INCONSISTENT), (5, TraceVerdict.CONSISTENT)])
def test_a_log_that_needs_five_milliseconds_of_skew_is_accepted_with_five_only(
    election: Election, line: Line, skew: int, verdict: TraceVerdict
) -> None:
    log = (line("n1", 1, 100, "Joined"), line("n1", 2, 135, "Elected", number=1), line("n2", 1, 110, "Seen", number=1))
    assert validate(election(limit=0, window=20), log, options=Options(skew=skew)).verdict is verdict


def test_clocks_that_differ_by_more_than_the_clause_says_are_named_as_the_repair(
    election: Election, line: Line
) -> None:
    log = (
        line("n1", 1, 100, "Joined"),
        line("n1", 2, 145, "Elected", number=1),
        line("n2", 1, 110, "Seen", number=1),
        line("n1", 3, 150, "Seen", number=1),
        line("n2", 2, 160, "Seen", number=1),
    )
    found = validate(election(limit=0, window=20), log)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert [violation.repair.kind for violation in found.violations] == ["clock"]
    assert "takes 10 ms more" in found.violations[0].repair.text


# ----------------------------------------------------------------------------------- what the log makes of the model


@pytest.mark.slow
def test_sets_and_sizes_are_taken_from_the_log(election: Election, line: Line) -> None:
    log = tuple(line(f"n{i}", 1, 100 + i, "Joined") for i in (10, 2, 1))
    kernel = validate(election(), log).kernel
    assert [(sort.name, sort.elements) for sort in kernel.sorts] == [("Process", ("n1", "n2", "n10"))]
    high = validate(election(), (line("n1", 1, 100, "Seen", number=1000),)).kernel
    assert all(p.value > 1000 for p in high.parameters if p.size and isinstance(p.value, int))


def test_an_event_whose_condition_is_false_is_not_used(election: Election, line: Line) -> None:
    found = validate(election(), (line("n1", 1, 100, "Seen", number=0), line("n1", 2, 110, "Joined")))
    assert found.verdict is TraceVerdict.CONSISTENT
    assert (found.counts.used, [(each.kind, each.count) for each in found.ignored]) == (1, [("Seen", 1)])


def test_an_event_that_lacks_a_field_is_not_used(election: Election, line: Line) -> None:
    found = validate(election(), (line("n1", 1, 100, "Elected"),))
    assert found.verdict is TraceVerdict.VACUOUS


def test_a_value_that_the_model_does_not_have_is_a_mismatch(election: Election, healthy: tuple[Event, ...]) -> None:
    found = validate(election(), edited(healthy, "n2/a.log:3", number=-2))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert places(found) == ["n2/a.log:3"]
    assert "-2" in found.violations[0].blame[0].parts[0].text


def test_an_argument_left_open_whose_values_are_as_many_as_the_log_is_long_is_refused(
    load: Callable[[str], Loaded], line: Line
) -> None:
    spec = """\
module open
size param Most: int = 3
type Number = 0 .. Most
state:
    last: Number = 0
action advance(n: Number):
    last := n
trace log:
    from toy
    on Joined(node: Number): advance(_)
    order: file
"""
    with pytest.raises(SpecError) as error:
        validate(load(spec), (line("1", 1, 1, "Joined"),))
    assert [each.code for each in error.value.diagnostics] == ["E711"]


def test_a_clause_that_does_not_exist_is_refused(election: Election) -> None:
    with pytest.raises(SpecError) as error:
        validate(election(), (), clause="other")
    assert [each.code for each in error.value.diagnostics] == ["E710"]
    assert "`--clause NAME`" in error.value.diagnostics[0].message
    assert "`log`" in error.value.diagnostics[0].message


def test_events_are_explained_where_words_are_given(election: Election, healthy: tuple[Event, ...]) -> None:
    found = validate(election(), healthy, explain=lambda event: "a new owner" if event.kind == "Elected" else None)
    assert [(str(each.event.record.place), each.text) for each in found.explanations] == [
        ("n1/a.log:2", "a new owner"),
        ("n2/a.log:2", "a new owner"),
    ]


# ------------------------------------------------------------------------------------------------------ mutants


def test_the_kill_rate_is_the_same_for_the_same_seed(election: Election, healthy: tuple[Event, ...]) -> None:
    first, second = (validate(election(window=20), healthy, options=Options(mutants=6, seed=3)) for _ in range(2))
    assert first.kill_rate is not None
    assert first.kill_rate == second.kill_rate
    assert (first.kill_rate.mutants, first.kill_rate.rejected) == (6, 6)


def test_a_clause_that_checks_nothing_kills_no_mutant(load: Callable[[str], Loaded], line: Line) -> None:
    spec = """\
module careless
param Process: set = {p1}
state:
    seen: bool = false
action see(p: Process):
    seen := true
trace log:
    from toy
    on Joined(who: Process): see(who)
    order: file
"""
    log = (line("n1", 1, 1, "Joined", who="n1"), line("n2", 1, 2, "Joined", who="n2"))
    rate = validate(load(spec), log, options=Options(mutants=2)).kill_rate
    assert rate is not None
    assert (rate.mutants, rate.rejected, len(rate.survivors)) == (2, 0, 2)


def test_a_mutant_of_a_restatement_is_compared_in_as_few_lines_as_the_log(
    election: Election, healthy: tuple[Event, ...], line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    restated = tuple(line("n2", 5 + n, 230 + n, "Leading", number=2) for n in range(200))
    asked = check(election(), (*healthy, *restated)).retrial(Options())
    assert asked is not None
    (original,) = (event for event in asked.parts.shared if event.record.place.line == 105)
    changed = replace(original, fields={**original.fields, "number": 1})
    compared: list[int] = []

    def counting(search: TraceSearch, beginnings: list[SearchPath], options: Options) -> Conclusion:
        compared.append(len(search.frontier.order.items))
        return driver.run(search, beginnings, options)

    monkeypatch.setattr(incremental_recheck, "driver", SimpleNamespace(run=counting))
    assert asked.judge(IdentityMemo([(original, (changed,))])).verdict is TraceVerdict.INCONSISTENT
    assert compared == [len(asked.search.frontier.order.items) + 1]
