"""Depth-first search by compiled code: published counts, long runs, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.api.bundled import locate_spec
from assay.checker.engines.engine_selection import check
from assay.checker.explicit.dfs import DepthFirstBlockSearch
from assay.checker.options import Fingerprints, SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text

from .searched import answer

DEEP = SearchOptions(order="dfs")
RING = """
param N: int = 5000
type P = 0 .. 5000
state:
    x: P = 0
    y: P = 0
action up:
    when x < N
    x := x + 1
action back:
    when x > 0
    x := x - 1
invariant low: x < N
"""


def bundled(name: str) -> Kernel:
    return load_spec(locate_spec(name)).kernel


def dfs(kernel: Kernel, folder: Path, options: SearchOptions = DEEP) -> Report:
    return check(kernel, options, engine="native", cache=folder).report


@pytest.mark.parametrize("fingerprints", ["exact", "64", "96", "128"])
def test_counts_are_those_of_breadth_first_search(fingerprints: str, tmp_path: Path) -> None:
    report = dfs(bundled("classics/two_phase"), tmp_path, replace(DEEP, fingerprints=fingerprints))  # type: ignore[arg-type]
    assert (report.statistics.distinct, report.statistics.generated) == (288, 1146)
    assert (report.statistics.collision > 0) == (fingerprints != "exact")


def test_symmetry_counts_the_same_orbits(tmp_path: Path) -> None:
    kernel = bundled("classics/two_phase")
    deep = dfs(kernel, tmp_path, replace(DEEP, symmetry=True))
    broad = dfs(kernel, tmp_path, SearchOptions(symmetry=True))
    assert deep.statistics.distinct == broad.statistics.distinct


CHAIN = """
param Last: int = 900
state:
    at: 0 .. Last = 0
    side: bool = false
    seen: 0 .. 2 = 0
action go:
    bound end: at < Last
    when main: not side
    at := at + 1
    seen := if at % 7 == 0 and seen < 2 then seen + 1 else seen
action leave:
    when not side
    side := true
invariant short: at < 850 or not side
transition slow: at <= 870
reachable far: at == 899 and side
"""


@pytest.mark.parametrize("fingerprints", ["exact", "96"])
def test_a_chain_is_answered_as_by_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fingerprints: Fingerprints
) -> None:
    kernel = load_text(CHAIN).kernel
    options = replace(DEEP, keep_going=True, fingerprints=fingerprints)
    followed = dfs(kernel, tmp_path, options)
    ended = dfs(kernel, tmp_path, replace(options, max_states=400))
    monkeypatch.setattr(DepthFirstBlockSearch, "_follow_levels", lambda *_: False)
    assert answer(followed) == answer(dfs(kernel, tmp_path, options))
    assert followed.statistics.distinct > 1800
    assert {each.name for each in followed.properties if each.outcome is Outcome.VIOLATED} == {
        "deadlock",
        "short",
        "slow",
    }
    assert "limit of 400 states" in str(ended.stopped)
    assert 400 <= ended.statistics.distinct < 600


def test_a_long_chain_is_followed_without_a_round_for_each_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DepthFirstBlockSearch, "_expand_newest", None)
    text = "state:\n    at: 0 .. 9999 = 0\naction go:\n    at := if at < 9999 then at + 1 else at\n"
    report = dfs(load_text(text).kernel, tmp_path)
    assert (report.statistics.distinct, report.statistics.depth) == (10_000, 10_000)


@pytest.mark.slow
def test_a_violation_at_the_end_of_a_long_run_is_found_with_its_run(tmp_path: Path) -> None:
    report = dfs(load_text(RING).kernel, tmp_path)
    (low,) = (each for each in report.properties if each.name == "low")
    assert low.outcome is Outcome.VIOLATED
    assert low.trace is not None
    assert len(low.trace) == 5001
    assert report.statistics.depth == 5001


def test_detours_are_left_out_of_a_run(tmp_path: Path) -> None:
    text = """
        type P = 0 .. 40
        state:
            x: P = 0
            hops: 0 .. 1 = 0
        action step:
            when x < 40
            x := x + 1
        action jump:
            when x == 0
            x := 30
        invariant low: x < 40
    """
    report = dfs(load_text(text.replace("\n        ", "\n")).kernel, tmp_path)
    (low,) = (each for each in report.properties if each.name == "low")
    assert low.trace is not None
    assert len(low.trace) == 12


def test_it_refuses_what_it_would_answer_wrongly(tmp_path: Path) -> None:
    kernel = bundled("classics/two_phase")
    for wrong in (
        replace(DEEP, max_depth=3),
        replace(DEEP, violations=2, keep_going=True),
        replace(DEEP, checkpoint=tmp_path),
    ):
        with pytest.raises(SpecError, match="a depth-first search has no use for"):
            check(kernel, wrong, cache=tmp_path)


def test_temporal_properties_are_not_decided(tmp_path: Path) -> None:
    text = "state:\n    x: bool = false\naction go fair:\n    x := true\nproperty ends: eventually x\n"
    (ends,) = (each for each in dfs(load_text(text).kernel, tmp_path).properties if each.name == "ends")
    assert ends.outcome is Outcome.UNKNOWN


def test_a_stack_that_does_not_fit_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.checker.explicit.dfs.STACK_SHARE", 1 << 40)
    text = "type P = 0 .. 999\nstate:\n    x: P = 0\n    y: P = 0\naction go(a: P, b: P):\n    x := a\n    y := b\n"
    report = dfs(load_text(text).kernel, tmp_path)
    assert report.stopped is not None
    assert "memory budget" in report.stopped
