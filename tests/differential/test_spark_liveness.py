"""Tasks that each hold a part of the graph decide temporal properties as one process does: about random specs, and those of the corpus.

The tasks run here, without Spark, and what they send arrives in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import compile_kernel, with_behaviours
from assay.checker.engines.native_engine import Decide
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Behaviours
from assay.checker.liveness.confirm import Decisions
from assay.checker.print_kernel import Sources
from assay.checker.report import Outcome, Report
from assay.grammar.load import Loaded, load_spec
from assay.spark.exploration import publish, searched
from assay.spark.liveness import check as fair_runs
from assay.spark.liveness.check import decided_by_tasks
from assay.spark.liveness.product_tasks import GraphInfo, Receive, Rounds, Send, without_expressions
from assay.spark.search.cluster_bfs import ClusterSearch, SearchSite
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.tasks.task import Job

from .test_liveness import OPTIONS, agree
from .test_spark import MEMORY, Shuffled

CORPUS = Path(__file__).parent.parent / "corpus" / "liveness"


def shuffled(parts: int, random: Random) -> Rounds:
    """One task after the other; some of them run twice."""

    def run(send: Send, receive: Receive) -> list[str]:
        inbox: list[list[bytes]] = [[] for _ in range(parts)]
        for part in range(parts):
            for to, packet in send(part):
                inbox[to].append(packet)
        answers = []
        for part in range(parts):
            random.shuffle(inbox[part])
            if random.random() < 0.3:  # an attempt that came second, or whose answer was lost
                receive(part, inbox[part])
            answers.append(receive(part, inbox[part]))
        return answers

    return run


def report_of(loaded: Loaded, folder: Path, random: Random) -> Report:
    compiled = with_behaviours(loaded.kernel, compile_kernel(loaded.kernel, OPTIONS, folder), OPTIONS, folder)
    workdir = folder / new_name()
    workdir.mkdir()
    storage, parts = Storage(str(workdir)), random.choice([1, 2, 3, 7])

    def deciding(search: ClusterSearch) -> Decide:
        def decide(_: BlockSearch, behaviours: Behaviours, sources: Sources) -> Decisions:
            manifest = search.every_state()
            assert manifest is not None
            graph = GraphInfo(
                storage.uri, manifest, publish(storage, behaviours.code), parts, without_expressions(behaviours.plan)
            )
            return decided_by_tasks(search, behaviours, sources, graph, shuffled(parts, random))

        return decide

    place = SearchSite(Shuffled(Job(str(workdir), parts, MEMORY), random), storage, publish(storage, compiled), out=3)
    return searched(loaded.kernel, compiled, OPTIONS, place, loaded.sources, deciding).report


def tasks(folder: Path) -> Callable[[Loaded, int], Report]:
    """Tasks that store what they know in a folder."""
    return lambda loaded, seed: report_of(loaded, folder, Random(seed))


def answers(report: Report) -> dict[str, Outcome]:
    return {each.name: each.outcome for each in report.properties}


@pytest.mark.slow
def test_tasks_agree_on_temporal_properties(tmp_path: Path) -> None:
    seen = agree(range(20_000, 20_005), tasks(tmp_path))
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) >= 2


def followed(seeds: range, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[Outcome]:
    """Assert that runs are found that leave the states which the driver looks at, as the reference engine finds others; how often it said what."""
    monkeypatch.setattr(fair_runs, "FIRST", 1)
    return agree(seeds, tasks(folder), answers)


@pytest.mark.slow
def test_runs_are_followed_through_what_tasks_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = followed(range(22_000, 22_004), tmp_path, monkeypatch)
    assert min(seen[Outcome.HOLDS], seen[Outcome.VIOLATED]) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("first", [23_000])
def test_many_runs_are_followed_through_what_tasks_hold(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = followed(range(first, first + 12), tmp_path, monkeypatch)
    assert set(seen) >= {Outcome.HOLDS, Outcome.VIOLATED}


@pytest.mark.slow
@pytest.mark.parametrize("first", [21_000])
def test_tasks_agree_on_many_temporal_properties(first: int, tmp_path: Path) -> None:
    seen = agree(range(first, first + 25), tasks(tmp_path))
    assert set(seen) == {Outcome.HOLDS, Outcome.VIOLATED, Outcome.UP_TO_BOUND, Outcome.UNKNOWN, Outcome.VACUOUS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", [*sorted(CORPUS.glob("*.assay"))[::5], CORPUS / "nested_until.assay"], ids=lambda path: path.stem
)
def test_tasks_decide_the_corpus(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in five, for each takes half a minute, and one with runs that lead through nodes which are on no cycle."""
    monkeypatch.setattr(fair_runs, "FIRST", 1)
    loaded = load_spec(str(spec))
    alone = engine_selection.check(loaded.kernel, OPTIONS, loaded.sources, "native", tmp_path).report
    assert answers(tasks(tmp_path)(loaded, 1)) == answers(alone)
