"""What will not go on by itself: partitions without a leader in KRaft mode, and reassignments that do not end.
Shutdowns that cannot move leaders, and registrations that are refused, are such cases too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, LogRecord, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.patterns.statement_catalogue import statement_catalogue
from assay.traces.trouble.families import LINES_SHOWN
from assay.traces.trouble.finding import Gravity, TroubleFinding
from assay.traces.trouble.known_bugs import in_words

NO_LEADER_MS = 20_000
"""A partition that has had no leader for so long, while others had changes, is reported as waiting (milliseconds)."""

SLOW_MOVE_MS, STUCK_MOVE_MS = 60_000, 600_000
"""A reassignment that has not ended is worth knowing after the first time, and stuck after the second (milliseconds)."""

REFUSED = "a broker is refused: its id is taken"
_CHANGES = frozenset({"PartitionChanged", "PartitionRecordReplayed"})
_REMOVED = frozenset({"TopicRemoved", "TopicDeletion"})
_MOVING = frozenset({"ReassignmentSent", "ReassignmentStep", "AssignmentChanged", "ReassignmentCompleted"})
_IN_SYNC = frozenset({"IsrUpdated", "BecameLeader"})
_SHUTDOWN = frozenset({"ControlledShutdownRetried", "ControlledShutdownGaveUp", "ControlledShutdownSucceeded"})
_INCARNATION = frozenset(
    {
        *_CHANGES,
        *_IN_SYNC,
        "BrokerRegistrationReplayed",
        "BrokerUnfencing",
        "QuorumLeader",
        "FetcherAdded",
        "ControllerElected",
    }
)
"""Events after which a cluster is taken to live on."""
_MOVED = re.compile(
    r"(?:partition |partitions |reassigned |Set\()\[?([\w.-]{1,249})[-,](\d+)\]?(?: from the list| being reassigned|\)|$)"
)
_LAGGING = re.compile(r"Replica\(s\) ([\d,]+) still need to catch up")


def stuck(reading: LogReading) -> Iterator[TroubleFinding]:
    """The findings."""
    # By events of a living cluster: a last line of a process that stops would make everything look as if it had waited.
    ends = max((event.record.time or 0 for event in reading.of_kinds(_INCARNATION)), default=0)
    yield from _leaderless(reading, ends)
    yield from _moves(reading, ends)
    yield from _shutdowns(reading, ends)
    yield from _refused(reading)


def _name(event: Event) -> str:
    return f"{event.fields.get('topic')}-{event.fields.get('partition')}"


def _ids(value: object) -> frozenset[int]:
    return frozenset(each for each in value if isinstance(each, int)) if isinstance(value, tuple) else frozenset()


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _in_time(events: Iterator[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.record.time or 0, event.record.place.file, event.record.place.line))


# ----------------------------------------------------------------------------------------------- partitions without leader


@dataclass(slots=True)
class _State:
    """A partition as the controller's lines tell it; ``since`` is the line from which on it has no leader."""

    isr: frozenset[int] = frozenset()
    eligible: frozenset[int] = frozenset()
    since: LogRecord | None = None


def _leaderless(reading: LogReading, ends: int) -> Iterator[TroubleFinding]:
    """Partitions without a leader to the end of the logs of a KRaft controller, by the brokers that may lead them."""
    states: dict[str, _State] = {}
    # By topic, so that a cluster of which thousands of topics are deleted is not gone through for each.
    of_topic: dict[str, list[str]] = defaultdict(list)
    for event in _in_time(reading.of_kinds(_CHANGES | _REMOVED)):
        name = _name(event)
        if event.kind in _REMOVED:
            for each in of_topic.pop(str(event.fields.get("topic")), ()):
                states.pop(each, None)
            continue
        if name not in states:
            of_topic[name.rpartition("-")[0]].append(name)
        _change(states.setdefault(name, _State()), event)
    waiting: dict[frozenset[int], list[tuple[str, LogRecord]]] = {}
    for name, state in states.items():
        if state.since is not None and ends - (state.since.time or 0) >= NO_LEADER_MS:
            waiting.setdefault(state.isr | state.eligible, []).append((name, state.since))
    for brokers, found in waiting.items():
        names, records = [name for name, _ in found], [record for _, record in found]
        who = ", ".join(map(str, sorted(brokers)))
        yield TroubleFinding(
            gravity=Gravity.STUCK,
            heading="partitions without a leader",
            text=f"{_listed(names)}: no leader to the end of the logs; only brokers [{who}] may lead them.",
            advice=f"Start broker {who}. An unclean election makes them available without the records that only those have.",
            nodes=tuple(f"broker {each}" for each in sorted(brokers)),
            partitions=tuple(names),
            begin=min(record.time or 0 for record in records),
            end=ends,
            count=len(found),
            lines=tuple(records[:LINES_SHOWN]),
        )


