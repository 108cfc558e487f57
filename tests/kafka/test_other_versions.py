"""Clusters of versions that the recordings of `test_recordings` are not of: topics created again, a cluster wiped, and no false alarm."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.spec_selection import validate_with_selection

from .recorded import RECORDINGS


@dataclass(frozen=True)
class Other:
    """A recording, how many events are of use to the model, its slices that were created again, and how often the cluster began anew."""

    run: str
    used: int
    again: frozenset[str]
    wiped: int = 0

    def __str__(self) -> str:
        return self.run


AGAIN = frozenset({"again-0#2", "again-0#3", "again-1#2", "again-1#3"})
WIPED = frozenset({"audit-0#2", "audit-1#2", "orders-0#2", "orders-1#2", "orders-2#2"})
OTHERS = [
    Other("zookeeper-0.11.0.3", 3382, AGAIN),
    Other("zookeeper-1.0.2", 6429, AGAIN),
    Other("zookeeper-1.1.1", 6394, AGAIN | {"again-0#4", "again-1#4"}),
    Other("zookeeper-2.2.2", 6196, frozenset()),
    Other("zookeeper-2.6.3", 1511, AGAIN | WIPED, wiped=1),
    Other("zookeeper-3.0.2", 2766, AGAIN),
    Other("kraft-3.3.2", 1976, AGAIN | {"again-0#4", "again-1#4"}),
    Other("kraft-3.7.2", 1621, AGAIN | WIPED, wiped=1),
    Other("kraft-4.1.1", 3815, AGAIN | {"again-0#4", "again-1#4"}, wiped=1),
    # Three nodes that are brokers and controllers.
    Other("kraft-4.2.2", 6875, AGAIN),
    # Voters were taken off and added.
    Other("kraft-4.4.0", 4951, AGAIN),
]


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_cluster_of_another_version_is_no_false_alarm_and_no_line_of_it_is_unknown(other: Other) -> None:
    reading = read_logs([RECORDINGS / f"{other.run}.tar.xz"])
    _, found = validate_with_selection(reading, None, lambda spec: load(spec, None, {}))
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    assert (found.violations, found.properties) == ((), ())
    assert (found.counts.used, found.counts.unmapped) == (other.used, 0)
    assert frozenset(result.name for result in found.slices if "#" in result.name) == other.again
    assert found.hidden.get("begin_anew", 0) == other.wiped


@pytest.mark.parametrize("version", ["0.10.2.2", "0.11.0.3", "1.0.2", "2.2.2", "2.6.3", "3.0.2"])
def test_every_protocol_line_of_another_version_has_a_shape(version: str) -> None:
    reading = read_logs([RECORDINGS / f"zookeeper-{version}.tar.xz"])
    assert (reading.unmapped, reading.versions) == ((), (version,))
    assert {"ProcessStarting", "SessionEstablished", "PartitionCreated", "ControllerReady"} <= reading.kinds.keys()
