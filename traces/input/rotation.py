"""Combine files: the parts of a rotated log form one sequence, lines in two files are read once, and missing years are
found.

Rotation leaves ``server.log.2``, ``server.log.1``, ``server.log`` (by size; the highest number is the oldest), or
``server.log.2024-01-01-10`` (by time), or names with the date before the ending. Copies that were taken at different
times overlap.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from time import gmtime
from typing import Any

import numpy as np

from assay.checker.jit.array_ops import among, distinct, repeated
from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import LogPosition, LogRecord, Notice
from assay.traces.input.file_contents import FileReading
from assay.traces.input.lines.timestamps import BASE_YEAR, DAY, year_start
from assay.traces.input.tied_lines import UsualOrder
from assay.traces.store.packed_records import NEVER, PackedRecords
from assay.traces.store.record_block import Numbers

MISSING_PART = "missing part of a log"
"""The kind of a notice that lines of a log were not given, though others of it were."""

_DATE = re.compile(
    r"[._-](?:\d{4}-\d\d-\d\d(?:[-_T]\d\d){0,3}|\d{4}\d\d\d\d(?:[-_]?\d\d){0,3})(?:[.-]\d{1,4})?(?=\.[A-Za-z]{2,4}$|$)"
)
_NUMBER = re.compile(r"(?<=\.[A-Za-z]{3})\.(\d{1,4})$")
# By so many milliseconds parts of one log may overlap, or a log may go on after another.
_TOLERANCE = 5_000
# So many records two files must share, and so many where times are known to the second only (`drop_copies`).
_SHARED = 3
_SHARED_COARSE = 20
_MIN_BACKWARD_STEPS = 10
"""A file is in reverse order if times go back at least this often, and more than four times as often as ahead."""
_MIN_STEPS_ALONE = 2
"""How often times must go back where they never go ahead."""


def series_name(base: str) -> str:
    """The name of the log of which a file of that name may be a rotated part."""
    return _NUMBER.sub("", _DATE.sub("", base))


def logs_in_sequence(readings: Sequence[FileReading]) -> dict[str, list[FileReading]]:
    """The parts of each log in the order of writing, by the name of the first stream.

    Files with names of one log but overlapping times were not written one after the other: each is a log by itself.
    Several of the same name (an archive may hold two, a topic the logs of two processes of a host) get numbers.
    """
    groups: dict[tuple[str, str], list[FileReading]] = defaultdict(list)
    for reading in readings:
        groups[reading.origin.folder, series_name(reading.origin.base)].append(reading)
    logs: dict[str, list[FileReading]] = {}
    for group in groups.values():
        for log in _in_sequence([reading for reading in group if reading.matches]):
            logs[_unique_name(log[0].origin.stream, logs)] = log
    return logs


def _unique_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def _in_sequence(group: list[FileReading]) -> Iterable[list[FileReading]]:
    spans = IdentityMemo((reading, _span(reading)) for reading in group)
    # Of parts within one time, the one with the higher number was written first.
    ordered = sorted(group, key=lambda reading: (spans[reading], -_rotation(reading.origin.base)))
    # Parts of one log follow each other. Files of one name that overlap were written side by side.
    if all(spans[one][1] <= spans[next_][0] + _TOLERANCE for one, next_ in pairwise(ordered)):
        return [ordered] if ordered else []
    return [[reading] for reading in ordered]


def _rotation(base: str) -> int:
    found = _NUMBER.search(base)
    return int(found[1]) if found is not None else 0


def _span(reading: FileReading) -> tuple[int, int]:
    """The first and the last time in a file; zeros if it has none."""
    times = reading.matches.known_times
    return (int(times.min()), int(times.max())) if len(times) else (0, 0)


def reverse_newest_first(readings: Sequence[FileReading], notices: list[Notice]) -> None:
    """Reverse files that begin with their newest line, as exports from a search often do.

    Lines of one millisecond are in reverse, too, or in the order of writing where the search sorts by time alone.
    """
    newest_first = [reading for reading in readings if _begins_with_newest(reading.matches)]
    turned = [reading.matches.take(slice(None, None, -1)) for reading in newest_first]
    # Now they are as they were written, unless the file had them so.
    as_written = UsualOrder(turned).is_reversed(turned)
    for reading, reverse in zip(newest_first, turned, strict=True):
        reading.matches = reading.matches.take(_by_time(reading.matches)) if as_written else reverse
        # Times went back because of the order of the file, not because of a clock.
        reading.tally.notices[:] = [each for each in reading.tally.notices if each.kind != "clock went back"]
        text = "the newest line comes first; the lines were read from the last to the first"
        text += ", those of one millisecond in the order of the file" if as_written else ""
        notices.append(Notice("newest first", LogPosition(reading.file, 1, 0), text))


def _begins_with_newest(matches: PackedRecords) -> bool:
    """Of a few lines, none may be later than the one before: a paste is as short as that."""
    steps = np.diff(matches.known_times)
    back, ahead = np.count_nonzero(steps < 0), np.count_nonzero(steps > 0)
    return bool(back > 4 * ahead and back >= (_MIN_BACKWARD_STEPS if ahead else _MIN_STEPS_ALONE))


def _by_time(matches: PackedRecords) -> Numbers:
    """The positions of the records of a file that begins with its newest line, from the oldest on; ties stay."""
    places = np.arange(len(matches))
    groups = np.cumsum(np.diff(matches.times, prepend=matches.times[:1]) != 0)
    return np.lexsort((places, -groups))


def missing_parts(readings: Sequence[FileReading]) -> list[Notice]:
    """Notices about numbers that are missing among the parts of rotated logs."""
    groups: dict[tuple[str, str], dict[int, FileReading]] = defaultdict(dict)
    for reading in readings:
        if number := _rotation(reading.origin.base):
            groups[reading.origin.folder, series_name(reading.origin.base)][number] = reading
    found: list[Notice] = []
    for (_, name), parts in groups.items():
        missing = sorted(set(range(1, max(parts))) - set(parts))
        # With more missing than there, they are hardly those of a rotation: ports, dates, or a choice of parts.
        if missing and len(parts) >= len(missing):
            text = f"of {name}, the rotated parts {', '.join(map(str, missing))} are missing"
            found.append(Notice(MISSING_PART, LogPosition(parts[max(parts)].file, 1, 0), text))
    return found + list(_unfinished(readings))


def _unfinished(readings: Sequence[FileReading]) -> Iterator[Notice]:
    """Notices about logs of which only rotated parts were read, while others of the same folder continue. A part is
    rotated when the next line is written.
    """
    folders: dict[str, dict[str, list[FileReading]]] = defaultdict(lambda: defaultdict(list))
    for reading in readings:
        if reading.matches:
            folders[reading.origin.folder][series_name(reading.origin.base)].append(reading)
    for logs in folders.values():
        whole = {name for name, parts in logs.items() if any(part.origin.base == name for part in parts)}
        until = max((_span(part)[1] for name in whole for part in logs[name]), default=0)
        for name, parts in logs.items():
            last = max(parts, key=_span)
            if name not in whole and _span(last)[1] + _TOLERANCE < until:
                text = f"of {name}, rotated parts alone were read: what was written after {last.origin.base} is missing"
                yield Notice(MISSING_PART, LogPosition(last.file, 1, 0), text)


Key = tuple[int, str, str]


def drop_copies(readings: Sequence[FileReading], notices: list[Notice]) -> None:
    """Remove records that an earlier file also holds, where two files overlap; the later file's folder is then that of
    the earlier.

    Two nodes may by chance write the same line in the same millisecond. Files overlap if they share at least three
    records, and half of what either has in their common interval of time. They must not name different brokers. Where
    times are known to the second only, more records are needed.
    """
    first: dict[Key, int] = {}
    common = _times_in_several_files(readings)
    keys = [_keys(reading.matches, common) for reading in readings]
    moved: dict[str, str] = {}
    for number, reading in enumerate(readings):
        # Each record counts for the first file that holds it, so a file is compared with few others and not with all.
        shared: Counter[int] = Counter(first[key] for key in keys[number] if key in first)
        for earlier, count in shared.most_common(3):
            if count >= _SHARED and not _name_different_brokers(readings[earlier], reading):
                _drop(readings[earlier], reading, keys[earlier], moved, notices)
                keys[number] = _keys(reading.matches, common)
        for key in keys[number]:
            first.setdefault(key, number)
    for reading in readings:
        folder = moved.get(reading.origin.folder)
        if folder is not None:
            reading.origin = replace(reading.origin, folder=folder)


def _times_in_several_files(readings: Sequence[FileReading]) -> Numbers:
    """The times at which some file may hold a record that another file also holds, in order."""
    times = _repeated([reading.matches.times for reading in readings])
    times = times[times != NEVER]
    # Hashes come first, so that only records with equal hashes are made and compared: a log has millions.
    signs, loose = [], []
    for reading in readings:
        own = reading.matches.take(among(reading.matches.times, times))
        signs.append((own.message_hashes() ^ own.times.astype(np.uint64))[own.packed])
        loose.append(own.times[~own.packed])
    several = _repeated(signs)
    alike = (
        [
            own.times[own.packed & among(own.message_hashes() ^ own.times.astype(np.uint64), several)]
            for own in (reading.matches for reading in readings)
        ]
        if len(several)
        else []
    )
    return distinct(np.concatenate([*loose, *alike, np.empty(0, np.int64)]))


def _repeated(values: Sequence[Any]) -> Any:
    """The values that are in more than one of the arrays."""
    if not values:
        return np.empty(0, np.int64)
    return repeated(np.concatenate([distinct(own) for own in values]))


def _keys(matches: PackedRecords, times: Numbers) -> list[Key]:
    """The keys of the records at some times, by which copies are recognised."""
    own = matches.take(among(matches.times, times)) if len(times) else ()
    return [_key(match.record, match.record.time) for match in own if match.record.time is not None]


def _key(record: LogRecord, time: int) -> Key:
    return time, record.logger, record.message.partition("\n")[0]


def _name_different_brokers(one: FileReading, other: FileReading) -> bool:
    """Whether the lines of both files name their brokers, and no broker is named in both."""
    ids = [reading.matches.writers for reading in (one, other)]
    return bool(ids[0] and ids[1]) and not ids[0] & ids[1]


def _drop(
    earlier: FileReading, later: FileReading, theirs: list[Key], moved: dict[str, str], notices: list[Notice]
) -> None:
    """Remove from the later file what the earlier one has, if the two overlap."""
    # Counted: a record that stands twice in the later file and once in the earlier is dropped once.
    left = Counter(theirs)
    kept: list[int] = []
    dropped: list[int] = []
    coarse = False
    for at, match in enumerate(later.matches):
        time = match.record.time
        key = None if time is None else _key(match.record, time)
        copied = key is not None and left[key] > 0
        if key is not None and copied:
            left[key] -= 1
            coarse |= match.record.resolution > 1
        (dropped if copied else kept).append(at)
    # Too few, or none any more: a third file may have held them too, and the later file has no record left.
    if len(dropped) < _SHARED:
        return
    window = _overlap_size(earlier, later)
    if len(dropped) < max(_SHARED_COARSE if coarse else _SHARED, window // 2):
        return
    place = later.matches[dropped[0]].record.place
    later.matches = later.matches.take(np.array(kept, np.int64))
    if later.origin.folder != earlier.origin.folder:
        moved.setdefault(later.origin.folder, moved.get(earlier.origin.folder, earlier.origin.folder))
    text = f"{len(dropped):,} records that {earlier.origin.stream} holds too; they were counted once"
    notices.append(Notice("duplicated input", place, text))


def _overlap_size(*readings: FileReading) -> int:
    """How many records the file with fewer of them has in the common interval of time."""
    both = [reading.matches.known_times for reading in readings]
    begin, end = max(int(times.min()) for times in both), min(int(times.max()) for times in both)
    return min(int(np.count_nonzero((begin <= times) & (times <= end))) for times in both)


def complete_years(readings: Sequence[FileReading], notices: list[Notice]) -> None:
    """Complete timestamps without year, or without date, from the other files, or from the file's modification time."""
    dated = [_span(reading) for reading in readings if reading.matches and reading.lacks is None]
    for reading in readings:
        if reading.lacks is None or not reading.matches:
            continue
        begin, end = _span(reading)
        shift = _shift(reading.lacks, begin, end, dated, reading.origin.modified)
        reading.matches = reading.matches.relocated(reading.file, times=shift)
        reading.trouble.shift(shift)
        source = "that of the other files" if dated else "that of the file's last change" if shift else "unknown"
        text = f"the time stamps have no {reading.lacks}; it was taken to be {source}"
        notices.append(Notice(f"no {reading.lacks}", LogPosition(reading.file, 1, 0), text))