def _change(state: _State, event: Event) -> None:
    fields = event.fields
    if fields.get("isr") is not None:
        state.isr = _ids(fields["isr"])
    # Eligible leader replicas (KIP-966): they have every committed record, and may lead if the ISR is empty.
    if fields.get("elr") is not None:
        state.eligible = _ids(fields["elr"])
    # A change that does not name the leader leaves it as it was.
    logged = "leader_before" not in fields or fields["leader_before"] != fields.get("leader")
    if "leader" in fields and logged:
        # The first line without a leader counts: later ones, as of a shrinking ISR, do not begin the wait anew.
        state.since = (state.since or event.record) if fields["leader"] is None else None


# -------------------------------------------------------------------------------------------------------- reassignments


@dataclass(slots=True)
class _Move:
    """A partition that is being moved: since when, to which replicas, and which of them lag, as far as lines tell."""

    record: LogRecord
    adding: frozenset[int]
    lagging: frozenset[int] | None = None


def _moves(reading: LogReading, ends: int) -> Iterator[TroubleFinding]:
    """Reassignments that have not ended when the logs do, and the replicas that lag."""
    moves: dict[str, _Move] = {}
    in_sync: dict[str, frozenset[int]] = {}
    for event in _in_time(reading.of_kinds(_MOVING | _IN_SYNC | _CHANGES | _REMOVED)):
        if event.kind in _REMOVED:
            topic = event.fields.get("topic")
            moves = {name: each for name, each in moves.items() if name.rpartition("-")[0] != topic}
        elif event.kind == "ReassignmentStep":
            _step(moves, event)
        else:
            _move(moves, _name(event), event)
            if event.fields.get("isr"):
                in_sync[_name(event)] = _ids(event.fields["isr"])
    for name, move in moves.items():
        lasts = ends - (move.record.time or 0)
        behind = move.lagging if move.lagging is not None else move.adding - in_sync.get(name, frozenset())
        if lasts < SLOW_MOVE_MS or not behind:
            continue
        who = ", ".join(map(str, sorted(behind)))
        yield TroubleFinding(
            gravity=Gravity.STUCK if lasts >= STUCK_MOVE_MS else Gravity.WARNING,
            heading=f"the reassignment of {name} does not end",
            text=f"{name} is being moved for {in_words(lasts)} when the logs end; the replicas on brokers [{who}] are not in sync.",
            advice=f"Check that broker {who} is alive, has room on its disks and no throttle (follower.replication.throttled.rate); kafka-reassign-partitions.sh --cancel takes the move back.",
            nodes=tuple(f"broker {each}" for each in sorted(behind)),
            partitions=(name,),
            begin=move.record.time,
            end=ends,
            lines=(move.record,),
        )


def _move(moves: dict[str, _Move], name: str, event: Event) -> None:
    """Take in an event of one partition: a move begins or ends."""
    fields = event.fields
    if event.kind == "ReassignmentCompleted":
        moves.pop(name, None)
    elif event.kind in {"AssignmentChanged", "ReassignmentSent", "PartitionRecordReplayed"} and "adding" in fields:
        adding = _ids(fields["adding"])
        if adding:
            # The record of the first line stays: the move has lasted since then.
            moves.setdefault(name, _Move(event.record, adding)).adding = adding
        else:
            moves.pop(name, None)


