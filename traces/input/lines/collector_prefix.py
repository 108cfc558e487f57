"""Collector prefixes: what docker compose, docker and the container runtimes, journald, syslog, kubectl and grep put
before every line.

A prefix is detected in the beginning of a file: nearly all lines must have it, and records must begin behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.traces.input.lines.json_log_lines import json_line
from assay.traces.input.lines.line_layout import LEVEL_FIRST, START, without_colours
from assay.traces.input.lines.timestamps import DATED

_RFC3339 = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_SYSLOG = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?"
_MIN_SHARE = 0.9
_MAX_PREFIXES = 3
_SAMPLE_LINES = 400


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands before each line.

    Groups of the pattern: ``stamp`` is a timestamp. ``who`` is the host, pod or container, ``role`` what runs there,
    and ``run`` its process number, which changes at a restart. ``path`` and ``number`` are the file and the line from
    which the text was taken. ``labels`` hold some of these by name.
    """

    name: str
    pattern: re.Pattern[bytes]


PREFIXES = (
    Prefix("logcli", re.compile(rb"(?P<stamp>" + _RFC3339 + rb") \{(?P<labels>[^}\n]{0,2000})\} ")),
    Prefix("fluentd", re.compile(rb"(?P<stamp>" + _RFC3339 + rb")\t(?P<who>[\w./-]{1,200})\t(?=\{)")),
    Prefix("container runtime", re.compile(rb"(?P<stamp>" + _RFC3339 + rb") (?:stdout|stderr) [FP] ")),
    Prefix("docker logs -t", re.compile(rb"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)) ?")),
    Prefix("docker compose", re.compile(rb"(?P<who>[\w.-]{1,100}?) {0,60}\| ?")),
    Prefix("kubectl logs --prefix", re.compile(rb"\[pod/(?P<who>[\w.-]{1,100})/(?P<role>[\w.-]{1,100})\] ")),
    Prefix(
        "syslog, RFC 5424",
        re.compile(
            rb"(?:<\d{1,3}>)?1 (?P<stamp>"
            + _RFC3339
            + rb") (?P<who>[\w.:-]{1,255}) (?P<role>[!-~]{1,48}) (?:(?P<run>\d{1,10})|[!-~]{1,128}) "
            rb"[!-~]{1,32} (?:-|(?:\[[^\]\n]{0,1000}\]){1,9}) ?(?:\xef\xbb\xbf)?"
        ),
    ),
    Prefix(
        "journald",
        re.compile(
            rb"(?:<\d{1,3}>)?(?P<stamp>" + _SYSLOG + rb"|" + _RFC3339 + rb") "
            rb"(?P<who>[\w.-]{1,100}) (?P<role>[\w./@-]{1,100}?)(?:\[(?P<run>\d{1,10})\])?: ?"
        ),
    ),
    Prefix("grep", re.compile(rb"(?P<path>[^\s:|\[][^:\n|\[]{0,400}):(?:(?P<number>\d{1,10}):)?")),
)
"""All prefixes; one that could be mistaken for another comes before it."""


def find_prefixes(head: bytes) -> tuple[Prefix, ...]:
    """The prefixes before the lines of a file with these first bytes, the outermost first; the last line may be cut and
    is ignored.
    """
    whole = without_colours(head)
    lines = [line for line in whole[: whole.rfind(b"\n") + 1].split(b"\n")[:_SAMPLE_LINES] if line.strip()]
    found: list[Prefix] = []
    while lines and len(found) < _MAX_PREFIXES and (prefix := _outermost(lines)) is not None:
        found.append(prefix)
        lines = [line[match.end() :] for line in lines if (match := prefix.pattern.match(line)) is not None]
    return tuple(found)


def _outermost(lines: Sequence[bytes]) -> Prefix | None:
    """The outermost prefix of the lines: one behind which a record begins, or another prefix."""
    for prefix in PREFIXES:
        rests = _remainders(prefix, lines)
        stamped = "stamp" in prefix.pattern.groupindex
        if any(_begins_record(rest, stamped=stamped) for rest in rests) or (rests and _outermost(rests) is not None):
            return prefix
    return None


def _remainders(prefix: Prefix, lines: Sequence[bytes]) -> list[bytes]:
    """What stands behind the prefix in the lines that have it; empty if too few lines have it."""
    rests: list[bytes] = []
    for number, line in enumerate(lines):
        found = prefix.pattern.match(line)
        if found is not None:
            rests.append(line[found.end() :])
        # Gives up at the first line at which too few of the others can still have the prefix.
        elif number + 1 - len(rests) > len(lines) - _MIN_SHARE * len(lines):
            return []
    return rests


def _begins_record(line: bytes, *, stamped: bool) -> bool:
    if START.match(b"\n" + line) is not None or (stamped and LEVEL_FIRST.match(line) is not None):
        return True
    return json_line(line) is not None


_LABEL = re.compile(rb'\b(?:pod|instance|hostname|host|node_name|container)="([\w.:-]{1,100})"')


def origin_from_labels(labels: bytes) -> dict[str, bytes]:
    """The origin of a line, from its labels."""
    found = _LABEL.search(labels)
    return {} if found is None else {"who": found[1]}


_DATED = re.compile(rb"\[?(?:" + DATED + rb")")
_UNDATED = re.compile(rb"\[?(?:\d\d[-/]\d\d |[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[,.]\d{1,9})?\]?")


def with_prefix_stamp(line: bytes, stamp: bytes) -> bytes:
    """A line behind a prefix with a timestamp.

    If the line begins a record and has no timestamp of its own, or one without a date, it takes that of the prefix.
    """
    if _DATED.match(line) is not None:
        return line
    if LEVEL_FIRST.match(line) is not None:
        return b"[" + stamp + b"] " + line
    found = _UNDATED.match(line)
    if found is not None and START.match(b"\n" + line) is not None:
        return b"[" + stamp + b"]" + line[found.end() :]
    return line
