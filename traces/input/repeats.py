"""Records that one file holds twice: who ships logs sends a line or a batch again after a timeout ("at least once").

A process does not report one step twice in the same millisecond and in the same words. Of 125,490 records of our
recordings 500 equal an earlier one, and none of them is a step. Where times are known to the second only, repeats stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.traces.event import LogRecord, Notice
from assay.traces.input.file_contents import FileReading
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER, PackedRecords
from assay.traces.store.record_block import Numbers

FEW = 20
"""In a paste of fewer records equal lines are what somebody wrote."""
AT_ONCE = 1_000
"""By this many milliseconds the records between two that a process wrote at once may differ, for threads write them."""


def drop_repeats(readings: Sequence[FileReading], notices: list[Notice]) -> None:
    """Remove the records that are equal to an earlier one of their file, time and all; a notice counts them."""
    kinds = frozenset(rule_file("repeats.toml")["kinds"])
    for reading in readings:
        repeats = _repeats(reading.matches, kinds) if len(reading.matches) >= FEW else []
        if repeats:
            place = reading.matches[repeats[0]].record.place
            reading.matches = reading.matches.take(np.delete(np.arange(len(reading.matches)), repeats))
            text = f"records that stand here twice, word for word and in one millisecond, were counted once: {len(repeats):,}"
            notices.append(Notice("repeated records", place, text))


def _repeats(matches: PackedRecords, kinds: frozenset[str]) -> list[int]:
    """The positions of the records that repeat an earlier one. Those of some kinds recur by themselves, at once."""
    found: list[int] = []
    seen: dict[tuple[object, ...], int] = {}
    times = matches.times
    for at in _candidates(matches).tolist():
        match = matches[at]
        # With whole seconds a process may well write equal lines within one.
        if match.record.resolution > 1:
            continue
        before = seen.setdefault(_key(match.record), at)
        recurs = any(each.pattern.kind in kinds for each in match.matches)
        if before < at and not (recurs and np.ptp(times[before : at + 1]) < AT_ONCE):
            found.append(at)
    return found


def _key(record: LogRecord) -> tuple[object, ...]:
    return record.time, record.thread, record.level, record.logger, record.message


def _candidates(matches: PackedRecords) -> Numbers:
    """The records whose time and hash of the message others have too, in order."""
    times = matches.times
    # Equal records have equal signs. Whether those with equal signs are equal is decided by their keys.
    signs = matches.message_hashes() ^ times.astype(np.uint64)
    order = np.argsort(signs, kind="stable")
    same = signs[order][1:] == signs[order][:-1]
    alike = np.zeros(len(times), np.bool_)
    alike[order[1:][same]] = alike[order[:-1][same]] = True
    return np.flatnonzero(alike & (times != NEVER))
