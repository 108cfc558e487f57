"""Co-located servers: others that log into the directory of a broker, as ZooKeeper does when it is started with Kafka's
own scripts.

Their records belong to a node of their own, because the start of such a server is not a start of the broker.
``patterns/rules/colocated_zookeeper.toml`` lists their loggers. Why a rotated log of several processes may lack lines:
``docs/design/shared-logs.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from assay.traces.attribution.inferred_writers import needs_writer
from assay.traces.event import LogPosition, Notice
from assay.traces.input.file_contents import FileReading
from assay.traces.input.rotation import series_name
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import PackedRecords
from assay.traces.store.record_layouts import RecordLayout

KIND = "shared log"


@cache
def _loggers() -> Mapping[str, tuple[str, ...]]:
    """The prefixes of the loggers of each server, by the name of the server."""
    content = rule_file("colocated_zookeeper.toml")
    return {name: tuple(table["loggers"]) for name, table in content.items()}


def separate_servers(
    logs: Mapping[str, PackedRecords],
) -> tuple[dict[str, PackedRecords], dict[str, dict[str, PackedRecords]]]:
    """Separate the logs of a directory into those of the broker and, by server name, those of other servers.

    Nothing is separated where no line names a broker as its writer.
    """
    # Such a directory is that of a server by itself, which is a node already.
    if not any(matches.writers for matches in logs.values()):
        return dict(logs), {}
    own, others = dict(logs), dict[str, dict[str, PackedRecords]]()
    for name, loggers in _loggers().items():
        for stream, matches in list(own.items()):
            written = _written_by(matches, loggers)
            if not written.any():
                continue
            rest = matches.take(~written)
            if not rest.writers and not any(map(needs_writer, rest)):
                written[:] = True  # a file of the server alone: its process writes some lines by other loggers
            others.setdefault(name, {})[stream] = matches.take(written)
            own[stream] = matches.take(~written)
    return {stream: matches for stream, matches in own.items() if len(matches)}, others


def _written_by(matches: PackedRecords, loggers: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = matches.evaluate(*_logged_by(loggers), np.bool_)
    return found


@cache
def _logged_by(loggers: tuple[str, ...]) -> tuple[Callable[[MatchedRecord], bool], Callable[[RecordLayout], bool]]:
    """Whether a logger has one of these prefixes.

    It is cached because layouts remember results by the identity of the function.
    """
    return lambda match: match.record.logger.startswith(loggers), lambda layout: layout.logger.startswith(loggers)


def shared_log_notices(parts: Sequence[FileReading]) -> Iterator[Notice]:
    """A notice about a log that several processes wrote: if it was rotated, lines may be missing."""
    if len(parts) == 1 and series_name(parts[0].origin.base) == parts[0].origin.base:
        return
    text = "several processes wrote this log, and each rotated it: what one puts by replaces what another has, so that lines may be missing"
    yield Notice(KIND, LogPosition(parts[0].file, 1, 0), text)
