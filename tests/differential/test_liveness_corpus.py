"""Small specs about liveness, each with a trap: which of their properties hold is written at their head, and TLC says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.load import load_spec

from .tlc_behaviours import Question, ask

FOLDER = Path(__file__).parents[1] / "corpus" / "liveness"
SPECS = sorted(path.stem for path in FOLDER.glob("*.assay"))
OPTIONS = SearchOptions(keep_going=True, check_deadlock=False, threads=1)


def expected(name: str) -> dict[str, bool]:
    """Of each property whether it holds."""
    text = (FOLDER / f"{name}.assay").read_text(encoding="utf-8")
    lines = {
        word: re.findall(r"\w+", line) for word, line in re.findall(r"^# (holds|violated): (.*)$", text, re.MULTILINE)
    }
    return {name: word == "holds" for word, names in lines.items() for name in names}


def report_of(name: str, engine: Engine) -> Report:
    loaded = load_spec(FOLDER / f"{name}.assay")
    return engine_selection.check(loaded.kernel, OPTIONS, loaded.sources, engine).report


@pytest.mark.everyday(26)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", SPECS)
def test_an_engine_says_what_the_head_says(name: str, engine: Engine) -> None:
    found = {p.name: p.outcome for p in report_of(name, engine).properties if p.kind == "temporal"}
    assert {each: outcome is Outcome.HOLDS for each, outcome in found.items()} == expected(name)
    assert set(found.values()) <= {Outcome.HOLDS, Outcome.VIOLATED}


def test_the_corpus_has_a_hundred_and_twenty_properties_of_which_half_are_violated() -> None:
    answers = [holds for name in SPECS for holds in expected(name).values()]
    assert len(answers) >= 120
    assert 0.4 <= sum(answers) / len(answers) <= 0.5


def questions(name: str) -> list[Question]:
    report = report_of(name, "reference")
    return [Question(report.kernel, each.name, each.trace) for each in report.properties if each.kind == "temporal"]


AT_ONCE = {"kept_values"}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in AT_ONCE else pytest.mark.slow) for each in SPECS]
)
def test_tlc_says_the_same(name: str, tmp_path: Path) -> None:
    answer = ask(questions(name), tmp_path)
    assert answer.is_complete, answer.error
