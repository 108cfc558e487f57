"""Small protocols with traps for proofs: what is proved for any size no model refutes, and engines agree about models of several sizes.

The head of each spec in `tests/corpus/protocols` says what is proved for any size: no more, which would be wrong, and no less.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from tests.stages import everyday

from assay.checker.engines.engine_selection import prove
from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report
from assay.checker.symbolic.bounded import bmc
from assay.checker.symbolic.parametric.prove import prove_any
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec

FOLDER = Path(__file__).parents[1] / "corpus" / "protocols"
SPECS = sorted(path.stem for path in FOLDER.glob("*.assay"))
HEAD = "# proved for any size:"
PROVED = {Outcome.HOLDS, Outcome.UP_TO_BOUND}
LEVELS = 12
SEARCH = SearchOptions(keep_going=True, max_states=3000)


WITH_SETS = [spec for spec in SPECS if " symmetric\n" in (FOLDER / f"{spec}.assay").read_text(encoding="utf-8")]


def symmetric(spec: str) -> list[str]:
    return [sort.name for sort in load_spec(FOLDER / f"{spec}.assay").kernel.sorts if sort.symmetric]


def models(spec: str, most: int) -> list[Kernel]:
    """The spec with 1, 2, … elements in each of its sets; one that has no set as it is."""
    sets = symmetric(spec)
    sizes = product(range(1, most + 1), repeat=len(sets))
    settings = [{name: str(size) for name, size in zip(sets, each, strict=True)} for each in sizes]
    return [load_spec(FOLDER / f"{spec}.assay", overrides=each).kernel for each in settings]


def answers(report: Report) -> dict[str, PropertyResult]:
    return {each.name: each for each in report.properties}


@pytest.mark.parametrize("spec", everyday(WITH_SETS, 2))
def test_what_is_proved_for_any_size_no_model_refutes(spec: str) -> None:
    path = FOLDER / f"{spec}.assay"
    head = path.read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith(HEAD)
    found = answers(prove_any(load_spec(path), symmetric(spec)).report)
    proved = {name for name, each in found.items() if each.outcome in PROVED}
    assert proved == {name for name in head.removeprefix(HEAD).replace(" ", "").split(",") if name}
    for kernel in models(spec, 4 if len(symmetric(spec)) == 1 else 3):
        violated = {name for name, each in answers(check(kernel, SEARCH)).items() if each.outcome is Outcome.VIOLATED}
        assert not violated & proved, (kernel.sorts, violated & proved)


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=() if at % 11 == 0 else pytest.mark.slow) for at, spec in enumerate(SPECS)]
)
def test_engines_agree_about_models_of_several_sizes(spec: str) -> None:
    for kernel in models(spec, 3 if len(symmetric(spec)) == 1 else 2):
        searched = check(kernel, SEARCH)
        explicit = answers(searched)
        if searched.stopped is None:
            for name, each in answers(prove(kernel).report).items():
                assert each.outcome in {explicit[name].outcome, Outcome.UNKNOWN}, (kernel.sorts, name, each.reason)
        for name, each in answers(bmc.check(kernel, SearchOptions(keep_going=True, max_depth=LEVELS))).items():
            run = explicit[name].trace
            if each.trace is not None or (run is not None and len(run) <= LEVELS):
                assert each.outcome is explicit[name].outcome, (kernel.sorts, name)
                assert each.trace is not None
                assert run is None or len(each.trace) == len(run), (kernel.sorts, name)
