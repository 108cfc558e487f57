"""Events have one key exactly if they state the same in the fields that rules name; what no rule names makes no difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.model_size import trace_plan
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.match import PatternMatcher
from assay.traces.patterns.template_fields import LineFields
from assay.traces.table.statement_keys import StatementKeys, named_by

CACHED = (
    "[Broker id={broker}] Cached leader info UpdateMetadataPartitionState(topicName='t', partitionIndex=1, controllerEpoch=1, leader={leader}, "
    "leaderEpoch=3, isr=[{isr}], zkVersion=4, replicas=[1, 2], offlineReplicas=[]) for partition t-1 in response to UpdateMetadata request "
    "sent by controller 1 epoch 1 with correlation id {correlation}"
)


def events(broker: int = 1, leader: int = 2, isr: str = "1, 2", correlation: int = 7) -> dict[str, Event]:
    """The events of a line by kind, as events of a slice."""
    message = CACHED.format(broker=broker, leader=leader, isr=isr, correlation=correlation)
    patterns = RECOGNISER.patterns_of("state.change.logger")
    assert patterns is not None
    record = LogRecord(LogPosition("a.log", 1, 0), 0, "TRACE", "state.change.logger", None, message)
    run = ProcessRun(f"broker-{broker}", 1)
    found = {}
    for finding in patterns.find(message)[0]:
        assert isinstance(finding.fields, LineFields)
        more = {"node": str(run), "slice": "x"}
        found[finding.pattern.kind] = Event(
            finding.pattern.kind, finding.pattern.name, finding.fields.with_more(more), record, run
        )
    return found


RECOGNISER = PatternMatcher(load_catalogue(()))
STATE = "PartitionMetadataReceived"


@pytest.fixture(scope="module")
def keys() -> StatementKeys:
    """Those of the model of Kafka."""
    kernel = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay").kernel
    return StatementKeys(named_by(trace_plan(kernel, None).rules))


def test_what_no_rule_names_makes_no_difference(keys: StatementKeys) -> None:
    first = keys.of(events()[STATE])
    assert first is not None
    assert keys.of(events(broker=2)[STATE]) == first
    assert keys.of(events(correlation=12345)[STATE]) == first


def test_what_a_rule_names_tells_statements_apart(keys: StatementKeys) -> None:
    found = [events(), events(leader=1), events(isr="1"), events(isr="2"), events(isr="")]
    assert len({keys.of(each[STATE]) for each in found}) == len(found)
    one, other = (events(broker=number)["RequestFromController"] for number in (1, 2))
    assert keys.of(one) != keys.of(other)


def test_the_same_text_of_another_kind_is_another_statement(keys: StatementKeys) -> None:
    assert len({keys.of(event) for event in events().values()}) == len(events())


def test_events_whose_fields_were_changed_have_no_key(keys: StatementKeys) -> None:
    event = events()[STATE]
    assert keys.of(replace(event, fields=dict(event.fields))) is None
