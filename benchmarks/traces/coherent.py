"""Coherent mutants: one fact changed in all lines of all nodes that state it, so that only the model's rules can tell.

The facts come from what ZooKeeper stored; which brokers were live, and who was controller, from the execution of the healthy log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.values import FrozenMap, RecordValue, Some, Value
from assay.traces.event import Event, Field, ProcessRun
from assay.traces.incremental.incremental_recheck import Change, RecheckAnswer, Retrial
from assay.traces.observe.field_values import encode

from .recorded import StateWrite, reading, retrial, state_writes

OF_THE_LEADER = frozenset({"IsrShrinking", "IsrExpanding", "IsrUpdateFailed", "AppendRefused"})
IN_PASSING = OF_THE_LEADER | {"FetchBegins", "FetchEpochMismatch", "Truncating", "PreferredLeaderElected"}
"""Lines that name a leader while they tell of something else, those of the leader itself first. A false history leaves out what it cannot restate."""

WITH_THE_DEAD = 3, 3
"""The first version of which it is not known that an ISR is written with a broker that is gone."""

Rewrite = Callable[[Event], Event | None]
"""An event in the false history; None if nobody would have written it there."""


@dataclass(frozen=True, slots=True)
class Coherent:
    """A false history of one partition, and the labels of the guards of which one has to be named; ``beside`` are others that it breaks."""

    run: str
    kind: str
    partition: str
    version: int
    text: str
    labels: tuple[str, ...]
    change: Change
    beside: tuple[str, ...] = ()

    def as_line(self, judgement: RecheckAnswer) -> dict[str, Any]:
        """The history and the answer about it in words."""
        blame = judgement.violations[0].blame[0] if judgement.violations else None
        return {
            "run": self.run,
            "kind": self.kind,
            "change": f"{self.partition} version {self.version}: {self.text}",
            "verdict": judgement.verdict.value,
            "blamed": None
            if blame is None
            else [f"{blame.place}".rpartition("!")[2], blame.action, *(part.text for part in blame.parts)],
            "contradiction": []
            if blame is None or judgement.violations[0].contradiction is None
            else list(judgement.violations[0].contradiction.rules),
            "properties": [broken.name for broken in judgement.properties],
        }


@dataclass(frozen=True, slots=True)
class History:
    """A partition's writes in order, its lines, and the brokers that its controllers took for live at each write, and what action it was."""

    run: str
    partition: str
    writes: tuple[StateWrite, ...]
    events: tuple[Event, ...]
    live: Mapping[int, frozenset[int]]
    replicas: frozenset[int]
    actions: Mapping[int, str]

    def reign(self, epoch: int) -> tuple[int, int]:
        """From when on lines state a leader epoch, and from when on a later one, in milliseconds."""
        times = [(e.fields["leader_epoch"], e.record.time or 0) for e in self.events if "leader_epoch" in e.fields]
        own = [time for stated, time in times if stated == epoch]
        later = [time for stated, time in times if isinstance(stated, int) and stated > epoch]
        return min(own, default=0), min(later, default=1 << 62)

    def change(self, rewrite: Rewrite) -> Change:
        """The false history as a change of the log."""
        found: Change = IdentityMemo()
        for event in self.events:
            new = rewrite(event)
            if new is not event:
                found[event] = () if new is None else (new,)
        return found


def histories(run: str) -> Iterator[History]:
    """The partitions of a run whose writes the transaction log holds all."""
    asked = retrial(run)
    for name, events in asked.parts.slices.items():
        writes = sorted((w for w in state_writes()[run] if w.partition == name), key=lambda w: w.version)
        if writes and [w.version for w in writes] == list(range(len(writes))):
            replicas = frozenset[int]().union(*(w.isr for w in writes))
            live, actions = _steps(asked, name, events)
            yield History(run, name, tuple(writes), tuple(events), live, replicas, actions)


