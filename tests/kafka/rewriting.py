"""A recording written again in another layout: what is read of it must be what was read of the original."""

from __future__ import annotations

import calendar
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from assay.traces.input.lines.line_layout import split_logger

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HEADER = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) +", re.MULTILINE)


@dataclass(frozen=True)
class Record:
    """A record of the stock layout, taken apart. ``message`` and ``tail`` may have several lines."""

    stamp: str
    level: str
    logger: str
    message: str
    tail: str

    @property
    def second(self) -> str:
        return self.stamp[:19]

    @property
    def iso(self) -> str:
        return self.stamp.replace(" ", "T").replace(",", ".")

    @property
    def month_and_day(self) -> str:
        return f"{MONTHS[int(self.stamp[5:7]) - 1]} {int(self.stamp[8:10]):2} {self.stamp[11:19]}"

    @property
    def day_first(self) -> str:
        return f"{self.stamp[8:10]}.{self.stamp[5:7]}.{self.stamp[:4]} {self.stamp[11:]}"

    @property
    def before_noon(self) -> str:
        return f"{datetime.fromisoformat(self.second):%m/%d/%Y %I:%M:%S}.{self.stamp[20:]} {self.noon}"

    @property
    def noon(self) -> str:
        return "PM" if self.stamp[11:13] >= "12" else "AM"

    def hours_on(self, hours: int) -> str:
        """The time that a clock shows so many hours further east."""
        return f"{datetime.fromisoformat(self.second) + timedelta(hours=hours)},{self.stamp[20:]}"

    @property
    def short_logger(self) -> str:
        return self.logger.rpartition(".")[2]

    @property
    def abbreviated_logger(self) -> str:
        *packages, name = self.logger.split(".")
        return ".".join([*(package[0] for package in packages), name])

    def after(self) -> str:
        return f"\n{self.tail.rstrip()}" if self.tail.strip() else ""

    def body(self) -> str:
        """The message and what follows it, for a layout with the logger before the message."""
        return self.message + self.after()


Layout = Callable[[Record], str]


def records(data: bytes) -> Iterator[Record]:
    """The records of a stock file."""
    heads = list(HEADER.finditer(data))
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(data)], strict=True):
        message, logger, tail = split_logger(data[head.end() : end])
        yield Record(head[1].decode(), head[2].decode(), logger.decode(), message.decode(), tail.decode())


def _milliseconds(r: Record) -> int:
    return calendar.timegm(time.strptime(r.second, "%Y-%m-%d %H:%M:%S")) * 1000 + int(r.stamp[20:])


def _logback(r: Record) -> str:
    stack = {"stack_trace": r.tail} if r.tail.strip() else {}
    said = {
        "@timestamp": f"{r.iso}Z",
        "@version": "1",
        "message": r.message,
        "logger_name": r.logger,
        "thread_name": "main",
    }
    return json.dumps({**said, "level": r.level, "level_value": 20000, **stack})


def _log4j2(r: Record) -> str:
    second, fraction = divmod(_milliseconds(r), 1000)
    thrown = {"thrown": {"extendedStackTrace": r.tail}} if r.tail.strip() else {}
    instant = {"epochSecond": second, "nanoOfSecond": fraction * 1_000_000}
    said = {"instant": instant, "thread": "main", "level": r.level, "loggerName": r.logger, "message": r.message}
    return json.dumps({**said, **thrown, "endOfBatch": False, "threadId": 1})


def _ecs(r: Record) -> str:
    stack = {"error.stack_trace": r.tail} if r.tail.strip() else {}
    said = {"@timestamp": f"{r.iso}Z", "log.level": r.level, "message": r.message, "ecs.version": "1.2.0"}
    return json.dumps({**said, "process.thread.name": "main", "log.logger": r.logger, **stack})


