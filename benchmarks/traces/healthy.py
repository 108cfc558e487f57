"""The recorded runs as they are: false alarms, what was used, and how many of the writes that were stored the answer contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from assay.grammar.values import FrozenMap, RecordValue, Some, Value
from assay.traces.event import Event
from assay.traces.observe.field_values import encode
from assay.traces.result import SliceResult, TraceVerdict, Validation
from assay.traces.validate import validate

from .recorded import StateWrite, asked, events_of, of_version, state_writes

INTERNAL = "__consumer_offsets"
PARTS = {"versions": (), "leader_and_epoch": ("leader", "leader_epoch"), "isr": ("isr",)}
"""The parts of writes that are compared each by itself."""

STATING = {
    "leader": frozenset({"BecameLeader", "IsrUpdated"}),
    "isr": frozenset[str](),
    "leader_epoch": frozenset[str](),
}
"""The fields of writes that lines state, with the kinds of lines that state them of their own broker."""


def healthy_run(run: str, *, brokers_alone: bool) -> dict[str, Any]:
    """The figures of one run, of all nodes or of the brokers alone."""
    events = events_of(run, brokers_alone=brokers_alone)
    loaded, clause = asked(events)
    validation = validate(loaded, events, clause=clause, options=of_version(run))
    wanted = {write for write in state_writes()[run] if not write.partition.startswith(INTERNAL)}
    found = contained(validation)
    remarks = Counter(remark.severity for result in validation.slices for remark in result.remarks)
    counts = validation.counts
    return {
        "run": run,
        "input": "brokers alone" if brokers_alone else "all nodes",
        "verdict": validation.verdict.value,
        "false_alarms": len(validation.violations) + len(validation.properties),
        "inconclusive": sum(result.verdict is TraceVerdict.INCONCLUSIVE for result in validation.slices),
        "unmapped": counts.unmapped,
        "hidden": dict(validation.hidden),
        "state_writes": len(wanted),
        "contained": len(wanted & found),
        **{f"contained_{name}": len(_seen(wanted, fields) & _seen(found, fields)) for name, fields in PARTS.items()},
        "stated": {name: len(wanted & _stated(events, wanted, name)) for name in STATING},
        "remarks": dict(remarks),
        "seconds": round(validation.seconds, 2),
    }


def _seen(writes: Iterable[StateWrite], fields: Sequence[str]) -> set[tuple[object, ...]]:
    """What is left of writes if these fields alone are looked at."""
    return {tuple(getattr(write, field) for field in ("partition", "version", *fields)) for write in writes}


def _stated(events: Iterable[Event], writes: Iterable[StateWrite], field: str) -> set[StateWrite]:
    """The writes of which some line states a field under their number; in the others it is inferred by the model."""
    logged = {
        (f"{e.fields['topic']}-{e.fields['partition']}", e.fields["version"]) for e in events if _states(e, field)
    }
    return {write for write in writes if (write.partition, write.version) in logged}


def _states(event: Event, field: str) -> bool:
    says = field in event.fields or (field == "leader" and event.kind in STATING["leader"])
    return says and {"topic", "partition", "version"} <= event.fields.keys()


def contained(validation: Validation) -> set[StateWrite]:
    """The states of partitions that the accepted execution goes through."""
    at = [variable.name for variable in validation.kernel.variables].index("leadership.stored")
    return {
        state
        for result in validation.slices
        for step in (result.execution.steps if result.execution is not None else ())
        if (state := _state(result, step.state[at])) is not None
    }


def _state(result: SliceResult, stored: Value) -> StateWrite | None:
    (state,) = stored.values() if isinstance(stored, FrozenMap) else (None,)
    if not (isinstance(state, Some) and isinstance(state.value, RecordValue)):
        return None
    leader, isr, epoch, *_, version = map(encode, state.value.fields)
    members = frozenset(int(str(member)) for member in isr) if isinstance(isr, tuple) else frozenset[int]()
    return StateWrite(
        result.name, int(str(version)), -1 if leader is None else int(str(leader)), members, int(str(epoch))
    )
