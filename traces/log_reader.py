"""Read logs: paths that a user names become events, grouped by process run and file, and counts of everything else."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from assay.grammar.kernel.event_source import DEFAULT_SOURCE, EventSource
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.attribution import RunStream, attribute
from assay.traces.attribution.node_files import ClusterNode
from assay.traces.attribution.node_identity import node_names
from assay.traces.event import Event, LogPosition, Notice
from assay.traces.gc_control import trim_heap
from assay.traces.input.events.pattern_test import refuse_misfits
from assay.traces.input.file_contents import FileReading
from assay.traces.input.lines.record_scanner import FileCounts, ScanLimits
from assay.traces.input.lines.trouble_tally import TroubleGroup
from assay.traces.input.pattern_matcher import RecordReader, may_be_pasted
from assay.traces.input.repeats import drop_repeats
from assay.traces.input.rotation import complete_years, drop_copies, missing_parts, reverse_newest_first
from assay.traces.input.sources import ExpansionLimit, TextSource, check_paths, read_error, unreadable, walk
from assay.traces.patterns.catalogue import Catalogue, PatternFileText, content_of, load_catalogue
from assay.traces.patterns.match import PatternMatcher
from assay.traces.patterns.pattern import LinePattern
from assay.traces.stop import StopRequest
from assay.traces.table.event_table import EventTable
from assay.traces.table.statement_ids import StatementMemory


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read logs: further pattern files, the limits on archives and on records, and how lines become events.

    Without ``threads``, the thread that an object around a line names is not read; only clauses that order lines by
    thread need it.
    """

    pattern_files: tuple[Path | PatternFileText, ...] = ()
    expansion: ExpansionLimit = field(default_factory=ExpansionLimit)
    scan: ScanLimits = field(default_factory=ScanLimits)
    source: EventSource = DEFAULT_SOURCE
    threads: bool = True

    @property
    def files(self) -> tuple[Path | PatternFileText, ...]:
        """All pattern files: those that the clause names, and the further ones."""
        return (*map(Path, self.source.patterns), *self.pattern_files)

    def portable(self) -> ReadOptions:
        """The same options for processes that cannot open the pattern files. Raises SpecError (E701)."""
        contents = tuple(each if isinstance(each, PatternFileText) else content_of(each) for each in self.files)
        return replace(self, pattern_files=contents, source=replace(self.source, patterns=()))


DEFAULT_READING = ReadOptions()

MOST_OF_EXCERPT = 100


@dataclass(frozen=True, slots=True)
class UnmappedLines:
    """Records of a protocol logger that no pattern describes: their text with numbers removed, their count, and the
    first position.
    """

    logger: str
    text: str
    count: int
    place: LogPosition


@dataclass(frozen=True, slots=True)
class NodeTrouble:
    """Lines of trouble of one family that a node wrote in one log; ``node`` is its name."""

    node: str
    group: TroubleGroup


@dataclass(frozen=True, slots=True)
class LogReading:
    """What the logs hold. ``files`` counts the files that are logs; ``other`` counts records that do not concern the
    protocol.
    """

    streams: tuple[RunStream, ...]
    nodes: tuple[ClusterNode, ...]
    files: int
    lines: int
    records: int
    bytes: int
    other: int
    kinds: Mapping[str, int]
    unmapped: tuple[UnmappedLines, ...]
    notices: tuple[Notice, ...]
    catalogue: Catalogue = field(repr=False)
    memory: StatementMemory = field(repr=False, compare=False, default_factory=StatementMemory)
    trouble: tuple[NodeTrouble, ...] = ()
    loggers: Mapping[str, LogPosition] = field(default_factory=dict)
    """The loggers of all records, each with the place of its first."""

    @property
    def events(self) -> EventTable:
        """All events, stream by stream; the order between streams has no meaning."""
        return EventTable((stream.events for stream in self.streams), self.memory)

    @property
    def is_excerpt(self) -> bool:
        """Whether so few records were read that they are lines that somebody cut out of a log."""
        return self.records <= MOST_OF_EXCERPT

    def of_patterns(self, ask: Callable[[LinePattern], bool]) -> Iterator[Event]:
        """The events whose pattern satisfies a condition."""
        pattern = self.catalogue.pattern
        return self.events.events_where(lambda traits: bool(traits.pattern) and ask(pattern(traits.pattern)))

    def of_role(self, *roles: str) -> Iterator[Event]:
        """The events whose lines have one of these roles; see ``LinePattern.role``."""
        return self.of_patterns(lambda pattern: pattern.role in roles)

    def of_kinds(self, kinds: Container[str]) -> Iterator[Event]:
        """The events of these kinds that a line pattern made, without events that were read from a file of events."""
        return self.of_patterns(lambda pattern: pattern.kind in kinds)

    @property
    def versions(self) -> tuple[str, ...]:
        """The Kafka versions that the logs report, sorted."""
        return tuple(sorted({version for node in self.nodes for version in node.versions}))

    def explain(self, event: Event) -> str:
        """What an event means, in an operator's words; for an event that no pattern made, the message of its line."""
        return self.catalogue.pattern(event.pattern).explain(event.fields) if event.pattern else event.record.message


