"""Events of slices, in the table of a whole log and in one that has nothing but their records."""

from __future__ import annotations

import numpy as np
import pytest

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.event import Event
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.observe.model_size import trace_plan
from assay.traces.observe.slice_assignment import SlicedEvents, sliced
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.samples import sample
from assay.traces.table.event_selection import detached
from assay.traces.table.event_table import fields_read, in_order


@pytest.fixture(scope="module")
def reading() -> LogReading:
    return read_logs([sample("elections")])


@pytest.fixture(scope="module")
def parts(reading: LogReading) -> SlicedEvents:
    plan = trace_plan(load_spec(bundled_specs()[0] / "kafka" / "cluster.assay").kernel, None)
    assert plan.slicing is not None
    return sliced(plan.slicing, reading.events, fields_read(plan))


def test_slices_are_sent_with_their_own_records_alone(parts: SlicedEvents, reading: LogReading) -> None:
    names = list(parts.slices)[:3]
    own = {name: parts.slices[name] for name in names}
    sent = from_bytes(to_bytes(detached(own)), reading.catalogue)
    assert list(sent) == names
    for name in names:
        assert list(sent[name]) == list(own[name])
        assert sent[name].numbers.tolist() == own[name].numbers.tolist()
        assert sent[name].earliest() == own[name].earliest()
        assert len(sent[name].table) < len(own[name].table)


def test_examples_state_all_that_is_stated(parts: SlicedEvents) -> None:
    """Of a kind, the fields that rules name have the same values in the examples as in all events."""

    def stated(event: Event) -> tuple[str, str]:
        return event.kind, repr([(name, event.fields.get(name)) for name in sorted(parts.names[event.kind])])

    assert parts.distinct("stated", stated) == set(map(stated, parts.all))


def test_positions_are_put_in_the_order_of_their_numbers() -> None:
    numbers = np.random.default_rng(1).integers(0, 50, 1000).astype(np.int32)
    order, begins = in_order(numbers, 60)
    assert order.tolist() == np.argsort(numbers, kind="stable").tolist()
    assert begins.tolist() == np.searchsorted(numbers[order], np.arange(61)).tolist()
    assert [each.tolist() for each in in_order(np.empty(0, np.int32), 0)] == [[], [0]]
