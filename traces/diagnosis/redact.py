"""Redacts logs: hosts, addresses, users, topics, cluster ids and directories become numbered names, the same one
everywhere.

Which words of a line are names cannot be told, least of all in a line that no pattern describes. So it is told the
other way round: only words that Assay itself brings along are left (``own_words``), with numbers and names of Java
classes. Fields, messages and file names are replaced before anything is validated, so that no answer, in whatever form,
holds an original name. Numbers, epochs, sessions and times stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import PurePath

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event, Field, LogPosition, LogRecord, Notice, ProcessRun
from assay.traces.input.lines.trouble_tally import TroubleGroup
from assay.traces.log_reader import LogReading, NodeTrouble, UnmappedLines

_WORD = r"[^\W\d](?:[\w@$-]|\.(?=[\w$]))*"
"""A word, or several that are joined as in names of hosts, topics, settings and classes."""
_PARTS = (
    # IPv4, IPv6, a name before a port, what stands behind `//`, and the host of an `EndPoint(`.
    r"(?P<address>\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|\[?[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){3,7}\]?(?=[:/\s,)]|$)"
    r"|(?<![\w.$])(?=[\w.-]*[A-Za-z])[A-Za-z0-9](?:[\w-]*\.)*[\w-]*(?=:\d{2,5}\b)"
    r"|(?<=//)[\w.-]+"
    r"|(?<=EndPoint\()[\w.-]+)",
    # Paths of Unix, of Windows, and of a share of Windows.
    r"(?P<path>(?<![\w.:/])/(?:[^\s/:;,'\"()\[\]{}<>]+/)+[^\s/:;,'\"()\[\]{}<>]*"
    r"|\b[A-Za-z]:\\[^\s:;,'\"()\[\]{}<>]*|\\\\[^\s:;,'\"()\[\]{}<>]+)",
    # Numbers, versions as `3.9-IV0`, times and durations.
    r"(?P<number>0x[0-9a-fA-F]+\b|\d[\d.,:+-]*(?:-IV\d+|[TZ][\d.:]*Z?|ms|s|min|h)?(?![\w@.-]*[^\W\d]))",
    rf"(?P<word>{_WORD}|\d[\w@.-]*)",
)
_CLASS = re.compile(
    r"(?:javax?|org\.apache|org\.slf4j|kafka|scala|sun|jdk|com\.sun)(?:\.[a-z]\w*)*\.[A-Z]\w*(?:[.$]\w+)*"
    r"|[A-Z]\w*\.(?:java|scala)|[A-Z]\w*(?:Exception|Error)"
)
_ZNODES = ("/brokers", "/controller", "/config", "/admin", "/cluster", "/isr_change", "/consumers", "/latest_producer")
_SETTING = re.compile(
    r"(?m)^(\t[\w.]*(?:password|secret|jaas|key|url|host|rack|listeners|connect|dir|dirs)[\w.]*) = .+$"
)
_BY_CHANCE = re.compile(r"[A-Za-z]+|\d+|.{1,2}")
"""Directory names that occur in texts by chance; they are replaced only where they stand for a node."""
# A group behind the first begins with a dot, not a hyphen: a row of hyphens could be divided in very many ways.
_ROTATED = re.compile(
    r"(?P<stem>.+?)(?P<rest>(?:\.(?:log|out|txt|json|err))?(?:[.-][\d-]+(?:\.[\d-]+)*)?(?:\.(?:gz|xz|bz2|zst|log))?)"
)
"""The name of a file, and what rotation and compression add to it."""

_PARTITION = re.compile(
    r"(?:\b[Pp]artitions?[ =]\[?|\bTruncating |\bUNCLEAN partition change for |\b[Tt]opic[ =:]\'?)"
    r"([A-Za-z_][\w.-]{0,248}?)(?:(?:-|, ?)\d+\b|[,;\'\]]| is | has )"
)
_PLAIN = frozenset({"localhost", "kafka", "java", "null"})
_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata"})


@cache
def own_words() -> frozenset[str]:
    """The words of Assay's own texts: of its line patterns (without their examples), its messages, and its specs."""
    found: set[str] = set()
    for package in ("traces", "spec", "grammar"):
        for text in _texts(resources.files("assay").joinpath(package)):
            lines = (line for line in text.splitlines() if not line.startswith("example"))
            found.update(re.findall(_WORD, "\n".join(lines)))
    return frozenset(found)


def _texts(folder: Traversable) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts(entry)
        # Comments count, too: a name of a real cluster in one of them would be left in everybody's redacted logs.
        elif entry.name.endswith((".py", ".toml", ".assay")):
            yield entry.read_text(encoding="utf-8")


