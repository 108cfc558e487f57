"""Records that are lost, or may be: partition, offsets, when, and on which brokers.

The evidence is one of four. A leader comes from outside the in-sync replicas. A follower's log ends beyond the offset
from which its new leader starts. A log is cut below its high watermark. Offsets are reset to a leader's earlier end. A
tail that was never committed may be cut without loss of what was promised, and is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, LogRecord
from assay.traces.log_reader import LogReading
from assay.traces.trouble.families import TroubleLine, TroubleLines
from assay.traces.trouble.finding import Gravity, LostRange, TroubleFinding
from assay.traces.trouble.identity import identity_of

TAKEN = frozenset(
    {
        *("truncation-not-allowed", "offset-reset-to-end", "truncated-below-high-watermark", "log-truncated"),
        *("truncated-to-high-watermark", "old-unclean-election"),
    }
)
"""The families whose lines are reported here."""

_KINDS = frozenset({"BecameLeader", "BecameFollower", "IsrUpdated", "IsrExpanding", "PartitionChanged"})


@dataclass(slots=True)
class _Replica:
    """What is known of a broker's replica: where its log ended, and up to where it knew records to be committed."""

    end: int | None = None
    high_watermark: int | None = None


@dataclass(slots=True)
class _Partition:
    """What is known of a partition so far.

    ``isr`` may be in sync, as lines tell it. ``unclean`` are the leader epochs of leaders from outside it, with the ISR
    before. ``starts`` are the offsets from which leaders started. ``followed`` says which broker followed in which
    epoch. ``committed`` is the greatest high watermark that a line of an epoch tells.
    """

    isr: frozenset[int] | None = None
    epoch: int = -1
    unclean: dict[int, _Election] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    followed: set[tuple[int, int]] = field(default_factory=set)
    committed: dict[int, int] = field(default_factory=dict)
    replicas: dict[int, _Replica] = field(default_factory=dict)

    def note_mark(self, epoch: int, mark: object) -> None:
        """Note a high watermark that a replica knew in an epoch."""
        if isinstance(mark, int):
            self.committed[epoch] = max(mark, self.committed.get(epoch, 0))

    def committed_before(self, epoch: int) -> int:
        """Up to which offset records were committed before an epoch, as far as lines tell."""
        return max((mark for each, mark in self.committed.items() if each < epoch), default=0)

    def replica(self, broker: int) -> _Replica:
        """What is known of a broker's replica."""
        return self.replicas.setdefault(broker, _Replica())


@dataclass(slots=True)
class _Election:
    """An election from outside the in-sync replicas, the lines that show it, and what it is known to have lost."""

    leader: int
    isr: frozenset[int]
    record: LogRecord
    certain: bool = True
    start: int | None = None
    committed: int = 0
    lost: list[tuple[int, int, LogRecord]] = field(default_factory=list)

    @property
    def is_below_committed(self) -> bool:
        """Whether the new leader's log ends before records that were committed."""
        return self.start is not None and self.start < self.committed


def data_loss(reading: LogReading, lines: TroubleLines) -> Iterator[TroubleFinding]:
    """The findings about lost records."""
    partitions: dict[str, _Partition] = {}
    own = (line for line in lines.of(*(TAKEN & {family.name for family in lines.families})))
    events = reading.of_kinds(_KINDS)
    # In KRaft mode the controller itself says which elections are unclean.
    by_zookeeper = "kraft" not in identity_of(reading).modes
    for item in _by_time(events, own):
        if isinstance(item, Event):
            name = f"{item.fields.get('topic')}-{item.fields.get('partition')}"
            partition = partitions.setdefault(name, _Partition())
            # Before the event is taken in: it is compared with what was known of earlier epochs.
            yield from _below_committed(name, partition, item)
            _take_event(partition, item, by_zookeeper=by_zookeeper)
        else:
            name = item.partition or _log_of(item)
            yield from _take_line(name, partitions.setdefault(name, _Partition()), item)
    for name, partition in partitions.items():
        # A leader's ISR may be older than the controller's: only with records that were cut is that evidence.
        shown = (each for each in partition.unclean.values() if each.certain or each.lost or each.is_below_committed)
        yield from (_unclean(name, each) for each in shown)


