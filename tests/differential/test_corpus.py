"""Small specs, each about one corner of the language: what every engine says of them is written at their head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import UnusableSpecError, load_spec

from .joined import survey
from .tlc_case import Case, agree, case_about

FOLDER = Path(__file__).parents[1] / "corpus" / "specs"
OPTIONS = SearchOptions(keep_going=True)


@dataclass
class Expected:
    """The head of a spec: either the error, or the exit code, the sizes, the bounds, and what is not simply true.

    `tlc` says in which way TLC differs, where it does.
    """

    parts: list[str]
    tlc: str | None
    model: str | None = None
    answers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        models = [part for part in self.parts if part.startswith("model ")]
        self.model = models[0].removeprefix("model ") if models else None
        self.answers = [part for part in self.parts if part not in models]

    @property
    def is_error(self) -> bool:
        return self.answers[0].startswith("error")

    @property
    def is_undefined(self) -> bool:
        return any(part.startswith("defined violated") for part in self.answers)


def expected(name: str) -> Expected:
    text = (FOLDER / f"{name}.assay").read_text()
    first = re.match(r"# expect: (.*)\n(?:# tlc: (.*)\n)?", text)
    assert first is not None, f"{name} does not say what is expected"
    return Expected(first[1].split("; "), first[2])


def kernel_of(name: str) -> Kernel:
    return load_spec(FOLDER / f"{name}.assay", model=expected(name).model).kernel


SPECS = sorted(path.stem for path in FOLDER.glob("*.assay"))
GOOD = [name for name in SPECS if not expected(name).is_error]
BAD = [name for name in SPECS if expected(name).is_error]


def answers(report: Report) -> list[str]:
    """What the head of a spec should say."""
    sizes = report.statistics
    said = [f"exit {int(report.exit_code)}", f"{sizes.distinct} states", f"depth {sizes.depth}"]
    said += [answer for each in report.properties if (answer := _answer(each)) is not None]
    hits = [f"{label} {count}" for label, count in sorted(report.bounds.items()) if count]
    return [*said, *([f"bounds {', '.join(hits)}"] if hits else [])]


def _answer(result: PropertyResult) -> str | None:
    length = f" {len(result.trace)}" if result.trace is not None and result.kind != "scenario" else ""
    if result.outcome in {Outcome.HOLDS, Outcome.UP_TO_BOUND}:
        return f"{result.name} reached{length}" if result.kind == "reachable" else None
    return f"{result.name} {result.outcome.value}{length}"


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", GOOD)
def test_an_engine_says_what_the_head_of_the_spec_says(name: str, engine: Engine) -> None:
    assert answers(engine_selection.check(kernel_of(name), OPTIONS, engine=engine).report) == expected(name).answers


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_spec_is_refused_at_the_place_that_its_head_says(name: str) -> None:
    with pytest.raises(UnusableSpecError) as caught:
        kernel_of(name)
    assert [f"error {each.code} at {each.span.line}" for each in caught.value.diagnostics] == expected(name).answers


def comparable() -> Iterator[Case]:
    for name in GOOD:
        head = expected(name)
        if head.tlc is None and not head.is_undefined:
            case = case_about(name, kernel_of(name), OPTIONS)
            assert case is not None
            yield case


@pytest.mark.slow
def test_tlc_says_the_same_of_all_in_which_nothing_is_undefined(tmp_path: Path) -> None:
    agree(list(comparable()), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GOOD if expected(name).is_undefined])
def test_tlc_stops_where_something_is_undefined(name: str, tmp_path: Path) -> None:
    (seen,), answer = survey([kernel_of(name)], tmp_path)
    assert not answer.is_complete or "TypeOK" in seen.false