@dataclass(slots=True)
class _Names:
    """New names for one kind of thing."""

    kind: str
    known: dict[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        return self.known.setdefault(name, f"{self.kind}-{len(self.known) + 1}")


class Redaction:
    """The new names for one set of logs."""

    def __init__(self, reading: LogReading) -> None:
        self._hosts, self._topics, self._clusters = map(_Names, ("host", "topic", "cluster"))
        self._nodes, self._folders, self._paths = map(_Names, ("node", "folder", "path"))
        self._files, self._words = map(_Names, ("file", "word"))
        # All names are gathered first: a topic has one number, also in free text that comes before its first event.
        for event in reading.events:
            topic, cluster = event.fields.get("topic"), event.fields.get("cluster")
            if isinstance(topic, str) and topic not in _INTERNAL:
                self._topics(topic)
            if isinstance(cluster, str):
                self._clusters(cluster)
        for each in reading.trouble:
            for topic in _topics_of(each.group):
                self._topics(topic)
        for node in reading.nodes:
            self._nodes(node.name)
        self.runs = {str(run): str(self.run(run)) for run in {stream.run for stream in reading.streams}}
        # A node called `1`, or `data`, would take these words out of every message.
        reported = {name: new for name, new in self._nodes.known.items() if not _BY_CHANCE.fullmatch(name)}
        named = {**reported, **self._topics.known, **self._clusters.known}
        # A regular expression takes the first alternative that fits, so `broker-10` has to be tried before `broker-1`.
        longest_first = sorted(named, key=len, reverse=True)
        names = "|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.]*[A-Za-z_])" for name in longest_first)
        self._new = named
        # The order counts: addresses and paths are made of words and numbers, and what stands first is tried first.
        self._parts = re.compile("|".join([*([f"(?P<named>{names})"] if names else []), *_PARTS]))

    def text(self, text: str) -> str:
        """A text with the new names."""
        return self._parts.sub(self._part, _SETTING.sub(r"\1 = (redacted)", text))

    def _part(self, found: re.Match[str]) -> str:
        part = found[0]
        match found.lastgroup:
            case "named":
                return self._new[part]
            case "address":
                return part if part in _PLAIN else self._hosts(part)
            case "path":
                return self._znode(part) if part.startswith(_ZNODES) else self._paths(part)
            case "number":
                return part
            case _:
                return self._word(part)

    def _word(self, word: str) -> str:
        is_own = word in own_words() or word in _INTERNAL or _CLASS.fullmatch(word) is not None
        return word if is_own else self._words(word)

    def _znode(self, path: str) -> str:
        """A path of ZooKeeper: its own words, numbers and topics tell what happened, whatever else is in it does not."""
        return "/".join(
            part if part.isdigit() else self._new.get(part) or self._word(part) if part else ""
            for part in path.split("/")
        )

    def value(self, value: Field) -> Field:
        """A field with the new names."""
        match value:
            case str():
                return self.text(value)
            case tuple():
                return tuple(self.value(part) for part in value)
            case Mapping():
                return {self.value(key): self.value(part) for key, part in value.items()}
            case _:
                return value

    def run(self, run: ProcessRun) -> ProcessRun:
        """A process run with the new name."""
        return replace(run, node=self.node(run.node))

    def node(self, name: str) -> str:
        """The new name of a node."""
        return self._nodes(name)

    def file(self, file: str) -> str:
        """The file's name, in a folder with a new name. What rotation added to it stays."""
        path = PurePath(file.replace("!", "/"))
        name = _ROTATED.fullmatch(path.name)
        stem, rest = (name["stem"], name["rest"]) if name is not None else (path.name, "")
        shown = stem if stem in own_words() else self._files(stem)
        return f"{self._folders(str(path.parent))}/{shown}{rest}"

    def place(self, place: LogPosition) -> LogPosition:
        """The same place with the new file name."""
        return replace(place, file=self.file(place.file))


def _topics_of(group: TroubleGroup) -> Iterator[str]:
    """The topics that lines of trouble name: no event may name them."""
    for record in (group.first, group.last, *group.lines):
        yield from (name for name in _PARTITION.findall(record.message) if name not in _INTERNAL)


def redacted(reading: LogReading, names: Redaction) -> LogReading:
    """The logs with the new names."""
    streams = tuple(
        RunStream(names.run(stream.run), names.file(stream.file), tuple(_events(names, stream.events)))
        for stream in reading.streams
    )
    nodes = tuple(replace(node, name=names.run(ProcessRun(node.name, 1)).node) for node in reading.nodes)
    unmapped = tuple(
        UnmappedLines(lines.logger, names.text(lines.text), lines.count, names.place(lines.place))
        for lines in reading.unmapped
    )
    notices = tuple(_notice(names, notice) for notice in reading.notices)
    trouble = tuple(NodeTrouble(names.node(each.node), _group(names, each.group)) for each in reading.trouble)
    loggers = {logger: names.place(place) for logger, place in reading.loggers.items()}
    return replace(
        reading, streams=streams, nodes=nodes, unmapped=unmapped, notices=notices, trouble=trouble, loggers=loggers
    )


def _group(names: Redaction, group: TroubleGroup) -> TroubleGroup:
    """Lines of trouble with the new names."""

    # Names of threads hold hosts, as `main-SendThread(host:2181)` of ZooKeeper's client does.
    def renamed(record: LogRecord) -> LogRecord:
        return replace(record, place=names.place(record.place), message=names.text(record.message), thread=None)

    lines = [renamed(each) for each in group.lines]
    return replace(
        group, text=names.text(group.text), first=renamed(group.first), last=renamed(group.last), lines=lines
    )


def _events(names: Redaction, events: Iterable[Event]) -> Iterable[Event]:
    for event in events:
        run = names.run(event.run)
        fields = {name: _field(names, value) for name, value in event.fields.items()}
        record = replace(
            event.record, place=names.place(event.record.place), message=names.text(event.record.message), thread=None
        )
        stream = names.file(event.stream) if event.stream else ""
        yield replace(event, fields=fields, record=record, run=run, stream=stream)


def _field(names: Redaction, value: Field) -> Field:
    # A run is renamed as a whole: `node#2` has to become the name of its node with the same number.
    return names.runs.get(value) or names.value(value) if isinstance(value, str) else names.value(value)


QUOTING = frozenset({"not understood", "no log"})
"""Notices whose text repeats lines of the input behind its first words."""


def _notice(names: Redaction, notice: Notice) -> Notice:
    place = names.place(notice.place) if notice.place is not None else None
    # What was not understood is quoted, and nobody knows which names are in it.
    text = notice.text.partition("; it ")[0] if notice.kind in QUOTING else notice.text
    return replace(notice, place=place, text=names.text(text))
