"""The first screen: at most 25 lines, the gravest first, in the words of operators or of the user's spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.report.logs.first_screen import MOST_LINES, first_screen
from assay.report.logs.shown_line import place_text, shown_line
from assay.report.logs.trouble import finding_lines
from assay.report.logs.validation_text import label_of
from assay.traces.diagnosis.incident_moments import Moment
from assay.traces.diagnosis.node_settings import Overview, overview
from assay.traces.durations import difference_in_words, duration_in_words
from assay.traces.event import Event, LogPosition, LogRecord, Notice, ProcessRun, Remark
from assay.traces.log_reader import read_logs
from assay.traces.result import Validation
from assay.traces.spec_selection import validate_with_selection
from assay.traces.trouble.finding import ExplainedLines, Gravity, TroubleFinding

SPEC = """\
module counters

param Shelf: set = {a, b}
size param Top: int = 9
type Count = 0 .. Top

state:
    number: map[Shelf, Count] = [s -> 0]

action add(s: Shelf, n: Count):
    when one_more: n == number[s] + 1
    number[s] := n

invariant few: forall s in Shelf: number[s] < 3

trace log:
    from json
    on Added(shelf: Shelf, n: Count): add(shelf, n)
"""


def answer(folder: Path, numbers: Sequence[int]) -> tuple[Validation, Overview]:
    """The answer about a log that counts like this."""
    lines = [
        f'{{"event": "Added", "time": "2026-11-21T10:00:{at:02}Z", "node": "x", "shelf": "a", "n": {number}}}\n'
        for at, number in enumerate(numbers)
    ]
    (folder / "counters.assay").write_text(SPEC)
    (folder / "log.jsonl").write_text("".join(lines))
    reading = read_logs([folder / "log.jsonl"])
    loaded = load(str(folder / "counters.assay"), None, {})
    _, validation = validate_with_selection(reading, loaded, lambda name: load(name, None, {}))
    return validation, overview(reading)


def text(validation: Validation, input_: Overview) -> list[str]:
    return [line.text for line in first_screen(validation, input_)]


def test_a_consistent_log_says_what_was_compared(tmp_path: Path) -> None:
    lines = text(*answer(tmp_path, [1, 2]))
    assert lines[0] == "consistent: every line that was compared follows the rules"
    assert "2 of 2 events compared" in lines[1]
    assert str(tmp_path.parent) not in "\n".join(lines)


def test_a_finding_shows_the_line_with_its_field_marked_in_the_words_of_the_spec(tmp_path: Path) -> None:
    lines = text(*answer(tmp_path, [1, 7, 2]))
    assert lines[0].startswith("INCONSISTENT: 1 line cannot be true together with the others")
    at = next(number for number, line in enumerate(lines) if line.startswith("1. "))
    assert lines[at].endswith("log.jsonl:2")
    mark = lines[at + 2].index("^")
    assert lines[at + 1][:mark].endswith('"n": ')
    assert lines[at + 2][mark:] == "^ n is 7 here"
    assert any("guard one_more is false" in line for line in lines)


def test_a_label_that_is_a_part_of_a_word_is_said(tmp_path: Path) -> None:
    validation, _ = answer(tmp_path, [1, 7, 2])
    (part,) = validation.violations[0].blame[0].parts
    assert label_of(replace(part, label="own", text="owner == none")) == "own"
    assert label_of(replace(part, label="owner", text="owner == none")) == ""
    assert label_of(replace(part, label=str(part.spec))) == ""


def test_partitions_that_the_heading_does_not_name_are_listed() -> None:
    finding = TroubleFinding(Gravity.STUCK, "T-12 is stuck", "It does not move.", partitions=("T-1", "T-12", "T-12#2"))
    assert next(iter(finding_lines(finding))).text.endswith("T-12 is stuck, T-1, T-12#2")


def test_a_broken_property_is_the_first_line(tmp_path: Path) -> None:
    lines = text(*answer(tmp_path, [1, 2, 3]))
    assert lines[0].startswith("BROKEN: invariant few is broken at ")
    assert lines[0].endswith("log.jsonl:3")


def test_that_no_line_tells_of_a_loss_is_said_of_a_bundled_spec_beside_no_risk(tmp_path: Path) -> None:
    own, input_ = answer(tmp_path, [1, 2])
    bundled = replace(own, kernel=replace(own.kernel, name="kafka.cluster"))
    event = Event("Added", "", {}, LogRecord(LogPosition("log", 1, 0), 0, "INFO", "", None, "it"), ProcessRun("x", 1))
    no_loss = "data: no line that was read tells of a loss"
    at_risk, known = (replace(bundled, remarks=(Remark(each, "it is so", event),)) for each in ("risk", "known"))
    assert no_loss not in text(own, input_)
    assert no_loss in text(bundled, input_)
    assert no_loss in text(known, input_)
    assert no_loss not in text(at_risk, input_)


def test_of_other_warnings_the_most_frequent_is_explained_first(tmp_path: Path) -> None:
    validation, input_ = answer(tmp_path, [1, 2])
    first = LogRecord(LogPosition("log", 1, 0), 0, "WARN", "", None, "it")
    explained = tuple(ExplainedLines(f"f{n}", "WARN", f"Cause {n}.", "", n, first) for n in (2, 9, 4))
    many = replace(validation, trouble=replace(validation.trouble, explained=explained))
    shown = [line.strip() for line in text(many, input_) if "x WARN" in line]
    assert shown == ["9 x WARN: Cause 9.", "4 x WARN: Cause 4.", "2 x WARN: Cause 2."]


def test_it_has_25_lines_at_most_whatever_there_is_to_say(tmp_path: Path) -> None:
    validation, input_ = answer(tmp_path, [1, 7, 2, 9, 3])
    violation = validation.violations[0]
    many = replace(
        validation,
        violations=(violation,) * 40,
        reason="something",
        notices=tuple(Notice(f"kind {n % 7}", None, f"notice {n}") for n in range(100)),
    )
    place = LogPosition("a/b", 1, 0)
    moments = tuple(Moment(at * 60_000, f"broker {at} becomes controller", 3, place) for at in range(80))
    lines = text(many, replace(input_, moments=moments))
    assert len(lines) <= MOST_LINES
    assert any("more, see --details" in line for line in lines)
    assert any(line.startswith("what happened (UTC), and ") and line.endswith("more, see --html") for line in lines)


def test_on_a_terminal_no_line_is_wider_than_it(tmp_path: Path) -> None:
    assert max(len(line.text) for line in first_screen(*answer(tmp_path, [1, 7, 2]), 60)) <= 60


def test_the_mark_is_under_the_value_that_follows_the_fields_name() -> None:
    message = "[Controller id=4 epoch=4] Ready with epoch 4 at zk version 4"
    record = LogRecord(LogPosition("logs/b1/controller.log", 7, 0), None, "INFO", "", None, message)
    event = Event("ControllerReady", "", {}, record, ProcessRun("b1", 1))
    shown, mark = (line.text for line in shown_line(event, "4", "epoch", "epoch 3 would fit"))
    assert place_text(event.record.place) == "b1/controller.log:7"
    assert shown[mark.index("^")] == "4"
    assert shown[: mark.index("^")].endswith("with epoch ")
    assert mark.endswith("^ epoch 3 would fit")


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (12, "12 ms"),
        (3_630, "3.63 s"),
        (320_000, "5 min 20 s"),
        (7_500_000, "2 h 5 min"),
        (38_716_560_000, "448 d 2 h"),
    ],
)
def test_durations_are_in_words(milliseconds: int, words: str) -> None:
    assert duration_in_words(milliseconds) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(3_600_008, "UTC offset +01:00"), (-19_800_000, "UTC offset -05:30"), (42, "42 ms"), (-5_000, "-5 s")],
)
def test_a_clock_of_another_time_zone_is_told_as_such(milliseconds: int, words: str) -> None:
    assert difference_in_words(milliseconds) == words
