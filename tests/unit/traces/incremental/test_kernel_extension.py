"""A process that starts later makes no difference to what slices could do before; a broker that nobody knew may."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from benchmarks.synthetic import generate

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.incremental.kernel_extension import slices_equal_before
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.scoped_validate import AnswerScope, validate_shared_in_scope
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.timeline.shared_timeline import agree_before


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> LogReading:
    logs = tmp_path_factory.mktemp("logs")
    generate(logs, 30_000, brokers=3, partitions=3, violations=0, seed=2)
    return read_logs([logs])


@pytest.fixture(scope="module")
def whole(reading: LogReading) -> Joiner:
    return joiner(reading, None)


def joiner(reading: LogReading, until: int | None) -> Joiner:
    spec = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")
    shared, _, _ = validate_shared_in_scope(spec, reading, DEFAULT_OPTIONS, None, AnswerScope(until=until))
    assert shared.joint is not None
    return Joiner(shared.joint)


def starts(reading: LogReading) -> list[int]:
    """When each process began, in order."""
    found = (event.record.time for event in reading.of_role("process start"))
    return sorted(time for time in found if time is not None)


def elements(each: Joiner, sort: str) -> tuple[str, ...]:
    return next(known.elements for known in each.joint.split.kernel.sorts if known.name == sort)


@pytest.mark.slow
def test_a_process_that_starts_later_makes_no_difference_before(reading: LogReading, whole: Joiner) -> None:
    begun = starts(reading)
    until = begun[-1] - 1
    old, new = joiner(reading, until), whole
    assert len(elements(old, "Process")) < len(elements(new, "Process"))
    assert elements(old, "Broker") == elements(new, "Broker")
    assert begun[-2] < slices_equal_before(old, new) < inf
    assert slices_equal_before(new, old) == -inf  # an element is lost


@pytest.mark.slow
def test_a_broker_that_nobody_knew_makes_a_difference(reading: LogReading, whole: Joiner) -> None:
    old, new = joiner(reading, starts(reading)[1] - 1), whole
    assert len(elements(old, "Broker")) < len(elements(new, "Broker"))
    assert slices_equal_before(old, new) == -inf


@pytest.mark.slow
def test_a_new_process_that_can_act_makes_a_difference(reading: LogReading) -> None:
    """The guards that refuse it are left out of an action that no line needs to report."""
    old, new = joiner(reading, starts(reading)[-1] - 1), joiner(reading, None)
    assert "remove" in new.model.plan.numbered
    for each in (old, new):
        kernel = each.joint.split.kernel
        free = tuple(
            replace(action, body=action.body[2:]) if action.name == "remove" else action for action in kernel.actions
        )
        each.joint = replace(each.joint, split=replace(each.joint.split, kernel=replace(kernel, actions=free)))
    assert slices_equal_before(old, new) == -inf


def test_chains_agree_up_to_where_they_part(whole: Joiner) -> None:
    chain = whole.joint.chain
    shorter = replace(chain, states=chain.states[:-2], earliest=chain.earliest[:-2])
    assert agree_before(chain, replace(chain)) == inf
    assert agree_before(shorter, chain) == agree_before(chain, shorter) == chain.earliest[-2] - chain.skew
    other = replace(chain, states=(chain.states[1], *chain.states[1:]))
    assert agree_before(chain, other) == -inf
    thread, mates = next((thread, own) for thread, own in chain.mates.items() if len(own) > 1)
    moved = [*mates[:-1], replace(mates[-1], before=0)]
    assert agree_before(chain, replace(chain, mates={**chain.mates, thread: moved})) == mates[-2].time
    later = [*mates, replace(mates[-1], time=mates[-1].time + 5, before=len(chain.states))]
    assert agree_before(chain, replace(chain, mates={**chain.mates, thread: later})) == mates[-1].time + 5
