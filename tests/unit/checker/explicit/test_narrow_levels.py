"""Many small levels in one call give the answer that rounds give, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.checker.engines.engine_selection import check as selected
from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.engines.reference_engine import check as reference
from assay.checker.explicit.expansion import narrow_levels
from assay.checker.explicit.expansion.single_states import Probe, Successors
from assay.checker.explicit.liveness.state_graph import BLOCK
from assay.checker.layout.row import Rows
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.load import load_text

CHAIN = """module chain
state:
    x: 0 .. MOST = 0
    y: 0 .. 2 = 0
action go:
    when more: x < MOST
    x := x + 1
action turn:
    bound sometimes: x % 100 == 7
    y := (y + 1) % 3
    x := x
invariant small: x <= LIMIT
reachable far: x > 50
transition up: old(x) <= x and (old(x) != STEP or x == STEP)
"""


def text(most: int, limit: int, step: int) -> str:
    return CHAIN.replace("MOST", str(most)).replace("LIMIT", str(limit)).replace("STEP", str(step))


def essence(report: Report) -> dict[str, Any]:
    sizes = report.statistics
    return {
        "sizes": (sizes.distinct, sizes.generated, sizes.depth),
        "results": [(p.name, p.outcome, p.trace) for p in report.properties],
        "bounds": report.bounds,
        "coverage": report.coverage,
        "stopped": report.stopped,
        "depth": report.up_to_depth,
    }


@pytest.mark.everyday(4)
@pytest.mark.parametrize(
    ("limit", "step", "options"),
    [
        (1000, 1000, {}),
        (80, 1000, {}),
        (80, 120, {"keep_going": True}),
        (1000, 60, {}),
        (1000, 1000, {"max_depth": 33}),
        (1000, 1000, {"max_states": 77}),
        (1000, 1000, {"check_deadlock": False}),
        (1000, 1000, {"fingerprints": "96"}),
        (1000, 1000, {"fingerprints": "64"}),
        (1000, 1000, {"fingerprints": "128"}),
    ],
)
def test_a_chain_is_answered_as_by_rounds(
    tmp_path: Path, limit: int, step: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = load_text(text(200, limit, step)).kernel
    chosen = SearchOptions(threads=1, **options)
    compiled = compile_kernel(kernel, chosen, tmp_path)
    at_once = essence(check(kernel, compiled, chosen))
    monkeypatch.setattr(narrow_levels, "NARROW", 0)
    assert essence(check(kernel, compiled, chosen)) == at_once
    if "fingerprints" not in options:
        slow = reference(kernel, chosen).statistics
        assert (slow.distinct, slow.generated, slow.depth) == at_once["sizes"]


GRID = """module grid
state:
    x: 0 .. 40 = 0
    y: 0 .. 40 = 0
    z: 0 .. 7 = 0
action right:
    when x < 40 and (x + y) % 5 != 4 or z == 0
    x := min({x + 1, 40})
action up:
    when z < 7
    y := min({y + 1, 40})
    z := z + (x + y) % 2
"""


@pytest.mark.everyday(1)
@pytest.mark.parametrize("widest", [narrow_levels.WIDEST, 90])
def test_levels_of_hundreds_with_many_deadlocks_are_answered_as_by_rounds(
    tmp_path: Path, widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known deadlock ends no call; a level with too many candidates does, and the next one may be small again."""
    whys: list[int] = []
    follow = narrow_levels.NarrowLevels.follow

    def noted(*arguments: Any) -> Any:
        found = follow(*arguments)
        whys.append(found.why)
        return found

    monkeypatch.setattr(narrow_levels.NarrowLevels, "follow", noted)
    monkeypatch.setattr(narrow_levels, "WIDEST", widest)
    kernel = load_text(GRID).kernel
    options = SearchOptions(threads=1, keep_going=True)
    compiled = compile_kernel(kernel, options, tmp_path)
    at_once = essence(check(kernel, compiled, options))
    assert whys.count(narrow_levels.IS_RARE) == 1
    assert (narrow_levels.IS_WIDE in whys) == (widest == 90)
    monkeypatch.setattr(narrow_levels, "NARROW", 0)
    assert essence(check(kernel, compiled, options)) == at_once
    slow = reference(kernel, options).statistics
    assert (slow.distinct, slow.generated, slow.depth) == at_once["sizes"]


def test_the_loop_is_used_and_grows_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    follow = narrow_levels.NarrowLevels.follow

    def counted(*arguments: Any) -> Any:
        found = follow(*arguments)
        calls.append(len(found.sizes))
        return found

    monkeypatch.setattr(narrow_levels.NarrowLevels, "follow", counted)
    kernel = load_text(text(100_000, 100_000, 200_000)).kernel
    options = SearchOptions(threads=1, check_deadlock=False)
    report = check(kernel, compile_kernel(kernel, options, tmp_path), options)
    assert report.statistics.depth == 100_001 + 2
    assert len(calls) < 200
    assert sum(calls) > 99_000


def test_the_graph_of_behaviours_is_not_built_level_by_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()
    expand = Probe.expand

    def counted(probe: Probe, rows: Rows) -> Successors:
        sizes.append(len(rows))
        return expand(probe, rows)

    monkeypatch.setattr(Probe, "expand", counted)
    most = BLOCK + 100
    quiet = text(most, most, most).replace("bound sometimes: x % 100 == 7", "when x < 0")
    kernel = load_text(quiet + "property there: eventually x > 60\nfair: go\n").kernel
    options = SearchOptions(properties=frozenset({"there"}), check_deadlock=False)
    report = selected(kernel, options, engine="native", cache=tmp_path).report
    assert next(each.outcome for each in report.properties if each.name == "there") is Outcome.HOLDS
    assert sizes == [BLOCK, most + 1 - BLOCK]