def _steps(asked: Retrial, name: str, events: Sequence[Event]) -> tuple[dict[int, frozenset[int]], dict[int, str]]:
    """The brokers that a controller knew at each write of the healthy execution, and the write's action, by its version."""
    assert asked.joiner is not None
    variables = [variable.name for variable in asked.joiner.model.kernel.variables]
    view, stored = variables.index("membership.view"), variables.index("leadership.stored")
    found: dict[int, frozenset[int]] = {}
    actions: dict[int, str] = {}
    run = asked.joiner.of_slice(name, events).result.execution
    for step in run.steps if run is not None else ():
        states, views = step.state[stored], step.state[view]
        assert isinstance(states, FrozenMap)
        assert isinstance(views, FrozenMap)
        # The model of a slice has one partition.
        (state,) = states.values()
        if isinstance(state, Some) and isinstance(state.value, RecordValue):
            version = int(str(state.value.fields[4]))
            found.setdefault(version, max(map(_ids, views.values()), key=len))
            actions.setdefault(version, step.action or "")
    return found, actions


def _ids(view: Value) -> frozenset[int]:
    return (
        frozenset(int(str(broker)) for broker in map(encode, view.keys()))
        if isinstance(view, FrozenMap)
        else frozenset()
    )


def changed(event: Event, **fields: Field) -> Event:
    """The event with other values in fields that it has."""
    return replace(event, fields={**event.fields, **{n: v for n, v in fields.items() if n in event.fields}})


def stands_in(event: Event, low: int, high: int, epoch: int) -> bool:
    """Whether a line speaks of the versions from low to below high, or, where it states none, of a leader epoch."""
    version = event.fields.get("version")
    if isinstance(version, int):
        return low <= version < high
    return event.fields.get("leader_epoch") == epoch


def other_leader(history: History, at: StateWrite, new: int, isr: tuple[int, ...] | None = None) -> Change:
    """An update elects another leader, in every line of its leader epoch. The lines of who no longer leads, or no
    longer follows, are left out. Another ``isr`` is that of this update alone.
    """
    end = next(
        (w.version for w in history.writes if w.version > at.version and w.leader_epoch != at.leader_epoch), 1 << 30
    )
    begun, over = history.reign(at.leader_epoch)

    def rewrite(event: Event) -> Event | None:
        if event.kind in IN_PASSING and not event.fields.keys() & {"version", "leader_epoch"}:
            # The line states neither a version nor an epoch, so its time tells of which leader it is.
            own = event.fields["broker"] if event.kind in OF_THE_LEADER else event.fields.get("leader")
            return None if own == at.leader and begun <= (event.record.time or 0) < over else event
        if not stands_in(event, at.version, end, at.leader_epoch):
            return event
        if event.kind in ("BecameLeader", "IsrUpdated") and event.fields.get("broker") == at.leader:
            return None
        if event.kind in IN_PASSING and new in (event.fields.get("broker"), event.fields.get("leader")):
            return None
        if event.kind == "BecameFollower" and event.fields.get("broker") == new:
            return None
        line = changed(event, leader=new) if event.fields.get("leader") == at.leader else event
        return changed(line, isr=isr) if isr is not None and event.fields.get("version") in (None, at.version) else line

    return history.change(rewrite)


def elections(history: History) -> Iterator[tuple[StateWrite, StateWrite]]:
    """The writes that put another leader in place, each with the write before it."""
    for before, write in zip(history.writes, history.writes[1:], strict=False):
        if write.leader not in (-1, before.leader):
            yield before, write


def outside_isr(history: History) -> Iterator[Coherent]:
    """A leader from outside the ISR."""
    for before, write in elections(history):
        for new in sorted(
            history.live.get(write.version, frozenset()) & history.replicas - before.isr - {write.leader}
        ):
            yield false_history(
                history,
                "leader outside the ISR",
                write,
                f"leader {new}",
                ("in_sync",),
                other_leader(history, write, new),
            )


