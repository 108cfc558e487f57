"""Slices of a log: which events they hold, that they do not depend on one another, and how they are joined on what they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

SHELVES = (Path(__file__).parents[1] / "shelves.txt").read_text(encoding="utf-8")

PUSHED = "    on Pushed(slice: Shelf, version: Count) at version: put(slice)\n"
"""A line that does not say how many there are now."""

Line = Callable[..., Any]


def answer(events: list[Any], guard: str = "bound room: t.items < Max") -> Validation:
    return validate(load_text(SHELVES.replace("GUARD", guard)), events)


def test_slices_are_named_by_their_fields_and_join_what_is_shared(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 11, "Made", shelf=2, version=0),
        shelf(4, 60, "Seen", items=0, version=0),
    ]
    found = answer(events)
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    assert [(result.name, result.used) for result in found.slices] == [("a-1", 3), ("a-2", 1)]
    assert (found.counts.read, found.counts.used, found.counts.unmapped) == (5, 5, 0)


def test_a_step_whose_lines_tell_the_outcome_alone_is_one_of_the_numbered(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Seen", items=1, version=1),
        shelf(3, 30, "Seen", items=0, version=2),
    ]
    found = answer(events)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.slices[0].execution is not None
    assert [step.action for step in found.slices[0].execution.steps] == ["make", "put", "take"]


def test_a_step_that_the_shared_execution_forbids_is_blamed_on_the_guard(line: Line, shelf: Line) -> None:
    events = [shelf(1, 10, "Made", version=0), shelf(2, 20, "Put", items=1, version=1), line("n0", 1, 90, "Unlocked")]
    events[2:] = [line("n0", 1, 20_090, "Unlocked")]
    clause = "order: file; commit before line within 5 ms; skew 0 ms"
    text = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("order: file; skew 0 ms", clause)
    found = validate(load_text(text), events)
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert (violation.action, [part.label for part in violation.blame[0].parts]) == ("put", ["unlocked"])


def test_one_of_three_lines_that_disagrees_is_the_one_to_blame(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 30, "Seen", items=2, version=1),
        shelf(4, 40, "Seen", items=1, version=1),
    ]
    found = answer(events)
    (violation,) = found.violations
    assert violation.place.line == 3
    (part,) = violation.blame[0].parts
    assert (part.log, part.model) == ((("items", "2"),), (("t.items", "1"),))
    assert (violation.repair.field, violation.repair.old, violation.repair.new) == ("items", "2", "1")


def test_a_missing_number_makes_the_slice_inconclusive_and_is_named(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 30, "Seen", items=2, version=2),
        shelf(3, 40, "Put", items=3, version=3),
    ]
    found = answer(events)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason == "a-1: no line tells of write 1"


@pytest.mark.parametrize(
    ("items", "verdict"), [(1, TraceVerdict.INCONCLUSIVE), (3, TraceVerdict.INCONSISTENT)], ids=["possible", "never"]
)
def test_what_a_missing_write_would_explain_is_no_violation(
    items: int, verdict: TraceVerdict, line: Line, shelf: Line
) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Counted", items=items),
        shelf(3, 20_030, "Seen", items=0, version=2),
        shelf(4, 40_000, "Put", items=1, version=3),
    ]
    found = answer(events)
    assert (found.verdict, len(found.violations)) == (verdict, verdict is TraceVerdict.INCONSISTENT)
    assert found.slices[0].reason == "no line tells of write 1"


def test_a_write_that_tells_too_little_to_go_on_from_may_explain_a_line_too(line: Line, shelf: Line) -> None:
    """Two things were put there, one of them before the line that counts them. The first was not logged, and the second
    line does not say how many.
    """
    text = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("    on Marked", PUSHED + "    on Marked")
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Counted", items=2),
        shelf(3, 40_000, "Pushed", version=2),
        shelf(4, 40_010, "Seen", items=1, version=3),
    ]
    found = validate(load_text(text), events)
    assert (found.verdict, found.violations) == (TraceVerdict.INCONCLUSIVE, ())
    assert found.reason == "a-1: no line tells of write 1, 2"


@pytest.mark.slow
def test_what_a_slice_was_before_its_first_known_write_is_not_held_against_it(line: Line, shelf: Line) -> None:
    begun = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Counted", items=2), shelf(2, 15, "Counted", items=3)]
    alone = answer(begun)
    assert (alone.verdict, alone.violations) == (TraceVerdict.INCONCLUSIVE, ())
    known = [*begun, shelf(3, 20, "Seen", items=1, version=4)]
    assert (answer(known).verdict, answer(known).violations) == (TraceVerdict.INCONCLUSIVE, ())
    (violation,) = answer([*known, shelf(4, 30, "Counted", items=3)]).violations
    assert violation.place.line == 4


def test_a_slice_begins_anew_under_its_name(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 500, "Made", version=0),
        shelf(4, 520, "Seen", items=0, version=0),
    ]
    found = answer(events)
    assert (found.verdict, [result.name for result in found.slices]) == (TraceVerdict.CONSISTENT, ["a-1", "a-1#2"])


def test_what_the_clause_reports_is_told_and_is_no_violation(line: Line, shelf: Line) -> None:
    found = answer([line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Marked")])
    assert found.verdict is TraceVerdict.CONSISTENT
    (remark,) = found.slices[0].remarks
    assert (remark.severity, remark.text, remark.event.record.place.line) == ("known", "a mark", 2)


def test_a_guard_that_reads_across_slices_is_left_out_and_named(line: Line, shelf: Line) -> None:
    events = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Put", items=1, version=1)]
    found = answer(events, "when alone: forall r in Shelf: r == s or stand[r] == none")
    assert (found.verdict, found.relaxed) == (TraceVerdict.CONSISTENT, (("put", "alone"),))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    marked[s] := true", "    marked := [r -> true]"),
        ("    marked[s] := true", "    open := false"),
        ("    open := true", "    open := true\n    marked := [s -> true]"),
        ("    marked[s] := true", "    marked[s] := exists r in Shelf: marked[r]"),
        ("    marked[s] := true", "    rows[s][if exists r in Shelf: marked[r] then 0 else 1] := true"),
    ],
)
def test_slices_that_depend_on_one_another_are_refused(old: str, new: str, line: Line) -> None:
    rows = "    open: bool = false\n    rows: map[Shelf, map[0 .. 1, bool]] = [s -> [n -> false]]\n"
    spec = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("    open: bool = false\n", rows)
    with pytest.raises(SpecError) as caught:
        validate(load_text(spec.replace(old, new)), [line("n0", 1, 0, "Unlocked")])
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {"E712"}


LOCKED = (
    SHELVES.replace("GUARD", "when lit: lamp")
    .replace("order: file;", "order: file; commit before line within 5 ms;")
    .replace("    open: bool = false\n", "    open: bool = true\n    lamp: bool = false\n    audited: bool = false\n")
    .replace(
        "action make(",
        """action light:
    lamp := true

