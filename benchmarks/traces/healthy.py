"""The recorded runs as they are: false alarms, what was used, and how many of the writes that ZooKeeper stored the answer contains."""

from __future__ import annotations

from collections import Counter
from typing import Any

from assay.grammar.values import FrozenMap, RecordValue, Some, Value
from assay.traces.decode import encode
from assay.traces.validate import validate
from assay.traces.validation import SliceResult, TraceVerdict, Validation

from .recorded import StateWrite, events_of, reading, spec, state_writes

INTERNAL = "__consumer_offsets"


def healthy_run(run: str, *, zookeeper: bool) -> dict[str, Any]:
    """The figures of one run, with or without ZooKeeper's own log."""
    validation = validate(spec(), events_of(run, zookeeper=zookeeper))
    wanted = {write for write in state_writes()[run] if not write.partition.startswith(INTERNAL)}
    found = contained(validation)
    remarks = Counter(remark.severity for result in validation.slices for remark in result.remarks)
    counts = validation.counts
    return {
        "run": run,
        "input": "all nodes" if zookeeper else "brokers alone",
        "verdict": validation.verdict.value,
        "false_alarms": len(validation.violations) + len(validation.properties),
        "inconclusive": sum(result.verdict is TraceVerdict.INCONCLUSIVE for result in validation.slices),
        "lines_used": used_lines(run, validation),
        "unmapped": counts.unmapped,
        "hidden": dict(validation.hidden),
        "state_writes": len(wanted),
        "contained": len(wanted & found),
        "remarks": dict(remarks),
        "seconds": round(validation.seconds, 2),
    }


def used_lines(run: str, validation: Validation) -> dict[str, int]:
    """Lines of which some event is used, and lines whose events are all ignored by name."""
    ignored = {unread.kind for unread in validation.ignored}
    used = {e.record.place for e in events_of(run) if e.kind not in ignored}
    return {"used": len(used), "of": len({event.record.place for event in reading(run).events})}


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
    leader, isr, epoch, _, version = map(encode, state.value.fields)
    members = frozenset(int(str(member)) for member in isr) if isinstance(isr, tuple) else frozenset[int]()
    return StateWrite(
        result.name, int(str(version)), -1 if leader is None else int(str(leader)), members, int(str(epoch))
    )
