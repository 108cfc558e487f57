"""Executors that do not have this package get it, from the command line by itself; whoever does not want that is told what is missing."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay.spark
from assay.checker.options import SearchOptions
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.spark.exploration import explore
from assay.spark.session.local_cluster import SMALL, Standalone
from assay.spark.session.options import ClusterOptions
from assay.spark.session.ship_package import SHIP, pack
from assay.traces.samples import unpack_sample

WALK = """\
module walk
type Count = 0 .. 12
state:
    x: Count = 0
    y: Count = 0
action right:
    when x < 12
    x := x + 1
action up:
    when y < 12
    y := y + 1
terminal: true
"""
BARE = {**SMALL, "spark.cores.max": "1"}
HIDDEN = """\
import sys
from importlib.machinery import PathFinder


class Sent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "assay":
            return None
        found = PathFinder.find_spec(name, [each for each in sys.path if each.endswith(".zip")])
        if found is None:
            raise ModuleNotFoundError("No module named 'assay'", name=name)
        return found


sys.meta_path.insert(0, Sent)
"""
"""What Python runs first in executors that find this package only where it was sent to them, installed or not."""


def test_the_package_is_sent_whole(tmp_path: Path) -> None:
    pack(tmp_path / "assay.zip")
    with zipfile.ZipFile(tmp_path / "assay.zip") as packed:
        names = set(packed.namelist())
    for name in (
        "__init__.py",
        "grammar/load.py",
        "spark/tasks/task.py",
        "traces/patterns/rules/spec_selection.toml",
        "spec/kafka/cluster.assay",
    ):
        assert f"assay/{name}" in names
    assert not any("__pycache__" in name for name in names)


@pytest.mark.slow
@pytest.mark.spark
def test_executors_that_lack_the_package_get_it(
    cluster: Standalone, session_of: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(HIDDEN)
    spark = session_of(cluster.url, {**BARE, SHIP: "false", "spark.executorEnv.PYTHONPATH": str(tmp_path / "first")})
    logs = unpack_sample("elections", tmp_path / "logs")
    with pytest.raises(SpecError) as problem:
        assay.spark.validate(spark, logs)
    (found,) = problem.value.diagnostics
    assert found.code == "E833"
    assert "No module named 'assay'" in found.message
    assert "assay.spark.ship(spark)" in found.notes[1].message
    spark.conf.set(SHIP, "true")
    with assay.spark.validate(spark, logs) as answer:
        assert answer.answers[""].verdict.value == "consistent"
    report = explore(spark, load_text(WALK).kernel, SearchOptions(), ClusterOptions(1, out=4)).report
    assert report.statistics.depth == 25