def _by_time(events: Iterable[Event], lines: Iterable[TroubleLine]) -> list[Event | TroubleLine]:
    """Events and lines in the order of their times; those of one file in the order of writing."""
    every: list[Event | TroubleLine] = [*events, *lines]
    return sorted(every, key=lambda each: (each.record.time or 0, each.record.place.file, each.record.place.line))


def _log_of(line: TroubleLine) -> str:
    """The partition that the head of a log's line names."""
    return line.record.message.partition("partition=")[2].partition(",")[0].partition("]")[0]


def _take_event(partition: _Partition, event: Event, *, by_zookeeper: bool) -> None:
    """Take in a change of leader or ISR."""
    fields = event.fields
    broker, isr = fields.get("broker"), _ids(fields.get("isr"))
    match event.kind:
        case "BecameLeader" if isinstance(broker, int):
            _leader(partition, event, broker, isr, by_zookeeper=by_zookeeper)
        case "BecameFollower" if isinstance(broker, int):
            _follower(partition, event, broker)
        case "IsrUpdated":
            partition.isr = isr
        case "IsrExpanding":
            # This line is written before the new ISR is. Until `IsrUpdated` either may hold, so both count as in sync.
            partition.isr = (partition.isr or frozenset()) | _ids(fields.get("after"))
        case "PartitionChanged" if fields.get("unclean") and _is_unclean(event):
            epoch, leader = fields.get("leader_epoch"), fields.get("leader")
            if isinstance(epoch, int) and isinstance(leader, int) and epoch not in partition.unclean:
                partition.unclean[epoch] = _Election(leader, _ids(fields.get("isr_before")), event.record)
                partition.isr = isr or None
        case _:
            pass


def _below_committed(name: str, partition: _Partition, event: Event) -> Iterator[TroubleFinding]:
    """A leader whose log ends before what was committed in earlier epochs. Its disk was emptied, or an unclean election
    has no line that calls it so.
    """
    epoch, offset, broker = (event.fields.get(key) for key in ("leader_epoch", "offset", "broker"))
    if event.kind not in {"BecameLeader", "BecameFollower"} or not isinstance(epoch, int):
        return
    if epoch == 0 and (event.kind == "BecameLeader" or offset == 0):  # the topic was created, perhaps again
        partition.committed.clear()
    if event.kind == "BecameLeader" and isinstance(offset, int) and epoch > partition.epoch:
        committed = partition.committed_before(epoch)
        if offset < committed and epoch not in partition.unclean and not _is_outside(partition, event):
            yield _lost_by_leader(name, event, broker, LostRange(name, offset, committed, certain=True))
    mark = event.fields.get("high_watermark")
    if event.kind == "BecameFollower":
        # What a follower knew before may go beyond its leader's log, and is cut then: it is reported as lost there.
        start = partition.starts.get(epoch)
        mark = min(mark, start) if isinstance(mark, int) and start is not None else None
    partition.note_mark(epoch, mark)


def _is_outside(partition: _Partition, event: Event) -> bool:
    """Whether a broker leads that was not in the in-sync replicas: that is reported as an unclean election."""
    isr = _ids(event.fields.get("isr"))
    return bool(partition.isr and isr and event.fields.get("broker") not in partition.isr)


def _lost_by_leader(name: str, event: Event, broker: object, lost: LostRange) -> TroubleFinding:
    return TroubleFinding(
        gravity=Gravity.LOST,
        heading=f"{name} lost committed records",
        text=(
            f"Broker {broker} became leader of {name} with a log that ends at offset {lost.begin}; records up to "
            f"{lost.end} had been committed: offsets {lost.begin} to {(lost.end or 0) - 1} are lost, {lost.records:,} records."
        ),
        advice="Look for a log directory that was emptied, restored or not flushed before a crash. Other replicas have the records until they follow this leader.",
        nodes=(f"broker {broker}",),
        partitions=(name,),
        begin=event.record.time,
        end=event.record.time,
        lines=(event.record,),
        lost=(lost,),
    )


def _is_unclean(event: Event) -> bool:
    """Whether a change that KRaft calls unclean is that.

    It calls the end of a reassignment with a new leader so, and the election of an eligible replica (KIP-966).
    """
    leader, before, eligible, isr = (event.fields.get(name) for name in ("leader", "isr_before", "elr_before", "isr"))
    if event.fields.get("recovery") is not None:
        return True
    return isinstance(leader, int) and _ids(isr) == {leader} and leader not in _ids(before) | _ids(eligible)