def _shift(lacks: str, begin: int, end: int, dated: Sequence[tuple[int, int]], modified: int | None) -> int:
    """By how much times that count from the base year are shifted: next to the other files, or before the last
    modification.
    """
    # The other files were copied at about the same time, and say more than the date of the file itself.
    anchor = max((last for _, last in dated), default=modified)
    if anchor is None:
        return 0
    if lacks == "date":
        days = round((anchor - end) / DAY) if dated else (anchor + DAY // 24 - end) // DAY
        return days * DAY
    last_year = gmtime(anchor / 1000).tm_year
    shifts = [year_start(year) - year_start(BASE_YEAR) for year in (last_year - 1, last_year, last_year + 1)]
    leap = [
        shift + _leap_days(begin, year)
        for shift, year in zip(shifts, (last_year - 1, last_year, last_year + 1), strict=True)
    ]
    if dated:
        return min(leap, key=lambda shift: abs(end + shift - anchor))
    return max((shift for shift in leap if end + shift <= anchor + DAY), default=leap[0])


def _leap_days(begin: int, year: int) -> int:
    """The day to subtract after February in a year without a 29th, because the base year has one."""
    # The 31 days of January and the 29 of February in the base year.
    after_february = begin - year_start(BASE_YEAR) >= 60 * DAY
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 0 if is_leap or not after_february else -DAY