action lock:
    open := false

action audit:
    when locked: not open
    audited := true

action seal(s: Shelf):
    when made: stand[s] is some(t)
    when locked: not open
    stand[s] := Stand(t.items, t.version + 1)

action make(""",
    )
    .replace("next: unlock,", "next: unlock, light, lock, audit, seal,")
    .replace(
        "    on Unlocked",
        """    on Lit: light
    on Audited: audit
    on Sealed(slice: Shelf, version: Count) at version: seal(slice)
    hidden lock; at most 1 between two pinned events
    on Unlocked""",
    )
)
"""No line tells of `lock`. It happened before the audit, perhaps even before the lamp was lit; `seal` needs it, `put` needs that it comes later."""


@pytest.mark.parametrize(("items", "verdict"), [(1, TraceVerdict.CONSISTENT), (2, TraceVerdict.INCONSISTENT)])
def test_slices_that_need_different_times_of_a_hidden_step_are_undecided(
    items: int, verdict: TraceVerdict, line: Line, shelf: Line
) -> None:
    events = [
        shelf(2, 10, "Made", version=0),
        shelf(3, 10, "Made", 2, version=0),
        shelf(4, 50, "Sealed", version=1),
        line("n1", 5, 100, "Lit"),
        shelf(6, 110, "Put", 2, items=items, version=1),
        line("n1", 7, 200, "Audited"),
    ]
    answered = validate(load_text(LOCKED.replace("from toy", "from kafka")), events)
    assert [result.verdict for result in answered.slices] == [TraceVerdict.INCONCLUSIVE, verdict]
    assert "`lock`" in str(answered.slices[0].reason)
    assert answered.verdict is (TraceVerdict.INCONCLUSIVE if items == 1 else TraceVerdict.INCONSISTENT)
    searched = validate(load_text(LOCKED), events)  # where files tell the order of a small log it is decided
    assert searched.verdict is TraceVerdict.INCONSISTENT
    assert (searched.whole is not None) == (items == 1)


def test_a_write_that_no_action_makes_is_blamed_once_and_the_check_goes_on_from_it(line: Line, shelf: Line) -> None:
    said = [(1, 2), (2, 1), (3, 2)]
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        *(
            shelf(10 * version + n, 10 + 10 * version, "Seen", node=f"n{n}", items=items, version=version)
            for version, items in said
            for n in (1, 2, 3)
        ),
    ]
    found = answer(events)
    assert [violation.event.fields["version"] for violation in found.violations] == [1]
    (blame,) = found.violations[0].blame
    assert [part.log for part in blame.parts] == [(("items", "2"),)]


def lots(events: list[Any]) -> list[tuple[str, int]]:
    """The slices and how many events each used, where a field tells the lives of a shelf apart."""
    text = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("since Made", "since new lot")
    found = validate(load_text(text), events)
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    return [(result.name, result.used) for result in found.slices]


def test_a_line_that_names_an_earlier_life_is_of_that_one_however_late_it_was_written(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0, lot="A"),
        shelf(2, 20, "Put", items=1, version=1, lot="A"),
        shelf(3, 30, "Made", version=0, lot="B"),
        shelf(1, 90, "Made", node="n2", version=0, lot="A"),
        shelf(2, 90, "Made", node="n2", version=0, lot="B"),
    ]
    assert lots(events) == [("a-1", 3), ("a-1#2", 2)]


def test_a_line_that_names_no_life_is_of_the_one_that_its_process_named_last_if_none_has_begun_since(
    line: Line, shelf: Line
) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0, lot="A"),
        shelf(2, 30, "Made", version=0, lot="B"),
        shelf(1, 12, "Seen", node="n2", items=0, version=0, lot="A"),
        shelf(2, 20, "Seen", node="n2", items=0, version=0),
        # It may not have heard of the second one yet, or the line that says so was lost: it is of neither.
        shelf(3, 40, "Seen", node="n2", items=0, version=0),
        shelf(4, 50, "Seen", node="n2", items=0, version=0, lot="B"),
        shelf(5, 50, "Seen", node="n2", items=0, version=0),
        # It has named none: it is of the latest.
        shelf(1, 35, "Seen", node="n3", items=0, version=0),
    ]
    assert lots(events) == [("a-1", 3), ("a-1#2", 4)]


def test_a_line_about_a_group_of_slices_is_of_the_life_that_it_names(line: Line, shelf: Line) -> None:
    """A shelf that was made in the second lot alone has no part in lines about the first one."""
    group = [
        line("n1", number, time, "Marked", room="a", lot=lot) for number, time, lot in ((1, 10, "A"), (4, 30, "B"))
    ]
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(2, 10, "Made", version=0, lot="A"),
        shelf(5, 30, "Made", version=0, lot="B"),
        shelf(6, 30, "Made", shelf=2, version=0, lot="B"),
        *group,
    ]
    assert lots(events) == [("a-1", 2), ("a-1#2", 2), ("a-2", 2)]


def test_lines_of_one_file_and_time_keep_their_order_if_some_are_about_a_group_of_slices(
    line: Line, shelf: Line
) -> None:
    text = SHELVES.replace("GUARD", "bound room: t.items < Max").replace(
        "    on gap", "    on Checked(slice: Shelf): observe marked[slice]\n    on gap"
    )
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        line("n1", 2, 20, "Marked", room="a"),
        shelf(3, 20, "Checked"),
    ]
    found = validate(load_text(text), events)
    assert (found.verdict, [result.used for result in found.slices]) == (TraceVerdict.CONSISTENT, [3])


def test_lines_that_name_no_life_at_all_are_of_one(line: Line, shelf: Line) -> None:
    assert lots([line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0)]) == [("a-1", 1)]


def test_what_was_written_well_before_a_slice_began_is_of_a_life_of_whose_beginning_no_line_tells(
    line: Line, shelf: Line
) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Seen", items=2, version=5),
        shelf(2, 6_000, "Made", version=0),
        shelf(3, 6_010, "Put", items=1, version=1),
    ]
    found = answer(events)
    assert [(each.name, each.used, each.verdict) for each in found.slices] == [
        ("a-1", 1, TraceVerdict.CONSISTENT),
        ("a-1#2", 2, TraceVerdict.CONSISTENT),
    ]
    assert found.rests_on[0].startswith("a-1: no line tells of its beginning")
    behind = shelf(1, 5_000, "Seen", items=0, version=0, node="n2")  # the clock of another node is a second behind
    soon = answer([events[0], behind, *events[2:]])
    assert [(each.name, each.used) for each in soon.slices] == [("a-1", 3)]


@pytest.mark.parametrize(("time", "verdict"), [(50, TraceVerdict.INCONSISTENT), (150, TraceVerdict.CONSISTENT)])
def test_a_hidden_step_excuses_nothing_where_no_execution_has_it(
    time: int, verdict: TraceVerdict, line: Line, shelf: Line
) -> None:
    text = LOCKED.replace("action lock:\n", "action lock:\n    when unlocked: open\n").replace("from toy", "from kafka")
    events = [
        shelf(2, 10, "Made", version=0),
        line("n1", 3, 20, "Lit"),
        shelf(4, time, "Put", items=1, version=1),
        line("n1", 5, 100, "Unlocked"),
        line("n1", 6, 200, "Audited"),
    ]
    answered = validate(load_text(text.replace("open: bool = true", "open: bool = false")), events)
    assert answered.hidden == {"lock": 1}
    assert [result.verdict for result in answered.slices] == [verdict]


@pytest.mark.parametrize(("late", "verdict"), [(15, TraceVerdict.INCONSISTENT), (25, TraceVerdict.INCONCLUSIVE)])
def test_what_was_written_before_all_files_begin_may_lack_what_the_others_would_tell(
    late: float, verdict: TraceVerdict, line: Line, shelf: Line
) -> None:
    events = [
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        line("n0", 1, 20_090, "Unlocked"),
    ]
    clause = "order: file; commit before line within 5 ms; skew 0 ms"
    text = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("order: file; skew 0 ms", clause)
    found = validate(load_text(text), events, options=Options(partial=True, late=late))
    assert found.verdict is verdict
    if verdict is TraceVerdict.INCONCLUSIVE:
        assert str(found.reason).endswith("has no explanation, and was written before all files begin")