def _step(moves: dict[str, _Move], event: Event) -> None:
    """Take in a line of a ZooKeeper mode controller about a move, whose partition is in its text."""
    text = str(event.fields.get("step"))
    # The controller deletes /admin/reassign_partitions then: no move is left.
    if text.startswith("No more partitions need to be reassigned"):
        moves.clear()
        return
    found = [f"{topic}-{number}" for topic, number in _MOVED.findall(text)]
    lagging = _LAGGING.search(text)
    if lagging is not None:
        behind = frozenset(map(int, filter(None, lagging[1].split(","))))
        for name in found:
            moves.setdefault(name, _Move(event.record, behind)).lagging = behind
    elif text.startswith(("Target replicas", "Removing partition", "Successfully updated")) or "have caught up" in text:
        for name in found:
            moves.pop(name, None)


# ---------------------------------------------------------------------------------------------------- shutdowns, registrations


def _shutdowns(reading: LogReading, ends: int) -> Iterator[TroubleFinding]:
    """Brokers whose controlled shutdown was refused again and again, and that gave it up or are still trying."""
    trying: dict[ProcessRun, list[Event]] = {}
    for event in _in_time(reading.of_kinds(_SHUTDOWN)):
        if event.kind == "ControlledShutdownSucceeded":
            trying.pop(event.run, None)
        else:
            trying.setdefault(event.run, []).append(event)
    for run, events in trying.items():
        gave_up = events[-1].kind == "ControlledShutdownGaveUp"
        # Where all brokers stop together, nobody is left to take over.
        if (not gave_up and len(events) < 3) or ends - (events[-1].record.time or 0) < NO_LEADER_MS:
            continue
        broker = next((each.fields["broker"] for each in events if isinstance(each.fields.get("broker"), int)), None)
        who = run.node if broker is None else f"broker {broker}"
        remaining = [each.record.message.partition("Remaining partitions to move: ")[2] for each in events]
        names = next((f": it still led {text}" for text in reversed(remaining) if text), "")
        yield TroubleFinding(
            gravity=Gravity.WARNING if gave_up else Gravity.STUCK,
            heading="a controlled shutdown cannot move leaders",
            text=f"{who[0].upper()}{who[1:]} {'stopped without' if gave_up else 'tries in vain'} handing over its partitions{names}.",
            advice="These partitions have no other in-sync replica that is alive, or no controller answered: start a replica, or accept that they are offline.",
            nodes=(who,),
            begin=events[0].record.time,
            end=events[-1].record.time,
            count=len(events),
            lines=tuple(each.record for each in events[:LINES_SHOWN]),
        )


def _refused(reading: LogReading) -> Iterator[TroubleFinding]:
    """Brokers that are refused because their id is taken, and by whom."""
    openers: dict[object, ProcessRun] = {}
    refused: dict[tuple[ProcessRun, object], list[Event]] = {}
    kinds = frozenset({"SessionEstablished", "RegistrationRefused", "BrokerNodeCreated", "BrokerRegistered"})
    for event in _in_time(reading.of_kinds(kinds)):
        if event.kind == "SessionEstablished":
            openers[event.fields.get("session")] = event.run
        elif event.kind == "RegistrationRefused":
            refused.setdefault((event.run, event.fields.get("owner_session")), []).append(event)
        else:
            # It is registered after all, so the refusals before it are over.
            refused = {key: events for key, events in refused.items() if key[0] != event.run}
    for (run, session), events in refused.items():
        broker, owner = events[0].fields.get("broker"), openers.get(session)
        holder = "a process whose log was not read" if owner is None else f"{owner}"
        holder = "its own earlier session" if owner == run else holder
        yield TroubleFinding(
            gravity=Gravity.STUCK,
            heading=REFUSED,
            text=f"{run} may not register as broker {broker}: the id belongs to {holder} (session {session}).",
            advice=statement_catalogue().named("node-exists").advice
            if owner in (None, run)
            else f"Give {run} another broker.id, or do not start it: {owner} is broker {broker}.",
            nodes=(str(run),) if owner in (None, run) else (str(run), str(owner)),
            begin=events[0].record.time,
            end=events[-1].record.time,
            count=len(events),
            lines=tuple(each.record for each in events[:LINES_SHOWN]),
        )
