"""The oracle and the engines share no code that decides when a search ends or what a finding is."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.engines import native_engine, reference_engine
from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.confirmed_findings import ConfirmedFindings
from assay.checker.explicit.dfs import DepthFirstBlockSearch
from assay.checker.explicit.engine_search import EngineSearch
from assay.checker.explicit.limits import ExplicitLimits
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.reference.dfs import DepthFirstSearch
from assay.checker.reference.property_monitor import Watch
from assay.checker.report import Outcome, Report
from assay.checker.simulate.random_walks import Simulation
from assay.checker.symbolic.bounded import bmc
from assay.checker.symbolic.bounded.bmc import BoundedSearch
from assay.grammar.load import load_text
from assay.spark.search.cluster_bfs import ClusterSearch

ENGINES = (BlockSearch, DepthFirstBlockSearch, ClusterSearch, BoundedSearch, Simulation)
ORACLES = (Search, DepthFirstSearch, Watch)

COUNTER = """\
module counter
state:
    x: 0 .. 9 = 0
action count:
    when x < 9
    x := x + 1
invariant small: x < 3
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_inherits_the_oracle(engine: type) -> None:
    assert EngineSearch in engine.__mro__
    assert not [base for base in engine.__mro__ if base.__module__.startswith("assay.checker.reference")]


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_oracle_inherits_no_engine(oracle: type) -> None:
    rooms = {base.__module__ for base in oracle.__mro__} - {"builtins"}
    assert all(room.startswith("assay.checker.reference.") for room in rooms)


@pytest.mark.parametrize("engine", [*ENGINES, ConfirmedFindings, ExplicitLimits])
@pytest.mark.parametrize("oracle", ORACLES)
def test_no_method_is_common(engine: type, oracle: type) -> None:
    own = [name for name in dir(oracle) if not name.startswith("__")]
    code = [name for name in own if callable(getattr(oracle, name)) or isinstance(getattr(oracle, name), property)]
    assert not [name for name in code if getattr(engine, name, None) is getattr(oracle, name)]


def _answers(cache: Path, options: SearchOptions) -> tuple[Report, Report, Report]:
    """What the reference engine, the native one and the bounded search say."""
    kernel = load_text(COUNTER).kernel
    compiled = compile_kernel(kernel, options, cache)
    return (
        reference_engine.check(kernel, options),
        native_engine.check(kernel, compiled, options),
        bmc.check(kernel, options),
    )


def _outcomes(reports: tuple[Report, ...]) -> list[Outcome]:
    return [each.outcome for report in reports for each in report.properties if each.name == "small"]


def test_they_agree(tmp_path: Path) -> None:
    assert _outcomes(_answers(tmp_path, SearchOptions(threads=1))) == [Outcome.VIOLATED] * 3


def test_an_oracle_that_overlooks_violations_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "see_state", lambda *_: None)
    found = _outcomes(_answers(tmp_path, SearchOptions(threads=1)))
    assert found == [Outcome.HOLDS, Outcome.VIOLATED, Outcome.VIOLATED]


def test_an_oracle_that_does_not_stop_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "_decide_to_stop", lambda _: None)
    oracle, native, bounded = _answers(tmp_path, SearchOptions(threads=1))
    assert oracle.stopped is None
    assert native.stopped == "the search ended in level 4, where `small` is violated"
    assert bounded.stopped == native.stopped


def test_engines_that_do_not_stop_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EngineSearch, "_end_if_violated", lambda _: None)
    oracle, native, _ = _answers(tmp_path, SearchOptions(threads=1, max_depth=12))
    assert (oracle.statistics.depth, native.statistics.depth) == (4, 10)
