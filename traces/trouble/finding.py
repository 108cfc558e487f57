"""What lines of trouble tell: findings ordered by gravity, lines that are explained, and lines that are not."""

from __future__ import annotations

from enum import IntEnum

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, LogRecord


class Gravity(IntEnum):
    """How grave a finding is; the gravest comes first."""

    LOST = 0
    """Records are lost."""
    RISK = 1
    """Records may be lost."""
    ENDED = 2
    """A process ended itself, or cannot start."""
    STUCK = 3
    """Something waits, and will not go on by itself."""
    BUG = 4
    """A bug of Kafka that is known."""
    DAMAGED = 5
    """A part has failed, and the rest goes on."""
    WARNING = 6
    """Worth knowing."""

    @property
    def words(self) -> str:
        """The gravity in words."""
        return _WORDS[self]


_WORDS = {
    Gravity.LOST: "data lost",
    Gravity.RISK: "data at risk",
    Gravity.ENDED: "a process ended",
    Gravity.STUCK: "stuck",
    Gravity.BUG: "known bug",
    Gravity.DAMAGED: "failed",
    Gravity.WARNING: "warning",
}


@dataclass(frozen=True, slots=True)
class LostRange:
    """Records of a partition that a log held and no longer holds: offsets from ``begin`` up to, without, ``end``.

    An offset is None where no line tells it.
    """

    partition: str
    begin: int | None
    end: int | None
    certain: bool

    @property
    def records(self) -> int | None:
        """How many offsets these are; None where that is not known."""
        return None if self.begin is None or self.end is None else max(0, self.end - self.begin)


@dataclass(frozen=True, slots=True)
class TroubleFinding:
    """A finding: what is wrong, whom it concerns, when, what to do, and the lines that tell it.

    ``heading`` names the kind, ``text`` is one sentence with names and numbers. ``reference`` is a JIRA id or a KIP.
    Times are in milliseconds since the epoch; ``count`` counts lines, of which ``lines`` are some.
    """

    gravity: Gravity
    heading: str
    text: str
    advice: str = ""
    reference: str = ""
    nodes: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    begin: int | None = None
    end: int | None = None
    count: int = 1
    lines: tuple[LogRecord, ...] = ()
    lost: tuple[LostRange, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedLines:
    """Lines of trouble of one family: what they mean, how many there are, and the first."""

    name: str
    level: str
    text: str
    advice: str
    count: int
    first: LogRecord
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnexplainedLines:
    """Lines of trouble that nothing in the catalogue explains, equal but for numbers."""

    level: str
    logger: str
    text: str
    count: int
    place: LogPosition


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that is known of the logs, and the line that shows it."""

    text: str
    because: str
    place: LogPosition | None = None


@dataclass(frozen=True, slots=True)
class ClusterIdentity:
    """Which Kafka wrote the logs.

    ``modes`` are ``zookeeper``, ``kraft``, ``migration`` and ``unsupported``; ``roles`` of processes such as
    ``controller`` and ``broker``; ``versions`` of Kafka.
    """

    modes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the logs' own words tell. ``findings`` are ordered by gravity, then by time.

    ``lines`` counts the lines at WARN and above of Kafka's own loggers; those of ``described`` are explained by the
    events that were read from them.
    """

    identity: ClusterIdentity = ClusterIdentity()
    findings: tuple[TroubleFinding, ...] = ()
    explained: tuple[ExplainedLines, ...] = ()
    unexplained: tuple[UnexplainedLines, ...] = ()
    lines: int = 0
    described: int = 0

    @property
    def not_understood(self) -> int:
        """How many lines are not explained."""
        return sum(each.count for each in self.unexplained)


NO_TROUBLE = Trouble()