def _ids(value: object) -> frozenset[int]:
    """The broker ids of a field."""
    if isinstance(value, str):
        return frozenset(int(part) for part in value.split(",") if part.strip().isdigit())
    return frozenset(part for part in value if isinstance(part, int)) if isinstance(value, tuple) else frozenset()


def _leader(partition: _Partition, event: Event, broker: int, isr: frozenset[int], *, by_zookeeper: bool) -> None:
    """A broker starts to lead: by an unclean election if it was not in the in-sync replicas before."""
    epoch, offset = event.fields.get("leader_epoch"), event.fields.get("offset")
    if not isinstance(epoch, int) or not isinstance(offset, int):
        return
    if epoch < partition.epoch and epoch == 0:  # the topic was created again
        partition.starts, partition.replicas, partition.followed, partition.committed = {}, {}, set(), {}
        partition.epoch, partition.isr = -1, None
    election = partition.unclean.get(epoch)
    # An empty ISR is an unknown one. An older epoch is a line that came late, and shows no election.
    outside = partition.isr and isr and broker not in partition.isr and epoch > partition.epoch
    if election is None and outside and by_zookeeper and partition.isr is not None:
        election = partition.unclean[epoch] = _Election(broker, partition.isr, event.record, certain=False)
    if election is not None:
        election.start = offset
        election.committed = max(election.committed, partition.committed_before(epoch))
    # What is lost is reported once: later leaders are measured against what is left.
    partition.committed = {each: min(mark, offset) for each, mark in partition.committed.items()}
    partition.starts[epoch] = offset
    partition.epoch = max(epoch, partition.epoch)
    partition.isr = isr or partition.isr
    mark = event.fields.get("high_watermark")
    replica = partition.replica(broker)
    replica.end, replica.high_watermark = offset, mark if isinstance(mark, int) else None


def _follower(partition: _Partition, event: Event, broker: int) -> None:
    """A broker starts to follow: what it has beyond the start of its leader is cut."""
    epoch, offset, mark = (event.fields.get(key) for key in ("leader_epoch", "offset", "high_watermark"))
    replica = partition.replica(broker)
    replica.end = offset if isinstance(offset, int) else None
    replica.high_watermark = mark if isinstance(mark, int) else None
    if not isinstance(epoch, int) or not isinstance(offset, int):
        return
    start = partition.starts.get(epoch)
    election = partition.unclean.get(epoch)
    # Only the first line of an epoch has the log's end before it was cut to the leader's.
    first = (broker, epoch) not in partition.followed
    partition.followed.add((broker, epoch))
    if first and start is not None and start < offset and election is not None:
        election.lost.append((start, offset, event.record))


def _take_line(name: str, partition: _Partition, line: TroubleLine) -> Iterator[TroubleFinding]:
    """Take in a line of a log that is cut, or of an offset that is reset."""
    # Lines without a broker share one replica, which no broker has.
    replica = partition.replica(-1 if line.broker is None else line.broker)
    end, leader_end, mark, offset = (line.number(key) for key in ("end", "leader_end", "high_watermark", "offset"))
    message = line.record.message
    if "truncation is not allowed" in message and leader_end is not None:
        yield _not_allowed(name, line, leader_end, end)
    elif end is not None and leader_end is not None:
        if leader_end < end:
            # Records below a high watermark were committed. What lay above it may be cut without any loss.
            certain = replica.high_watermark is not None and replica.high_watermark > leader_end
            yield _cut(name, line, LostRange(name, leader_end, end, certain), "its leader ended there")
        replica.end = leader_end
    elif "below high watermark" in message and offset is not None:
        yield _cut(name, line, LostRange(name, offset, mark, certain=True), f"its high watermark was {mark}")
        replica.end = replica.high_watermark = offset
    elif "local high watermark" in message:
        replica.high_watermark = mark
    elif "potential data loss" in message:
        leader = line.number("leader")
        # The line names no leader epoch, so the election gets a key that no epoch has.
        partition.unclean.setdefault(-1 - len(partition.unclean), _Election(leader or 0, frozenset(), line.record))
    elif offset is not None:
        yield from _truncated(name, partition, replica, line, offset)


