"""A notice that several files have in common stands once, with the sum of the lines."""

from __future__ import annotations

from pathlib import Path

from tests.unit.report.test_first_screen import answer

from assay.report.logs.remarks import RemarkGroup, reported_together
from assay.traces.event import LogPosition, Notice
from assay.traces.trouble.finding import Gravity, TroubleFinding


def notice(kind: str, file: str, text: str) -> Notice:
    return Notice(kind, LogPosition(f"logs/{file}", 1, 0), text)


def test_equal_counts_of_lines_in_several_files_are_one_sum() -> None:
    found = [notice("lines", "a.log", "1 line: no pattern describes them")]
    found += [notice("lines", "b.log", "1,200 lines: no pattern describes them")]
    found += [notice("lines", "b.log", "3 lines: other text than JSON")]
    assert reported_together(found) == [
        "1,201 lines: no pattern describes them (in 2 files, first logs/a.log:1)",
        "3 lines: other text than JSON",
    ]


def test_files_that_were_not_understood_are_one_line_with_the_first() -> None:
    found = [notice("not understood", each, f"the file was not understood: {each}") for each in ("a.log", "b.log")]
    assert reported_together(found) == ["logs/a.log and 1 more file: the file was not understood: a.log"]


def test_notices_without_a_place_stay_as_they_are() -> None:
    assert reported_together([Notice("lacking", None, "2 nodes are missing")]) == ["2 nodes are missing"]


def test_known_behaviour_is_not_reported_again_beside_the_known_bug_of_its_lines(tmp_path: Path) -> None:
    validation, _ = answer(tmp_path, [1, 7])
    event = validation.violations[0].event
    group = RemarkGroup("known", "Kafka 2.7 to 3.2: the controller does so", ("a-0", "b-0"), (event,))
    bug = TroubleFinding(Gravity.BUG, "a bug", "Something is amiss.", lines=(event.record,))
    assert group.is_reported([bug])
    assert not group.is_reported([TroubleFinding(Gravity.WARNING, "no bug", "It is another.", lines=(event.record,))])


def test_a_remark_about_no_slice_is_reported_by_no_finding_about_slices(tmp_path: Path) -> None:
    validation, _ = answer(tmp_path, [1, 7])
    group = RemarkGroup("risk", "two brokers have one id", (), (validation.violations[0].event,))
    lost = TroubleFinding(Gravity.LOST, "lost", "Records are lost.", partitions=("a-0",))
    assert not group.is_reported([])
    assert not group.is_reported([lost])