def not_first(history: History) -> Iterator[Coherent]:
    """A live in-sync replica that is not the first of the assignment leads."""
    for before, write in elections(history):
        for new in sorted(
            (history.live.get(write.version, frozenset()) & before.isr & write.isr) - {write.leader, before.leader}
        ):
            labels = ("first_in_order", "preferred")
            yield false_history(
                history,
                "not the first live in-sync replica",
                write,
                f"leader {new}",
                labels,
                other_leader(history, write, new),
                ("leader_leaves", "moved"),
            )


def dead_in_isr(history: History) -> Iterator[Coherent]:
    """A broker that is gone joins the ISR, in logs of versions not known to allow it. The next update still changes the
    ISR.
    """
    if any(tuple(map(int, version.split("."))) < WITH_THE_DEAD for version in reading(history.run).versions):
        return
    for before, write, after in zip(history.writes, history.writes[1:], history.writes[2:], strict=False):
        absent = sorted(history.replicas - write.isr - before.isr - history.live.get(write.version, history.replicas))
        if write.leader_epoch != before.leader_epoch or write.leader == -1 or not absent:
            continue
        dead = absent[0]
        if after.isr == write.isr | {dead}:
            continue
        end = next(
            (
                w.version
                for w in history.writes
                if w.version > write.version and (w.leader_epoch != write.leader_epoch or dead in w.isr)
            ),
            1 << 30,
        )

        def rewrite(event: Event, low: int = write.version, high: int = end, dead: int = dead) -> Event | None:
            if "before" in event.fields and event.kind in OF_THE_LEADER:
                return None
            version, isr = event.fields.get("version"), event.fields.get("isr")
            inside = isinstance(version, int) and low <= version < high
            return changed(event, isr=(*isr, dead)) if inside and isinstance(isr, tuple) else event

        yield false_history(
            history, "ISR expanded with a dead broker", write, f"ISR with {dead}", ("live",), history.change(rewrite)
        )


def epoch_kept(history: History) -> Iterator[Coherent]:
    """An election leaves the leader epoch."""
    for _, write in elections(history):

        def rewrite(event: Event, at: StateWrite = write) -> Event:
            version, epoch = event.fields.get("version"), event.fields.get("leader_epoch")
            # All later epochs are one less too. Else the next election would raise it by two, and another rule be
            # broken.
            later = (
                version >= at.version
                if isinstance(version, int)
                else isinstance(epoch, int) and epoch >= at.leader_epoch
            )
            return changed(event, leader_epoch=epoch - 1) if later and isinstance(epoch, int) else event

        yield false_history(
            history,
            "epoch not bumped",
            write,
            "leader epoch as before",
            ("leader_epoch", "epoch"),
            history.change(rewrite),
        )


def stale_obeyed(history: History) -> Iterator[Coherent]:
    """A broker that has obeyed an epoch obeys an earlier one: its second line of the later epoch reports the earlier."""
    seen: dict[Field, tuple[int, int]] = {}
    lines = [e for e in history.events if e.kind in ("BecameLeader", "BecameFollower", "LeaderAndIsrRestated")]
    for event in sorted(lines, key=lambda e: e.record.time or 0):
        broker, epoch = event.fields.get("broker"), event.fields.get("leader_epoch")
        before, latest = seen.get(broker, (-1, -1))
        if not isinstance(epoch, int):
            continue
        if epoch == latest and before >= 0 and event.kind == "LeaderAndIsrRestated":
            change: Change = IdentityMemo([(event, (changed(event, leader_epoch=before),))])
            write = next(w for w in history.writes if w.leader_epoch == epoch)
            yield false_history(
                history, "a stale request obeyed", write, f"epoch {before} after {latest}", ("not_stale",), change
            )
        seen[broker] = (latest, epoch) if epoch > latest else (before, latest)