LAYOUTS: dict[str, Layout] = {
    "stock": lambda r: f"[{r.stamp}] {r.level} {r.message} ({r.logger}){r.after()}",
    "no brackets": lambda r: f"{r.stamp} {r.level:5} {r.message} ({r.logger}){r.after()}",
    "no brackets, thread last": lambda r: f"{r.stamp} {r.level} {r.message} ({r.logger}) [main-EventThread]{r.after()}",
    "thread last": lambda r: f"[{r.stamp}] {r.level} {r.message} ({r.logger}) [worker 3]{r.after()}",
    "thread in brackets": lambda r: f"[{r.stamp}] {r.level} [worker-3] {r.message} ({r.logger}){r.after()}",
    "thread and logger in brackets": lambda r: f"[{r.stamp}] {r.level:5} [worker-3] [{r.logger}] {r.body()}",
    "thread, level, logger": lambda r: f"{r.stamp} [data-plane-0] {r.level:5} {r.logger} - {r.body()}",
    "level, thread, logger": lambda r: f"{r.stamp} {r.level:5} [data-plane-0] {r.logger}: {r.body()}",
    "level, logger, thread": lambda r: f"{r.stamp} {r.level:5} {r.logger} [data-plane-0] - {r.body()}",
    "level, logger": lambda r: f"{r.stamp} {r.level:5} {r.logger} - {r.body()}",
    "class and line": lambda r: f"[{r.stamp}] {r.level} {r.message} ({r.logger}:66){r.after()}",
    "short class and line": lambda r: f"[{r.stamp}] {r.level} [main] {r.short_logger}:66 - {r.body()}",
    "zookeeper": lambda r: (
        f"{r.stamp} [myid:1] - {r.level:5} [NIOWorker(/1.2.3.4:2181):{r.short_logger}@1034] - {r.body()}"
    ),
    "spring boot 2": lambda r: (
        f"{r.stamp.replace(',', '.')} {r.level:>5} 4711 --- [{'main':>15}] {r.abbreviated_logger:40} : {r.body()}"
    ),
    "spring boot 3": lambda r: f"{r.iso}Z {r.level:>5} 1 --- [app] [{'main':>15}] {r.logger:40} : {r.body()}",
    "iso with Z": lambda r: f"[{r.iso}Z] {r.level} {r.message} ({r.logger}){r.after()}",
    "iso with microseconds": lambda r: f"{r.iso}000+00:00 {r.level} {r.message} ({r.logger}){r.after()}",
    "iso without zone": lambda r: f"{r.iso} {r.level} {r.message} ({r.logger}){r.after()}",
    "slashes": lambda r: f"{r.stamp.replace('-', '/')} {r.level} {r.message} ({r.logger}){r.after()}",
    "windows line ends": lambda r: (
        f"[{r.stamp}] {r.level} {r.message} ({r.logger}){r.after()}".replace("\n", "\r\n") + "\r"
    ),
    "German date": lambda r: f"[{r.day_first}] {r.level} {r.message} ({r.logger}){r.after()}",
    "AM and PM": lambda r: f"{r.before_noon} {r.level} {r.message} ({r.logger}){r.after()}",
    "zone by name": lambda r: f"[{r.hours_on(1)} CET] {r.level} {r.message} ({r.logger}){r.after()}",
    "filled up with blanks": lambda r: "\n".join(
        f"{line:199} " for line in f"[{r.stamp}] {r.level} {r.message} ({r.logger}){r.after()}".split("\n")
    ),
    "tabs as spaces": lambda r: f"[{r.stamp}] {r.level} {r.message} ({r.logger}){r.after()}".replace("\t", "    "),
    "escapes as text": lambda r: f"[{r.stamp}] ^[[32m{r.level}^[[0m {r.message} ({r.logger}){r.after()}",
    "coloured": lambda r: (
        f"\x1b[32m[{r.stamp}]\x1b[0m \x1b[1;33m{r.level}\x1b[0m {r.message} (\x1b[36m{r.logger}\x1b[0m){r.after()}"
    ),
    "spring boot coloured": lambda r: (
        f"\x1b[2m{r.stamp.replace(',', '.')}\x1b[0;39m \x1b[32m{r.level:>5}\x1b[0;39m \x1b[35m1\x1b[0;39m \x1b[2m---\x1b[0;39m "
        f"\x1b[2m[{'main':>15}]\x1b[0;39m \x1b[36m{r.abbreviated_logger:40}\x1b[0;39m \x1b[2m:\x1b[0;39m {r.body()}"
    ),
    "logback as JSON": _logback,
    "log4j 2 as JSON": _log4j2,
    "ECS as JSON": _ecs,
    "no milliseconds": lambda r: f"[{r.second}] {r.level} {r.message} ({r.logger}){r.after()}",
    "no year": lambda r: f"{r.stamp[5:]} {r.level} {r.message} ({r.logger}){r.after()}",
    "month by name, no year, no milliseconds": lambda r: (
        f"{r.month_and_day} {r.level} {r.message} ({r.logger}){r.after()}"
    ),
    "no date": lambda r: f"{r.stamp[11:].replace(',', '.')} [main] {r.level:5} {r.logger} - {r.body()}",
}
"""Layouts of records by name."""


@dataclass(frozen=True)
class Place:
    """Where a line comes from: the node's directory, the file there, and the line's number."""

    node: str
    file: str
    number: int


Prefix = Callable[[Place, Record], str]

