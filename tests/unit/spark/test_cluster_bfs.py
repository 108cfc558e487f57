"""Of what several tasks have found the same is looked at, whichever was done first; a search that goes on is the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.explicit.shard import ShardFinding
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.search_interface.protocols import Stopped
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.spark.exploration import Exploration, explore, searched
from assay.spark.search.cluster_bfs import ClusterSearch, SearchSite
from assay.spark.session.options import ClusterOptions
from assay.spark.storage.filesystem import Storage
from assay.spark.storage.manifest import newest
from assay.spark.tasks.job import JobFailedError
from assay.spark.tasks.task import TaskReport


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_each_kind_the_finding_with_the_smallest_fingerprint_counts(order: tuple[int, ...]) -> None:
    found = [ShardFinding("dead", 0, number, (number,)) for number in (7, 5, 9)]
    reports = [SimpleNamespace(sources=(found[at],), states=(ShardFinding("state", 1, 3, (3,)),)) for at in order]
    noted: list[Any] = []
    search: Any = SimpleNamespace(
        _event=lambda finding, source: (finding, source), findings=SimpleNamespace(note=noted.append)
    )
    ClusterSearch._note(search, reports, 4)  # type: ignore[arg-type]  # what it reads of them
    assert sorted(noted, key=lambda each: each[0].kind) == [(found[1], 4), (ShardFinding("state", 1, 3, (3,)), 4)]


COUNT = """module count
state:
    a: 0 .. 9 in 1 .. {}
    b: 0 .. 9 = 0
action up:
    when room: b < 9
    b := b + 1
terminal done: b == 9
invariant low: a + b < 12
"""


def test_a_search_with_other_initial_states_does_not_go_on(tmp_path: Path) -> None:
    """Compiled code does not tell them apart, and the states that are kept would answer for those of the other spec."""
    storage, nobody = Storage(str(tmp_path / "work")), SimpleNamespace(name="none", dear=True, close=lambda: None)
    storage.begin()

    def go_on(most: int, **limits: int) -> Exploration:
        kernel, options = load_text(COUNT.format(most)).kernel, SearchOptions(**limits)  # type: ignore[arg-type]
        site: Any = SearchSite(nobody, storage, "program", newest(storage))
        return searched(kernel, compile_kernel(kernel, options, tmp_path / "objects"), options, site)

    assert go_on(2, max_depth=3).report.properties
    with pytest.raises(SpecError) as problem:
        go_on(7)
    (found,) = problem.value.diagnostics
    assert (found.code, "it has other initial states" in found.message) == ("E835", True)
    (low,) = [each for each in go_on(2).report.properties if each.name == "low"]
    assert low.outcome is Outcome.HOLDS


@pytest.mark.parametrize("parts", [-1, 257])
def test_a_number_of_tasks_that_owners_cannot_be_dealt_to_is_refused(parts: int) -> None:
    with pytest.raises(SpecError) as problem:
        explore(None, load_text(COUNT.format(1)).kernel, cluster=ClusterOptions(parts))  # type: ignore[arg-type]  # no session is asked
    assert [each.code for each in problem.value.diagnostics] == ["E838"]


def test_a_job_is_tried_again_unless_another_attempt_would_fail_the_same_way() -> None:
    tried: list[str] = []

    def search(*problems: JobFailedError) -> Any:
        left = list(problems)

        def level(*_: object) -> list[TaskReport]:
            tried.append("level")
            if left:
                raise left.pop(0)
            return []

        at, findings = SimpleNamespace(exchange=SimpleNamespace(level=level)), SimpleNamespace(known=set())
        return SimpleNamespace(
            _at=at, findings=findings, depth=3, _heed_limits=None, _sweep=lambda: None, _pause=lambda _: None
        )

    lost = JobFailedError("an executor is gone")
    assert ClusterSearch._outcomes(search(lost, lost), "manifest") == []
    assert len(tried) == 3
    with pytest.raises(Stopped, match="in level 3: no memory"):
        ClusterSearch._outcomes(search(JobFailedError("no memory", "E836")), "manifest")
    assert len(tried) == 4
