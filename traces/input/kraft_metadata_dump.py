"""KRaft's metadata log as ``kafka-dump-log --cluster-metadata-decoder`` prints it: each record is an event.

The dump is text (one line a batch, one a record with its payload as JSON), or JSON lines with ``type`` and ``data``.
Every event has ``offset``, and ``raft_epoch`` where the dump has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from assay.traces.durations import LATEST
from assay.traces.event import Field, LogPosition, LogRecord, Notice
from assay.traces.input.events.decoder import JsonEvent, NoEventError
from assay.traces.input.events.fields import as_field
from assay.traces.input.events.json_lines import JsonEvents, lines_of
from assay.traces.input.lines.record_scanner import ByteStream, FileCounts, ScanLimits
from assay.traces.input.lines.timestamps import Clock
from assay.traces.patterns.rule_files import rule_file

_BATCH = re.compile(
    rb"baseOffset: (?P<offset>\d{1,20}) .{0,400}?partitionLeaderEpoch: (?P<epoch>-?\d{1,20}) "
    rb"(?:.{0,400}?CreateTime: (?P<time>-?\d{1,20}) )?.{0,400}?isvalid: (?P<valid>true|false)"
)
_RECORD = re.compile(rb"\| (?:offset: (?P<offset>\d{1,20}) )?.{0,300}?CreateTime: (?P<time>-?\d{1,20}) ")
_PAYLOAD = b" payload: "
_RECORD_LINE = re.compile(rb'^(?:\| .{0,400})? ?payload: \{"type": ?"[A-Z_]{3,60}"', re.MULTILINE)
"""A record: the beginning of a dump may be missing, and Kafka before 3.0 printed the payload alone."""
_JSON_KIND = re.compile(rb'"type": ?"[A-Z][A-Z_]{2,60}"')
_JSON_RECORD = re.compile(rb'"type": ?"[A-Z_]{3,60}_RECORD"')
_CONTROL = re.compile(rb"controlType: ([A-Z_]{1,60})|headerKeys: \[\] ([A-Z]\w{1,60}): \{")
_TIMES = ("time", "t", "timestamp")
_KNOWN = (
    b"Dumping ",
    b"Starting offset",
    b"Log starting offset",
    b"Snapshot end offset",
    b"log4j:",
    b"SLF4J:",
    b"Found timestamp",
    b"Index offset",
)


def is_dump(head: bytes) -> bool:
    """Whether a file with these first bytes is a dump of a metadata log."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    if first.startswith(b"{"):
        return _JSON_KIND.search(first) is not None and b'"data"' in first and _JSON_RECORD.search(head) is not None
    if b'payload: {"type":' not in head:
        return False
    return _RECORD_LINE.search(head) is not None and (b"\n|" in b"\n" + head or _BATCH.search(head) is not None)


def read_dump(stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits) -> JsonEvents:
    """Read a dump to its end. Lines that do not belong to a dump are counted, with the first position of each kind."""
    found = JsonEvents()
    job = _Dump()
    wrong: dict[str, tuple[int, LogPosition]] = {}
    for place, line in lines_of(stream, file, tally, limits):
        try:
            event = job.event(line, place)
        except NoEventError as error:
            count, first = wrong.get(str(error), (0, place))
            # By what is wrong, not line by line: a dump of the wrong kind has it in every line.
            wrong[str(error)] = (count + 1, first)
            continue
        if event is not None:
            tally.records += 1
            found.events.append(event)
    found.notices += [
        Notice("not an event", place, f"{count:,} lines: {text}") for text, (count, place) in wrong.items()
    ]
    return found


class _Dump:
    """The state between two lines: the epoch of the batch, and the names of ids (such as topic ids)."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._next: int | None = None
        """The offset of the next record of the batch."""
        self._batch_time = -1
        self._clock = Clock()
        self._names: dict[tuple[str, str], str] = {}

    def event(self, line: bytes, place: LogPosition) -> JsonEvent | None:
        """The event of a line; None for a batch, or a line without content."""
        if line.startswith(b"| "):
            return self._record(line, place)
        if line.startswith(b"{"):
            return self._json(line, place)
        if line.startswith(_PAYLOAD):
            return self._payload_alone(line, place)
        batch = _BATCH.match(line)
        if batch is not None:
            # `partitionLeaderEpoch` is the raft epoch: the metadata log has one partition.
            self._epoch, self._next = int(batch["epoch"]), int(batch["offset"])
            self._batch_time = int(batch["time"] or -1)
            # Its records, on the lines below, are read nevertheless.
            if batch["valid"] == b"false":
                raise NoEventError("a batch whose checksum is wrong")
        elif line.strip() and not line.startswith(_KNOWN):
            raise NoEventError("neither a batch nor a record")
        return None

    def _record(self, line: bytes, place: LogPosition) -> JsonEvent:
        head = _RECORD.match(line)
        if head is None:
            raise NoEventError("a record without offset and time")
        own: dict[str, Field] = {} if head["offset"] is None else {"offset": int(head["offset"])}
        if self._epoch is not None:
            own["raft_epoch"] = self._epoch
        at = line.find(_PAYLOAD)
        if at < 0:
            control = _CONTROL.search(line)
            if control is None:
                raise NoEventError("a record whose payload is not shown")
            return _event(
                "ControlRecord", {**own, "control": (control[1] or control[2]).decode()}, int(head["time"]), line, place
            )
        return self._payload(_parsed(line[at + len(_PAYLOAD) :]), own, int(head["time"]), line, place)

    def _payload_alone(self, line: bytes, place: LogPosition) -> JsonEvent:
        """A record of Kafka before 3.0: its offset and time are those of its batch."""
        if self._next is None:
            raise NoEventError("a payload without a batch before it")
        own: dict[str, Field] = {"offset": self._next, "raft_epoch": self._epoch}
        self._next += 1
        return self._payload(_parsed(line[len(_PAYLOAD) :]), own, self._batch_time, line, place)

    def _json(self, line: bytes, place: LogPosition) -> JsonEvent:
        content = _parsed(line)
        own: dict[str, Field] = {}
        for key, name in (("offset", "offset"), ("epoch", "raft_epoch"), ("raftEpoch", "raft_epoch")):
            if isinstance(content.get(key), int):
                own[name] = content[key]
        time = next((content[key] for key in _TIMES if key in content), None)
        if isinstance(time, str):
            time = self._clock.read(time.encode("ascii", "replace"))
        return self._payload(content, own, time if isinstance(time, int) else None, line, place)

    def _payload(
        self, content: dict[str, Any], own: dict[str, Field], time: int | None, line: bytes, place: LogPosition
    ) -> JsonEvent:
        kind, data = content.get("type"), content.get("data")
        if not isinstance(kind, str) or not isinstance(data, dict):
            raise NoEventError("a payload without `type` and `data`")
        fields: dict[str, Field] = dict(own)
        special = _table_entry(kind, data)
        names = {**_names()["fields"], **special.get("fields", {})}
        for key, value in _with_defaults(kind, data).items():
            number = key in special.get("fields", {}) and isinstance(value, str) and value.isdecimal()
            fields[names.get(key, _snake(key))] = int(value[:20]) if number else as_field(value)
        # The dump is in the order of the log, so a topic's record comes before all others that name its id alone.
        self._learn(kind, data)
        for each in _names()["name"]:
            if (name := self._names.get((each["field"], str(data.get(each["id"]))))) is not None:
                fields[each["field"]] = name
        return _event(special.get("kind", _camel(kind)), fields, time, line, place)

    def _learn(self, kind: str, data: Mapping[str, Any]) -> None:
        for each in _names()["name"]:
            if kind == each["type"] and isinstance(data.get(each["name"]), str):
                self._names[each["field"], str(data.get(each["id"]))] = data[each["name"]]


def _table_entry(kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table entry for records with such data; empty for most."""
    fitting = (each for each in _names()["special"] if each["type"] == kind)
    return next((each for each in fitting if each["where"].items() <= data.items()), {})


def _with_defaults(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with the keys that the payload leaves out, and None for numbers that stand for no value."""
    # In a `PartitionChangeRecord` a leader of -2 is unchanged, and -1 is none; what is left out is unchanged, too.
    whole = {**dict.fromkeys(_names()["left_out"].get(kind, ())), **data}
    for each in _names()["none"]:
        if each["type"] == kind:
            given = whole.get(each["field"])
            if "changes" in each:
                whole[each["changes"]] = given not in (None, each["unchanged"])
            if given in (each["number"], each.get("unchanged")):
                whole[each["field"]] = None
    return whole


def _event(kind: str, fields: Mapping[str, Field], time: int | None, line: bytes, place: LogPosition) -> JsonEvent:
    text = line.decode("utf-8", "replace").strip()
    # A record that its writer gave no time has -1; a damaged line may hold any number.
    known = time if time is not None and 0 <= time <= LATEST else None
    record = LogRecord(place, known, "INFO", "", None, text)
    return JsonEvent(kind, MappingProxyType(dict(fields)), record, "", 1)


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise NoEventError("a payload that is no JSON, or only the beginning of it") from None
    if not isinstance(content, dict):
        raise NoEventError("a payload that is no JSON object")
    return content


@cache
def _names() -> Mapping[str, Any]:
    """The table of field names, and of ids that have names: ``traces/patterns/rules/kraft_metadata_dump.toml``."""
    return rule_file("kraft_metadata_dump.toml")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
