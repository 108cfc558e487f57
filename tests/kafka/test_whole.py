"""Recorded clusters whose partitions are all consistent are so together, and one search finds it where the partitions lead."""

from __future__ import annotations

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import select_spec

from .recorded import archive


@pytest.mark.slow
@pytest.mark.parametrize("run", ["A0", "A2", "A6", "B1", "C2", "zookeeper-0.11.0.3", "kraft-3.7.2"])
def test_all_partitions_of_a_recorded_cluster_have_one_execution(run: str) -> None:
    reading = read_logs([archive(run)])
    choice = select_spec(reading.kinds)
    found = validate_in_scope(load(choice.spec, None, {}), reading, Options(whole=True), choice.clause)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.whole is not None
    assert (found.whole.verdict, found.whole.reason) == (TraceVerdict.CONSISTENT, None)