def reassignment_cut(history: History) -> Iterator[Coherent]:
    """The line that ends a reassignment comes as soon as it began, before the new replica is in sync."""
    begun = min((e.record.time or 0 for e in history.events if e.kind == "ReassignmentSent"), default=0)
    for event in history.events:
        if event.kind == "ReassignmentTarget" and begun:
            early = replace(event, record=replace(event.record, time=begun + 1))
            write = history.writes[-1]
            yield false_history(
                history,
                "reassignment ended early",
                write,
                "ended when it began",
                ("replicas(p) <= s.isr",),
                IdentityMemo([(event, (early,))]),
            )


def needless_unclean(history: History) -> Iterator[Coherent]:
    """A replica from outside the ISR leads, and one in it was live. The next write lets it be in the ISR, which it changes: else another rule is broken, too."""
    isr_of = {each.version: each.isr for each in history.writes}
    for before, write in elections(history):
        live = history.live.get(write.version, frozenset())
        offline = before.leader == -1 or before.leader not in live
        for new in sorted((live & history.replicas) - before.isr):
            later = isr_of.get(write.version + 1, history.replicas)
            if offline and before.isr & live and new in later and later != {new}:
                change = other_leader(history, write, new, (new,))
                yield false_history(
                    history,
                    "unclean election with a live in-sync replica",
                    write,
                    f"leader {new}",
                    ("none_in_sync",),
                    change,
                )


def superseded(history: History) -> Iterator[Coherent]:
    """A write under the epoch of the controller before: in the controller's own line, and where the writer's epoch is logged."""
    for event in history.events:
        epoch, version = event.fields.get("epoch"), event.fields.get("version")
        if event.kind != "PartitionState" or not isinstance(epoch, int) or epoch < 2 or not isinstance(version, int):
            continue
        past = reign_of(history.run, epoch - 1)
        if (
            past is None
            or last_line(history.run, past.run) < (event.record.time or 0)
            or not any(_written(e, version - 1, epoch) for e in history.events)
        ):
            continue

        def rewrite(each: Event, now: int = epoch, at: int = version, old: Event = past) -> Event:
            if each.kind == "PartitionState" and each.fields.get("version") == at:
                own = {
                    "epoch": now - 1,
                    "controller": old.fields["winner"],
                    "node": str(old.run),
                    "broker": old.fields["winner"],
                }
                return replace(changed(each, **own), run=old.run)
            is_of_it = each.fields.get("version") == at and each.fields.get("controller_epoch") == now
            return changed(each, controller_epoch=now - 1) if is_of_it else each

        write = history.writes[version] if version < len(history.writes) else history.writes[-1]
        labels = ("not_fenced", "acting")
        yield false_history(
            history, "a write by a superseded controller", write, f"epoch {epoch - 1}", labels, history.change(rewrite)
        )


def _written(event: Event, version: int, epoch: int) -> bool:
    """Whether a controller's line says that it wrote a version under an epoch."""
    return event.kind == "PartitionState" and event.fields["version"] == version and event.fields["epoch"] == epoch


def reign_of(run: str, epoch: int) -> Event | None:
    """The line of the election of the controller with an epoch."""
    shared = retrial(run).parts.shared
    return next((e for e in shared if e.kind == "ControllerElected" and e.fields["epoch"] == epoch), None)


@cache
def last_line(run: str, process: ProcessRun) -> int:
    """When a process wrote its last line: one that has ended cannot have written anything after it."""
    return max(event.record.time or 0 for event in retrial(run).parts.all if event.run == process)


def false_history(
    history: History,
    kind: str,
    write: StateWrite,
    text: str,
    labels: tuple[str, ...],
    change: Change,
    beside: tuple[str, ...] = (),
) -> Coherent:
    """A false history of a partition, from one of its writes on."""
    return Coherent(history.run, kind, history.partition, write.version, text, labels, change, beside)
