"""Coherent mutants of the steps that are no elections: assignments, changes of the ISR, removals, what brokers obey; and elections that were not called for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Change

from .coherent import (
    OF_THE_LEADER,
    Coherent,
    History,
    Rewrite,
    changed,
    false_history,
    last_line,
    other_leader,
    reign_of,
)
from .recorded import StateWrite, retrial

Other = Callable[[frozenset[int]], frozenset[int]]
"""What an ISR is in a false history."""

Condition = Callable[[StateWrite], bool]
"""What is asked of the writes in which a false ISR is carried along."""

BY_REQUEST = ("change_isr", "write_isr", "write_isr_of_the_past", "change_isr_with_the_dead")
"""The actions that write the ISR that a leader asks for."""


def assigned_twice(history: History) -> Iterator[Coherent]:
    """A broker is assigned twice: the order of the replicas is the same."""
    for event in history.events:
        replicas = event.fields.get("replicas")
        if event.kind == "PartitionCreated" and isinstance(replicas, tuple) and len(replicas) < 3:
            change: Change = IdentityMemo([(event, (changed(event, replicas=(*replicas, replicas[-1])),))])
            text = f"replicas {replicas} and {replicas[-1]} again"
            yield false_history(history, "a broker assigned twice", history.writes[0], text, ("distinct",), change)


def needless_election(history: History) -> Iterator[Coherent]:
    """The preferred replica is elected as if there had been no leader."""
    for event in history.events:
        version = event.fields.get("version")
        if event.kind == "PartitionState" and isinstance(version, int) and history.actions.get(version) == "prefer":
            change: Change = IdentityMemo([(event, (changed(event, before="Offline"),))])
            yield false_history(
                history,
                "an election although the leader was there",
                history.writes[version],
                "the partition was offline",
                ("leaderless",),
                change,
            )


def same_isr(history: History) -> Iterator[Coherent]:
    """A leader asks for the ISR that is stored, or for one that differs only because it did not know the last update.
    So the broker that joined did not join.
    """
    for before, write in zip(history.writes, history.writes[1:], strict=False):
        joined = write.isr - before.isr
        if joined and before.isr <= write.isr and _is_asked_for(history, write):
            end = _end(history, write, _in_sync_and_no_leader(joined))
            if end is not None:
                change = history.change(with_isr(history, write, end, _without(joined)))
                text = f"ISR {sorted(before.isr)} as before"
                yield false_history(history, "an ISR that was there", write, text, ("other", "current"), change)


def without_leader(history: History) -> Iterator[Coherent]:
    """A leader asks for an ISR that it is not in."""
    for write in history.writes[1:]:
        leader = frozenset({write.leader})
        end = _end(history, write, _in_sync(leader))
        if _is_asked_for(history, write) and leader < write.isr and end is not None:
            change = history.change(with_isr(history, write, end, _without(leader)))
            text = f"ISR {sorted(write.isr - leader)} of leader {write.leader}"
            yield false_history(history, "an ISR without the leader", write, text, ("leads", "leader_in_isr"), change)


def no_replica(history: History) -> Iterator[Coherent]:
    """A leader asks for an ISR with a live broker that has no replica."""
    created = (e.fields.get("replicas") for e in history.events if e.kind == "PartitionCreated")
    own = frozenset(replica for replicas in created if isinstance(replicas, tuple) for replica in replicas)
    moved = any(event.kind == "ReassignmentSent" for event in history.events)
    for write in history.writes[1:] if own and not moved else ():
        end = _end(history, write, lambda _: True)
        for other in sorted(history.live.get(write.version, frozenset()) - own):
            if _is_asked_for(history, write) and end is not None:
                more = frozenset({other})
                change = history.change(with_isr(history, write, end, _with(more)))
                text = f"ISR with {other}, which has no replica"
                yield false_history(history, "an ISR with who has no replica", write, text, ("assigned",), change)


def live_removed(history: History) -> Iterator[Coherent]:
    """A live follower is taken out of the ISR instead of the one that is gone."""
    for before, write in zip(history.writes, history.writes[1:], strict=False):
        gone = before.isr - write.isr
        if history.actions.get(write.version) != "remove" or len(gone) != 1 or write.leader == -1:
            continue
        for other in sorted(write.isr & history.live.get(write.version, frozenset()) - {write.leader}):
            end = _end(history, write, _out_of_sync(gone, other))
            if end is not None:
                change = history.change(_instead(history, write, end, min(gone), other))
                text = f"{other} instead of {min(gone)}"
                yield false_history(history, "a live broker taken out of the ISR", write, text, ("gone",), change)


def superseded_isr(history: History) -> Iterator[Coherent]:
    """The ISR is written, or the leader epoch raised, by the controller before, which still runs."""
    for event in history.events:
        version, time = event.fields.get("version"), event.record.time or 0
        if event.kind not in ("IsrWritten", "LeaderEpochUpdated") or not isinstance(version, int):
            continue
        epoch = reign_at(history.run, event)
        past = None if epoch is None else reign_of(history.run, epoch - 1)
        if epoch is None or past is None or last_line(history.run, past.run) < time or past.run == event.run:
            continue

        def rewrite(each: Event, this: Event = event, at: int = version, now: int = epoch, old: Event = past) -> Event:
            if each is this:
                moved = Event(each.kind, each.pattern, each.fields, each.record, old.run, each.stream)
                return changed(moved, node=str(old.run), broker=old.fields["winner"])
            is_of_it = each.fields.get("version") == at and each.fields.get("controller_epoch") == now
            return changed(each, controller_epoch=now - 1) if is_of_it else each

        write = history.writes[version] if version < len(history.writes) else history.writes[-1]
        labels = ("not_fenced", "acting")
        text = f"epoch {epoch - 1}, {event.kind}"
        change = history.change(rewrite)
        yield false_history(history, "an ISR written by a superseded controller", write, text, labels, change)


def unclean_not_first(history: History) -> Iterator[Coherent]:
    """An unclean election of a live replica that is not the first of the assignment."""
    for before, write in zip(history.writes, history.writes[1:], strict=False):
        if history.actions.get(write.version) != "elect_unclean":
            continue
        of_reign = [w for w in history.writes if w.leader_epoch == write.leader_epoch and w.version > write.version]
        end = min(
            (w.version for w in history.writes if w.version > write.version and w.isr != write.isr), default=1 << 30
        )
        live = history.live.get(write.version, frozenset()) & history.replicas
        for new in sorted(live - before.isr - {write.leader}):
            if all(new in w.isr or w.version < end for w in of_reign):
                elected, put = (
                    other_leader(history, write, new),
                    with_isr(history, write, end, _only(new)),
                )
                change: Change = IdentityMemo()
                for event in history.events:
                    news = [line for e in elected.get(event, (event,)) if (line := put(e)) is not None]
                    if news != [event]:
                        change[event] = tuple(news)
                text = f"leader {new}"
                yield false_history(
                    history, "an unclean leader that is not the first", write, text, ("first_in_order",), change
                )


def unsent_epoch(history: History) -> Iterator[Coherent]:
    """A broker obeys at last an epoch that no request had."""
    epochs = (event.fields.get("leader_epoch") for event in retrial(history.run).parts.all)
    reached = max((epoch for epoch in epochs if isinstance(epoch, int)), default=0)
    latest = history.writes[-1].leader_epoch
    last: dict[object, Event] = {}
    for event in sorted(history.events, key=lambda each: each.record.time or 0):
        if event.kind in ("BecameLeader", "BecameFollower", "LeaderAndIsrRestated"):
            last[event.fields.get("broker")] = event
    for event in last.values():
        if event.fields.get("leader_epoch") == latest < reached and event.kind == "LeaderAndIsrRestated":
            change: Change = IdentityMemo([(event, (changed(event, leader_epoch=latest + 1),))])
            text = f"epoch {latest + 1} after {latest}"
            yield false_history(
                history, "an epoch obeyed that none was sent", history.writes[-1], text, ("sent",), change
            )


def _without(out: frozenset[int]) -> Other:
    return lambda isr: isr - out


def _with(more: frozenset[int]) -> Other:
    return lambda isr: isr | more


def _only(one: int) -> Other:
    return lambda _: frozenset({one})


def _in_sync(own: frozenset[int]) -> Condition:
    return lambda write: own < write.isr


def _in_sync_and_no_leader(own: frozenset[int]) -> Condition:
    return lambda write: own <= write.isr and write.leader not in own


def _out_of_sync(gone: frozenset[int], other: int) -> Condition:
    return lambda write: other in write.isr and write.leader != other and gone.isdisjoint(write.isr)


def _instead(history: History, write: StateWrite, end: int, gone: int, other: int) -> Rewrite:
    """A removal of another broker, in all lines up to a version."""
    put = with_isr(history, write, end, lambda isr: isr - {other} | {gone})

    def rewrite(event: Event) -> Event | None:
        line = put(event)
        is_of_it = event.fields.get("version") == write.version and event.fields.get("removed") == gone
        return changed(line, removed=other) if line is not None and is_of_it else line

    return rewrite


def with_isr(history: History, write: StateWrite, end: int, other: Other) -> Rewrite:
    """Another ISR in the lines of a write and of those up to a version; what leaders want to change goes."""
    reported = [(w.leader_epoch, w.isr) for w in history.writes if write.version <= w.version < end]

    def rewrite(event: Event) -> Event | None:
        if "before" in event.fields and event.kind in OF_THE_LEADER:
            return None
        version, isr = event.fields.get("version"), event.fields.get("isr")
        if not isinstance(isr, tuple):
            return event
        own = frozenset(member for member in isr if isinstance(member, int))
        epoch = event.fields.get("leader_epoch")
        inside = write.version <= version < end if isinstance(version, int) else (epoch, own) in reported
        return changed(event, isr=tuple(sorted(other(own)))) if inside else event

    return rewrite


def reign_at(run: str, event: Event) -> int | None:
    """The epoch under which a line's process was the controller that was elected last when it wrote the line."""
    elected = [e for e in retrial(run).parts.shared if e.kind == "ControllerElected" and _before(e, event)]
    latest = max(elected, key=lambda each: each.record.time or 0, default=None)
    epoch = None if latest is None or latest.run != event.run else latest.fields["epoch"]
    return epoch if isinstance(epoch, int) else None


def _before(one: Event, other: Event) -> bool:
    return (one.record.time or 0) <= (other.record.time or 0)


def _is_asked_for(history: History, write: StateWrite) -> bool:
    return history.actions.get(write.version) in BY_REQUEST


def _end(history: History, write: StateWrite, harmless: Condition) -> int | None:
    """Up to which version another ISR can be reported from a write on: the next one that a leader asks for. None if a write before that shows the difference.

    Beyond all versions if no leader asks for another.
    """
    for later in history.writes[write.version + 1 :]:
        if _is_asked_for(history, later) and write.isr <= later.isr:
            return later.version
        if _is_asked_for(history, later) or not harmless(later):
            return None
    return 1 << 30
