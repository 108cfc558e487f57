"""The trial of a coding assistant: its tasks can be solved, and wrong answers do not pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.assistant import lines
from benchmarks.assistant.score import Score, scored
from benchmarks.assistant.task import Task, tasks

from assay.cli.main import invoke

ANSWERS = Path(__file__).parent / "answers"
TASKS = {each.answer: each for each in tasks()}
READERS = (ANSWERS / "readers_writers.assay").read_text()


@pytest.fixture
def score(tmp_path: Path) -> Callable[[str], Score]:
    def score(text: str) -> Score:
        answer = tmp_path / "readers_writers.assay"
        answer.write_text(text)
        return scored(TASKS["readers_writers"], answer, "reference")

    return score


def test_each_of_twelve_tasks_names_what_is_kept_back() -> None:
    assert len(TASKS) == 12
    for task in TASKS.values():
        text = task.description.read_text()
        assert f"`{task.answer}.assay`" in text
        assert task.breaks in task.properties
        assert "held_" not in text
        assert all(f"* `{action}" in text for action in task.actions)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_right_answer_passes(task: Task) -> None:
    found = scored(task, ANSWERS / f"{task.answer}.assay")
    assert (found.passed, found.conform, found.states_right, found.why) == (True, 1.0, True, ())


def test_the_answers_are_in_canonical_form() -> None:
    assert invoke(["fmt", "--check", *map(str, sorted(ANSWERS.glob("*.assay")))]) == 0


def test_a_small_right_answer_passes(score: Callable[[str], Score]) -> None:
    found = score(READERS)
    assert found.passed
    assert found.found_by == ("apart",)


def test_an_error_in_one_action_leaves_the_others_read(score: Callable[[str], Score]) -> None:
    found = score(READERS.replace("reading := reading - {r}", "reading := reding - {r}"))
    assert found.syntax == 0.8
    assert not found.passed
    assert "E" in found.why[0]


def test_a_missing_answer_is_no_answer(tmp_path: Path) -> None:
    found = list(lines([str(tmp_path)]))
    assert [line["passed"] for line in found] == [False] * 12 + [0]
    assert found[0]["why"] == ("there is no bounded_buffer.assay",)


def test_a_rule_too_weak_violates_what_was_kept_back(score: Callable[[str], Score]) -> None:
    found = score(READERS.replace("    when preference: waiting == {}\n", ""))
    assert found.runs
    assert found.properties == 0.8
    assert found.why == ("held_preference: violated",)
    assert not found.passed


def test_a_rule_too_strong_leaves_an_action_or_a_state_out(score: Callable[[str], Score]) -> None:
    found = score(READERS.replace("waiting == {}\n", "waiting == {} and reading == {}\n"))
    assert found.why == ("held_all_read: violated", "held_all_writers_wait_for_readers: violated")
    assert found.conform < 1
    assert not found.passed


def test_the_bug_has_to_be_in_the_answer_and_found(score: Callable[[str], Score]) -> None:
    absent = score(READERS.replace("Broken or ", ""))
    assert (absent.breaks, absent.found_by, absent.passed) == (False, (), False)
    not_found = score(READERS.replace("invariant apart: writing == none or reading == {}", "invariant t: true"))
    assert (not_found.breaks, not_found.found_by, not_found.passed) == (True, (), False)


def test_another_name_costs_the_properties_that_use_it(score: Callable[[str], Score]) -> None:
    found = score(READERS.replace("waiting", "queue"))
    assert found.properties == pytest.approx(0.4)
    assert "waiting" in found.why[0]
