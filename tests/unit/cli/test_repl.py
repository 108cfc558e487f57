"""`assay repl` reads lines from a pipe too, and `assay eval` prints values along a saved trace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def repl(assay: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a session with these lines; returns what was printed."""

    def run(*lines: str) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return assay("repl", "counter.assay")

    return run


def test_a_session_walks_evaluates_and_goes_back(repl: Any) -> None:
    ran = repl("grow", "count + 40", "old(count)", ":undo", "count == 0", ":path", ":properties")
    assert ran.code == 0
    assert "  count: 0 -> 1" in ran.out
    assert "\n41\n0\n" in ran.out
    assert "\ntrue\n" in ran.out
    assert "at_most_three holds" in ran.out


def test_a_refused_step_says_which_guard_refuses_it(repl: Any) -> None:
    ran = repl(":why reset", "reset")
    assert "  full: count == 3   counter.assay:16" in ran.out
    assert "count == 3 is false: count = 0" in ran.out
    assert "`reset` is not possible: full: count == 3" in ran.out


def test_mistakes_are_answers_and_the_session_goes_on(repl: Any) -> None:
    ran = repl("cuont", ":nothing", ":load", ":load none.json", ":initial x", ":initial 7", "1 +", "count")
    assert ran.code == 0
    assert ran.out.rstrip().endswith("\n0")
    assert "unknown name `cuont`" in ran.err
    assert "no command `:nothing`" in ran.out
    assert "none.json" in ran.err


@pytest.mark.parametrize(
    ("line", "meant"),
    [("help", ":help"), ("quit", ":quit"), ("exit", ":quit"), ("why reset", ":why reset"), ("steps", ":steps")],
)
def test_a_command_without_its_colon_is_told_how_it_is_written(repl: Any, line: str, meant: str) -> None:
    ran = repl(line)
    assert f"commands begin with a colon: `{meant}`" in ran.out
    assert not ran.err


def test_numbers_take_listed_steps_and_quit_ends(repl: Any) -> None:
    ran = repl("0", "0", ":quit", "count + 1000")
    assert "  count: 1 -> 2" in ran.out
    assert "1000" not in ran.out


def test_a_broken_property_is_shown_with_the_step_that_breaks_it(repl: Any) -> None:
    ran = repl("grow", "grow", "grow")
    assert "is false" not in ran.out


def test_saved_steps_are_loaded_and_followed_after_an_edit(repl: Any, tmp_path: Path) -> None:
    repl("grow", "grow", ":save walk.json")
    spec = tmp_path / "counter.assay"
    spec.write_text(spec.read_text().replace("count < 2 * Step + 1", "count < 1"))
    ran = repl(":load walk.json")
    assert "followed up to here" in ran.out
    assert "small: count < 1" in ran.out


def test_a_session_begins_with_a_counterexample(assay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--trace-out", "t.json").code == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("Most\n:properties\n"))
    ran = assay("repl", "--trace", "t.json")
    assert "\n9\n" in ran.out
    assert "at_most_three" in ran.out
    assert assay("repl").code == 2


def test_eval_prints_every_state_of_a_trace(assay: Any) -> None:
    assert assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--trace-out", "t.json").code == 1
    ran = assay(
        "eval", "counter.assay", "count", "count * 2", "--trace", "t.json", "--model", "double", "--set", "Most=9"
    )
    assert ran.code == 0
    assert ran.out.splitlines()[:3] == ["0  initial state", "   count = 0", "   count * 2 = 0"]
    last = assay("eval", "counter.assay", "count", "--trace", "t.json", "--at", "-1", "--json", "--set", "Step=2")
    assert last.json["values"][0]["expressions"][0]["value"] == 4


def test_eval_without_a_trace_is_about_an_initial_state(assay: Any) -> None:
    assert assay("eval", "counter.assay", "count == 0", "Most").out.splitlines() == ["count == 0 = true", "Most = 3"]
    assert assay("eval", "counter.assay", "1 // count").code == 3


@pytest.mark.parametrize(
    "arguments",
    [("count +",), ("count", "--initial", "9"), ("count", "--trace", "no.json"), ("nobody",), ("count", "--at", "1")],
)
def test_eval_refuses_bad_input(assay: Any, arguments: tuple[str, ...]) -> None:
    ran = assay("eval", "counter.assay", *arguments)
    assert ran.code == 2
    assert "error[E" in ran.err


@pytest.mark.parametrize("line", ["9" * 5_000, ":initial " + "9" * 5_000])
def test_a_number_that_is_too_long_is_a_mistake_like_others(repl: Any, line: str) -> None:
    ran = repl(line, "count + 40")
    assert ran.code == 0
    assert "40" in ran.out.split()


def test_an_initial_state_of_a_number_beyond_all_sizes_is_not_there(assay: Any) -> None:
    ran = assay("eval", "counter.assay", "count", "--initial", "9" * 20)
    assert ran.code == 2
    assert f"no initial state number {'9' * 20}" in ran.out + ran.err
