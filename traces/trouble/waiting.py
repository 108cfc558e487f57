"""What waits, and for whom: leaders whose ISR writes are refused, partitions that nobody may lead, a quorum without a
majority.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.traces.event import Event
from assay.traces.log_reader import LogReading
from assay.traces.trouble.families import LINES_SHOWN, TroubleLine, TroubleLines
from assay.traces.trouble.finding import Gravity, TroubleFinding
from assay.traces.trouble.known_bugs import in_words, signatures

TAKEN = frozenset({"cached-version", "partition-offline"})
"""The families whose lines are reported here."""

_LOOP_MS, _LOOP_LINES = 60_000, 3
"""A leader whose writes are refused so long and so often (at one version) will not learn of a newer one by itself."""

_NO_LEADER_MS = 20_000
"""A quorum that has had no leader for so long (milliseconds) is reported as waiting."""

_RETRIES = 2
"""After so many elections without a result, the candidate of an excerpt is taken to wait."""

_STOPPING_MS = 60_000
"""A process that was told to stop may take so long."""

_MEMBERS = ("QuorumCandidate", "QuorumProspective", "QuorumUnattached", "QuorumFollower", "QuorumLeader")
_LAST = frozenset({"BecameLeader", "BecameFollower", "ControllerElected", "IsrUpdated", "FetcherAdded"})
"""Events after which a cluster is taken to live on."""

_WITH_LEADER = frozenset({"QuorumFollower", "QuorumLeader"})
_STOPPED = frozenset({"QuorumResigned", "SignalReceived"})


def waiting(reading: LogReading, lines: TroubleLines) -> Iterator[TroubleFinding]:
    """The findings about what waits."""
    own = {family.name for family in lines.families}
    if "cached-version" in own:
        yield from _refused_leaders(reading, lines.of("cached-version"))
    if "partition-offline" in own:
        yield from _offline(reading, lines.of("partition-offline"))
    yield from _no_majority(reading)


def _refused_leaders(reading: LogReading, lines: list[TroubleLine]) -> Iterator[TroubleFinding]:
    """Leaders whose ISR writes are refused again and again at one version, where no known bug explains it."""
    versions = {node.name: node.versions for node in reading.nodes}
    # In versions with this bug (KAFKA-2729) `known_bugs` reports the same lines.
    bug = next(each for each in signatures() if each.lines and each.lines["statement"] == "cached-version")
    alike: dict[tuple[str, str, int | None], list[TroubleLine]] = {}
    for line in lines:
        alike.setdefault((line.named_partition or "?", line.who, line.number("version")), []).append(line)
    for (partition, who, version), found in alike.items():
        begin, end = found[0].time, found[-1].time
        if (
            len(found) < _LOOP_LINES
            or end - begin < _LOOP_MS
            or bug.concerns(versions.get(found[0].node) or reading.versions)
        ):
            continue
        yield TroubleFinding(
            gravity=Gravity.STUCK,
            heading=f"the leader of {partition} is refused its ISR writes (`Cached zkVersion`)",
            text=(
                f"{who[0].upper()}{who[1:]} leads {partition} at version {version}, and every ISR write has been refused "
                f"for {in_words(end - begin)}: somebody wrote newer versions, of which it was not told."
            ),
            advice=f"Restart {who}: its cached version stays behind until the controller sends it the partition's state again.",
            nodes=(who,),
            partitions=(partition,),
            begin=found[0].record.time,
            end=found[-1].record.time,
            count=len(found),
            lines=tuple(each.record for each in found[:LINES_SHOWN]),
        )


def _leaderless(
    reading: LogReading, lines: list[TroubleLine]
) -> tuple[dict[str, TroubleLine], dict[str, tuple[object, ...]]]:
    """The last line about each partition that has no leader to the end of the logs, and the ISRs that lines state."""
    last = {line.partition: line for line in lines}
    isr: dict[str, tuple[object, ...]] = {}
    kinds = frozenset({"BecameLeader", "BecameFollower", "TopicDeletion", "IsrUpdated"})
    # By time: of what several brokers say of an ISR the latest counts, whichever log is read last.
    for event in sorted(reading.of_kinds(kinds), key=lambda each: each.record.time or 0):
        topic, time = event.fields.get("topic"), event.record.time or 0
        if event.kind == "TopicDeletion":
            # The line names the topic alone: none of its partitions needs a leader any more.
            last = {name: line for name, line in last.items() if name.rpartition("-")[0] != topic or line.time >= time}
            continue
        name = f"{topic}-{event.fields.get('partition')}"
        # An ISR may be written of a partition that has no leader; a leader or a follower shows that it has one again.
        if name in last and time > last[name].time and event.kind != "IsrUpdated":
            del last[name]
        own = event.fields.get("isr")
        if isinstance(own, tuple) and own:
            isr[name] = own
    return last, isr


def _offline(reading: LogReading, lines: list[TroubleLine]) -> Iterator[TroubleFinding]:
    """Partitions without a leader to the end of the logs, by the replicas that are allowed to lead them."""
    last, isr = _leaderless(reading, lines)
    ends = max((event.record.time or 0 for event in reading.of_kinds(_LAST)), default=0)
    stopped = [event.record.time or 0 for event in reading.of_kinds(frozenset({"SignalReceived"}))]
    by_brokers: dict[tuple[object, ...], list[str]] = {}
    for name in last:
        by_brokers.setdefault(isr.get(name, ()), []).append(name)
    for brokers, names in by_brokers.items():
        found = [last[name] for name in names]
        listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        who = ", ".join(map(str, brokers))
        of = (
            f"their in-sync replicas are on brokers [{who}] alone" if who else "none of their in-sync replicas is alive"
        )
        # From the last failed attempt on, so that all of them have waited for at least so long.
        lasts = ends - max(each.time for each in found) >= _NO_LEADER_MS
        if not lasts and any(time >= min(each.time for each in found) - _STOPPING_MS for time in stopped):
            continue  # the cluster is being shut down
        yield TroubleFinding(
            gravity=Gravity.STUCK if lasts else Gravity.WARNING,
            heading="partitions without a leader" if lasts else "partitions without a leader when the logs end",
            text=f"{listed}: no leader to the end of the logs; {of}.",
            advice=f"Start {'broker ' + who if who else 'the brokers that hold them'}. An unclean election makes them available without the records that only those have.",
            nodes=tuple(f"broker {each}" for each in brokers),
            partitions=tuple(names),
            begin=min(each.time for each in found),
            end=max(each.time for each in found),
            count=len(found),
            lines=tuple(each.record for each in found[:LINES_SHOWN]),
        )


def _no_majority(reading: LogReading) -> Iterator[TroubleFinding]:
    """A metadata quorum that elects nobody to the end of the logs, and the voters of which nothing is heard."""
    events = sorted(reading.of_kinds(frozenset((*_MEMBERS, *_STOPPED))), key=lambda event: event.record.time or 0)
    since: Event | None = None
    candidates: list[Event] = []
    received: dict[int, int] = {}
    for event in events:
        node = _node_of(event)
        if node is not None:
            # The last line of each, for events are in the order of their times.
            received[node] = event.record.time or 0
        if event.kind in _WITH_LEADER or event.kind in _STOPPED:
            since, candidates = None, []
        elif event.kind in {"QuorumCandidate", "QuorumProspective"}:
            since = since or event
            candidates.append(event)
    if since is None or (len(candidates) < 2 and not reading.is_excerpt):
        return
    begin, end = since.record.time or 0, candidates[-1].record.time or 0
    voters = _voters(candidates[-1])
    awake = {node for node, time in received.items() if time >= begin}
    missing = sorted(voters - awake)
    tried = re.search(r"\bretries=(\d{1,9})", candidates[-1].record.message)
    long = end - begin >= _NO_LEADER_MS or (reading.is_excerpt and tried is not None and int(tried[1]) >= _RETRIES)
    # Where a majority of the voters is heard, missing voters are not what keeps them from an election.
    if not long or not voters or len(voters - set(missing)) > len(voters) // 2:
        return
    silent = ", ".join(map(str, missing))
    yield TroubleFinding(
        gravity=Gravity.STUCK,
        heading="the metadata quorum has no majority",
        text=(
            f"The voters [{', '.join(map(str, sorted(awake & voters)))}] elect no leader; nothing is heard of voters "
            f"[{silent}], and {len(voters) // 2 + 1} of {len(voters)} are needed."
        ),
        advice=f"Start voters {silent}, or check that they are reached at their controller listener.",
        nodes=tuple(f"node {each}" for each in sorted(awake & voters)),
        begin=begin,
        end=end,
        count=len(candidates),
        lines=tuple(each.record for each in candidates[:LINES_SHOWN]),
    )


def _node_of(event: Event) -> int | None:
    found = next((event.fields[name] for name in ("voter", "member", "node_id") if name in event.fields), None)
    return found if isinstance(found, int) else None


def _voters(event: Event) -> set[int]:
    """The voters that a line of a quorum state names."""
    # `voters=[1, 2, 3]` in most states; a candidate prints `voteStates={101=…, 102=…}` instead.
    found = re.search(r"voters=\[([\d, ]+)\]", event.record.message)
    if found is not None:
        return set(map(int, re.findall(r"\d+", found[1])))
    granted = re.search(r"voter?States=\{([^}]*)\}", event.record.message)
    return set() if granted is None else set(map(int, re.findall(r"(\d+)=", granted[1])))
