"""Files of several clusters that Spark judges as one: the answer is inconclusive and says what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.unit.report.test_first_screen import answer

from assay.spark.logs.validate import judged_as_one
from assay.traces.result import TraceVerdict


def test_of_several_clusters_the_answer_is_inconclusive_whatever_it_was(tmp_path: Path) -> None:
    for numbers in ([1, 2], [1, 7, 2]):
        validation, _ = answer(tmp_path, numbers)
        assert judged_as_one(validation, ["one"]) is validation
        found = judged_as_one(validation, ["one", "two"])
        assert found.verdict is TraceVerdict.INCONCLUSIVE
        assert "logs of 2 clusters (one, two)" in (found.reason or "")
        assert "--clusters" in (found.reason or "")


def test_a_vacuous_answer_stays_so(tmp_path: Path) -> None:
    vacuous = replace(answer(tmp_path, [1, 2])[0], verdict=TraceVerdict.VACUOUS)
    assert judged_as_one(vacuous, ["one", "two"]) is vacuous