def _truncated(
    name: str, partition: _Partition, replica: _Replica, line: TroubleLine, offset: int
) -> Iterator[TroubleFinding]:
    """A log is cut: a loss if that is below the high watermark that the replica knew."""
    election = max(partition.unclean.items(), default=None, key=lambda each: each[0])
    if election is not None and election[1].lost and election[0] == partition.epoch:
        begin, end, record = election[1].lost[-1]
        election[1].lost[-1] = (min(begin, offset), end, record)
    elif replica.high_watermark is not None and offset < replica.high_watermark:
        end = replica.end if replica.end is not None and replica.end > offset else replica.high_watermark
        why = f"below its high watermark {replica.high_watermark}"
        yield _cut(name, line, LostRange(name, offset, end, certain=True), why)
    replica.end = offset
    if replica.high_watermark is not None:
        replica.high_watermark = min(replica.high_watermark, offset)


def _cut(name: str, line: TroubleLine, lost: LostRange, why: str) -> TroubleFinding:
    count = "" if lost.records is None else f": {lost.records:,} records"
    sure = "" if lost.certain else ", of which some may never have been committed"
    return TroubleFinding(
        gravity=Gravity.LOST if lost.certain else Gravity.RISK,
        heading=f"the log of {name} was cut",
        text=f"On {line.who} the log of {name} was cut from offset {lost.end} to {lost.begin}, {why}{count}{sure}.",
        advice="Look for an unclean leader election or a lost disk shortly before, and for another replica that still has the records.",
        nodes=(line.who,),
        partitions=(name,),
        begin=line.record.time,
        end=line.record.time,
        lines=(line.record,),
        lost=(lost,),
    )


def _not_allowed(name: str, line: TroubleLine, leader_end: int, end: int | None) -> TroubleFinding:
    lost = LostRange(name, leader_end, end, certain=False)
    leader = line.record.message.partition("leaderId=")[2].partition(",")[0]
    of = f"leader {leader}" if leader.isdigit() else "the leader"
    count = "" if lost.records is None else f": {lost.records:,} records are on {line.who} alone"
    return TroubleFinding(
        gravity=Gravity.RISK,
        heading=f"{name}: the leader has less than a follower, which stopped itself",
        text=(
            f"{name}: {of} ends at offset {leader_end}, and the replica of {line.who} at {end}{count}. "
            f"{line.who} stopped rather than delete them (unclean.leader.election.enable=false)."
        ),
        advice=f"Keep the log directory of {line.who}. Start it first, alone or as the leader of {name}, or accept the loss by allowing an unclean election for the topic.",
        reference="KIP-101",
        nodes=(line.who,),
        partitions=(name,),
        begin=line.record.time,
        end=line.record.time,
        lines=(line.record,),
        lost=(lost,),
    )


def _unclean(name: str, election: _Election) -> TroubleFinding:
    """The finding about an election from outside the in-sync replicas."""
    isr = ", ".join(map(str, sorted(election.isr))) or "none"
    outside = f"broker {election.leader}, from outside the in-sync replicas [{isr}], became leader of {name}"
    from_ = f" from offset {election.start} on" if election.start is not None else ""
    lost = tuple(LostRange(name, begin, end, certain=True) for begin, end, _ in election.lost)
    if not lost and election.is_below_committed:
        lost = (LostRange(name, election.start, election.committed, certain=True),)
    if lost:
        worst = max(lost, key=lambda each: each.records or 0)
        reported = f": offsets {worst.begin} to {(worst.end or 0) - 1} are lost, {worst.records:,} records"
    else:
        reported = ": what it lacks is lost; no line tells how much"
    records = (election.record, *(record for _, _, record in election.lost))
    return TroubleFinding(
        gravity=Gravity.LOST if lost else Gravity.RISK,
        heading=f"unclean leader election of {name}",
        text=f"{outside[0].upper()}{outside[1:]}{from_}{reported}.",
        advice="If the earlier leader has not started as a follower yet, copy its log directory first: it still holds the lost records. Set unclean.leader.election.enable=false if records matter more than availability.",
        reference="KIP-106",
        nodes=(f"broker {election.leader}",),
        partitions=(name,),
        begin=records[0].time,
        end=records[-1].time,
        count=len(records),
        lines=records,
        lost=lost or (LostRange(name, election.start, None, certain=False),),
    )