def read_logs(paths: Sequence[Path | str], options: ReadOptions = DEFAULT_READING) -> LogReading:
    """Read the logs behind the paths: files, directories, archives.

    Raises SpecError for a path that does not exist (E601) and for a pattern file that cannot be used (E701, E702).
    Everything else that goes wrong becomes a notice, and the rest is read.
    """
    places = [Path(path) for path in paths]
    # Before anything is read, so that a mistyped path is told at once and not after gigabytes.
    check_paths(places)
    with without_gc():
        reading = _read(places, options)
    trim_heap(sum(reading.kinds.values()))
    return reading


@contextmanager
def without_gc() -> Iterator[None]:
    """A context without garbage collection: reading creates millions of objects and no cycles, and the search for
    cycles takes a fifth of the time.

    At the end the new objects move into the oldest generation unexamined. ``gc.freeze`` moves all objects out of the
    generations, and ``gc.unfreeze`` moves them into the oldest.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Who has frozen objects already wants them to stay out of the generations: `unfreeze` would bring them back.
        if was_on and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()


def _read(places: Sequence[Path], options: ReadOptions) -> LogReading:
    """Read the files, then attribute their lines, then make events."""
    catalogue = load_catalogue(options.files, text=options.source.catalogue == "text")
    if options.source.catalogue == "text":
        refuse_misfits(catalogue, [Path(str(each)) for each in options.files])
    reader = record_reader(catalogue, options)
    on_the_way: list[Notice] = []
    texts: list[TextReading] = []
    try:
        for source in walk(places, options.expansion, on_the_way):
            texts.append(read_text(reader, source, on_the_way))  # noqa: PERF401 - what was read is kept at a stop
    # What was read so far is an answer about a part of the logs, and the notice says so.
    except StopRequest as stop:
        on_the_way.append(_left_unread(texts, str(stop)))
    readings, notices = drop_equal_texts(texts)
    return log_reading(readings, [*notices, *on_the_way], catalogue)


def _left_unread(texts: Sequence[TextReading], why: str) -> Notice:
    """The notice that reading ended early."""
    place = LogPosition(texts[-1].file, 1, 0) if texts else None
    return Notice("lines left out", place, f"{why} while logs were read: no file after this one was read to its end")


def record_reader(catalogue: Catalogue, options: ReadOptions) -> RecordReader:
    """A reader of texts; one reader serves any number of them."""
    containers = catalogue.containers if options.threads else catalogue.containers.without_threads()
    return RecordReader(PatternMatcher(catalogue), options.scan, containers, options.source)


def log_reading(
    readings: Sequence[FileReading], notices: list[Notice], catalogue: Catalogue, memory: StatementMemory | None = None
) -> LogReading:
    """What all texts together hold: rotated parts in sequence, duplicate lines dropped, years completed, and each line
    attributed.

    ``notices`` are those of the reading so far. ``memory`` holds what is known from earlier readings of the same logs.
    The readings are changed in place.
    """
    # Years come first, because all later steps compare times.
    complete_years(readings, notices)
    reverse_newest_first(readings, notices)
    # Within a file first: `drop_copies` counts what two files share, and repeats would count twice.
    drop_repeats(readings, notices)
    drop_copies(readings, notices)
    notices += missing_parts(readings)
    streams, nodes = attribute(readings, notices)
    for reading in readings:
        notices += reading.tally.notices
    notices += [*containers_found(readings), *_nothing_known(readings)]
    return LogReading(
        streams=tuple(streams),
        nodes=tuple(nodes),
        files=len({reading.file for reading in readings if reading.is_log}),
        lines=sum(reading.tally.lines for reading in readings),
        records=sum(reading.tally.records for reading in readings),
        bytes=sum(reading.tally.bytes for reading in readings),
        other=sum(reading.other for reading in readings),
        kinds=kinds_of(streams),
        unmapped=_unmapped(readings),
        notices=tuple(notices),
        catalogue=catalogue,
        memory=StatementMemory() if memory is None else memory,
        trouble=_trouble(readings, nodes),
        # Reversed: a dict keeps what was put in last, and the first file's place is wanted.
        loggers={name: place for reading in reversed(readings) for name, place in reading.trouble.loggers.items()},
    )


def _trouble(readings: Sequence[FileReading], nodes: Sequence[ClusterNode]) -> tuple[NodeTrouble, ...]:
    """The lines of trouble of all files, each with the name of its node."""
    names = node_names(dict.fromkeys(reading.origin.folder for reading in readings if reading.is_log))
    # Lines of trouble name no node. Where there is one node they are its own, whatever its folder is called.
    if len(nodes) == 1:
        names = dict.fromkeys(names, nodes[0].name)
    return tuple(
        NodeTrouble(names.get(reading.origin.folder, ""), group)
        for reading in readings
        for group in reading.trouble.groups.values()
    )


def containers_found(readings: Sequence[FileReading]) -> list[Notice]:
    """What lines were taken out of: a notice for each nesting of containers, at the first such file."""
    files: dict[tuple[str, ...], list[str]] = {}
    for reading in readings:
        if reading.containers:
            files.setdefault(reading.containers, []).append(reading.file)
    return [
        Notice(
            "layout",
            LogPosition(names[0], 1, 0),
            f"{'; in it: '.join(containers)}{f' ({len(names):,} files)' if len(names) > 1 else ''}",
        )
        for containers, names in files.items()
    ]


def _nothing_known(readings: Sequence[FileReading]) -> list[Notice]:
    """Logs without one record of a known kind, where no other log has one: such logs are not empty."""
    # Among logs that are understood one without known records is a quiet one, such as a client's.
    if any(reading.matches or reading.events or reading.trouble.groups for reading in readings):
        return []
    one, many = (
        "1 record was read, and it is of no known kind",
        "records were read, and none of them is of a known kind",
    )
    return [
        Notice(
            "not understood",
            LogPosition(reading.file, 1, 0),
            one if reading.tally.records == 1 else f"{reading.tally.records:,} {many}",
        )
        for reading in readings
        if reading.is_log
    ]


def read_events(paths: Sequence[Path | str], options: ReadOptions = DEFAULT_READING) -> list[Event]:
    """The events of :func:`read_logs`, without the rest."""
    return list(read_logs(paths, options).events)


@dataclass(frozen=True, slots=True)
class TextReading:
    """A text that was read: one reading for each part of it, and the notices up to its end."""

    file: str
    readings: tuple[FileReading, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def is_log(self) -> bool:
        """True if some part of the text is a log."""
        return any(reading.is_log for reading in self.readings)

    @property
    def folder(self) -> str:
        """The folder of the text, which names its node."""
        return self.readings[0].origin.folder

    @property
    def depth(self) -> int:
        """How many folders the text lies in."""
        return self.folder.count("/")


def read_text(reader: RecordReader, source: TextSource, notices: list[Notice]) -> TextReading:
    """Read one text to its end. The notices so far, including those of unpacking, move from the list
    into the result.

    A text that cannot be read, because of the system or of a mistake in a reader, costs that text only. Nothing of it
    is used, and a notice says so.
    """
    stream, origin = source.content.stream, source.origin
    pasted = may_be_pasted(origin.base, named=source.listed.named)
    try:
        readings = reader.read(stream, stream.head, origin, may_be_pasted=pasted)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other files are read
        readings = [FileReading(origin, FileCounts())]
        notices.append(unreadable(origin.file, read_error(error)))
    found = TextReading(origin.file, tuple(readings), tuple(notices))
    notices.clear()
    return found


def drop_equal_texts(texts: Iterable[TextReading]) -> tuple[list[FileReading], list[Notice]]:
    """The readings of each text once, and all notices: of texts with equal content one is kept, the others are reported.

    The copy in the folder with the most logs is kept, so that a copy elsewhere is not another node.
    """
    texts = tuple(texts)
    logs = Counter(text.folder for text in texts if text.is_log)
    kept: dict[bytes, TextReading] = {}
    # A stable sort: of copies that are equal in this, the first one given is kept.
    for text in sorted((each for each in texts if each.is_log), key=lambda each: (-logs[each.folder], each.depth)):
        # By the first part's digest, which is that of the whole text.
        kept.setdefault(text.readings[0].digest, text)
    readings: list[FileReading] = []
    notices: list[Notice] = []
    for text in texts:
        notices += text.notices
        same = kept[text.readings[0].digest] if text.is_log else text
        if same is text:
            readings += text.readings
        else:
            why = f"the same content as {same.file}; read once"
            notices.append(Notice("duplicated input", LogPosition(text.file, 1, 0), why))
    return readings, notices


def kinds_of(streams: Iterable[RunStream]) -> dict[str, int]:
    """How many events of each kind there are."""
    found: Counter[str] = Counter()
    for each, count in EventTable(stream.events for stream in streams).traits().items():
        found[each.kind] += count
    return dict(sorted(found.items()))


def _unmapped(readings: Sequence[FileReading]) -> tuple[UnmappedLines, ...]:
    """The unmapped records of all files, the most frequent first."""
    merged: dict[tuple[str, str], UnmappedLines] = {}
    for reading in readings:
        for key, lines in reading.unmapped.items():
            before = merged.get(key)
            count, place = (lines.count, lines.place) if before is None else (before.count + lines.count, before.place)
            merged[key] = UnmappedLines(*key, count, place)
    return tuple(sorted(merged.values(), key=lambda lines: (-lines.count, lines.logger, lines.text)))
