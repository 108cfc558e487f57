"""Servers that log into the directory of a broker, as ZooKeeper does when it is started with Kafka's own scripts (``patterns/rules/colocated_zookeeper.toml``).

Their records are those of another node: that such a server starts is no beginning of the broker.

NOTE(shared logs): Each process keeps its log open while another one rotates it, and rotates it again later, over what the other has put by. What was written in
between is lost, and nothing in the files says so. So a log that several processes wrote and that was rotated is one of which lines may be missing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from assay.traces.event import LogPosition, Notice
from assay.traces.input.file_contents import FileReading
from assay.traces.input.rotation import series_name
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.message_templates import Mould
from assay.traces.store.packed_records import Rows

KIND = "shared log"


@cache
def _loggers() -> Mapping[str, tuple[str, ...]]:
    """How the loggers of each server begin, by its name."""
    content = tomllib.loads(
        (files("assay.traces.patterns.rules") / "colocated_zookeeper.toml").read_text(encoding="utf-8")
    )
    return {name: tuple(table["loggers"]) for name, table in content.items()}


def apart(logs: Mapping[str, Rows]) -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    """The logs of a directory without what other servers wrote, and what each of these did, by its name; all stay together where no broker says that it writes."""
    if not any(matches.writers for matches in logs.values()):
        return dict(logs), {}
    own, others = dict(logs), dict[str, dict[str, Rows]]()
    for name, loggers in _loggers().items():
        for stream, matches in list(own.items()):
            written = _written_by(matches, loggers)
            if written.any():
                others.setdefault(name, {})[stream] = matches.take(written)
                own[stream] = matches.take(~written)
    return {stream: matches for stream, matches in own.items() if len(matches)}, others


def _written_by(matches: Rows, loggers: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = matches.told(*_logged_by(loggers), np.bool_)
    return found


@cache
def _logged_by(loggers: tuple[str, ...]) -> tuple[Callable[[MatchedRecord], bool], Callable[[Mould], bool]]:
    """Whether a logger begins so: the very same functions each time, by which moulds know their answers again."""
    return lambda match: match.record.logger.startswith(loggers), lambda mould: mould.logger.startswith(loggers)


def shared(parts: Sequence[FileReading]) -> Iterator[Notice]:
    """What is to be said of a log that several processes wrote: where it was rotated, lines may be missing."""
    if len(parts) == 1 and series_name(parts[0].origin.base) == parts[0].origin.base:
        return
    text = "several processes wrote this log, and each rotated it: what one puts by replaces what another has, so that lines may be missing"
    yield Notice(KIND, LogPosition(parts[0].file, 1, 0), text)