PREFIXES: dict[str, Prefix] = {
    "docker compose": lambda at, r: f"{at.node:14} | ",
    "docker compose, coloured": lambda at, r: f"\x1b[36m{at.node:14} |\x1b[0m ",
    "docker logs -t": lambda at, r: f"{r.iso}000000Z ",
    "docker compose logs -t": lambda at, r: f"{at.node}  | {r.iso}000000Z ",
    "container runtime": lambda at, r: f"{r.iso}000000+00:00 stdout F ",
    "kubectl": lambda at, r: f"[pod/{at.node}/kafka] ",
    "journald": lambda at, r: f"{r.month_and_day} {at.node} kafka-server-start.sh[{len(at.node)}]: ",
    "journald iso": lambda at, r: f"{r.iso[:19]}+0000 {at.node} kafka[7]: ",
    "syslog": lambda at, r: f"<134>{r.month_and_day} {at.node} kafka[7]: ",
    "syslog, RFC 5424": lambda at, r: f"<134>1 {r.iso}Z {at.node} kafka 7 - - ",
    "syslog, RFC 5424, with data": lambda at, r: f'1 {r.iso}+00:00 {at.node} kafka - ID47 [meta@1 a="b c"][x@2] ',
    "grep -R": lambda at, r: f"logs/{at.node}/{at.file}:",
    "grep -Rn": lambda at, r: f"logs/{at.node}/{at.file}:{at.number}:",
}
"""What stands before every line, by name."""


Wrapper = Callable[[Place, Record, str], str]


def _dumped(**content: object) -> str:
    return json.dumps(content)


WRAPPERS: dict[str, Wrapper] = {
    "docker json-file": lambda at, r, line: _dumped(log=line + "\n", stream="stdout", time=f"{r.iso}000000Z"),
    "docker json-file, cut": lambda at, r, line: "\n".join(
        _dumped(log=part, stream="stdout", time=f"{r.iso}Z") for part in (line[:30], line[30:] + "\n")
    ),
    "fluentd": lambda at, r, line: (
        f"{r.iso[:19]}+00:00\tkubernetes.var.log\t"
        + _dumped(log=line, stream="stdout", kubernetes={"pod_name": at.node, "container_name": "kafka", "labels": {}})
    ),
    "Filebeat": lambda at, r, line: json.dumps(
        {
            "@timestamp": f"{r.iso}Z",
            "host": {"name": at.node},
            "log": {"offset": 1, "file": {"path": f"/srv/{at.node}/{at.file}"}},
            "message": line,
        }
    ),
    "logcli -o jsonl": lambda at, r, line: _dumped(
        labels={"pod": at.node, "container": "kafka"}, line=line, timestamp=f"{r.iso}000000Z"
    ),
    "logcli": lambda at, r, line: f'{r.iso}Z {{app="kafka", pod="{at.node}", stream="stdout"}} {line}',
    "journalctl -o json": lambda at, r, line: _dumped(
        MESSAGE=line, _HOSTNAME=at.node, PRIORITY="6", __REALTIME_TIMESTAMP=f"{_milliseconds(r)}000"
    ),
    "kubectl": lambda at, r, line: f"[pod/{at.node}/kafka] {line}",
    "docker compose": lambda at, r, line: f"{at.node:14} | {line}",
    "container runtime": lambda at, r, line: f"{r.iso}000000+00:00 stdout F {line}",
}
"""What collectors make of a line, by name."""

NAMELESS = {"docker logs -t", "container runtime", "docker json-file", "docker json-file, cut"}
"""Prefixes and wrappers that do not say whose line it is: each node's lines must be in a file of their own."""


def wrapped(data: bytes, node: str, file: str, wrapper: Wrapper, layout: Layout) -> list[str]:
    """The lines of a file as a collector keeps them."""
    place = Place(node, file, 0)
    return [wrapper(place, record, line) for record in records(data) for line in layout(record).split("\n")]


def rewrite(data: bytes, layout: Layout) -> bytes:
    """A file in another layout."""
    return "".join(layout(record) + "\n" for record in records(data)).encode()


def prefixed(data: bytes, node: str, file: str, prefix: Prefix, layout: Layout) -> list[tuple[str, str]]:
    """The lines of a file behind a prefix, each with the latest time up to its record."""
    found: list[tuple[str, str]] = []
    number, latest = 0, ""
    for record in records(data):
        latest = max(latest, record.stamp)
        for line in layout(record).split("\n"):
            number += 1
            found.append((latest, prefix(Place(node, file, number), record) + line))
    return found


def rewrite_folder(source: Path, target: Path, layout: Layout) -> None:
    """All logs below a folder in another layout, in the same directories."""
    for path in sorted(source.rglob("*.log")):
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(rewrite(path.read_bytes(), layout))


def collect_folder(source: Path, target: Path, prefix: Prefix, layout: Layout) -> None:
    """The logs of all nodes merged, as a collector would: one file for the server logs of all nodes, one for their controller logs, …"""
    target.mkdir(parents=True, exist_ok=True)
    by_name: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(source.rglob("*.log")):
        lines = prefixed(path.read_bytes(), path.parent.name, path.name, prefix, layout)
        by_name.setdefault(path.name, []).extend(lines)
    for name, lines in by_name.items():
        lines.sort(key=lambda line: line[0])
        (target / f"all-{name.removesuffix('.log')}.txt").write_text("".join(line + "\n" for _, line in lines))
