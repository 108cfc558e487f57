"""Outlier broker ids: a few lines of a file that name another broker as their writer than all the others do.

They are damaged lines, not those of a second broker; why, and how the limits were chosen:
``docs/design/outlier-broker-ids.md``.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.traces.event import Notice
from assay.traces.store.packed_records import PackedRecords

MAX_OUTLIERS = 3
"""At most this many lines with another id are outliers."""

MIN_RATIO = 50
"""For each outlier there are at least this many lines with the main id."""

KIND = "another id"


def without_outliers(matches: PackedRecords, notices: list[Notice]) -> PackedRecords:
    """The records of a file without the writers that outliers name; a notice reports each outlier."""
    if len(matches.writers) < 2:
        return matches
    counts = matches.writer_counts()
    (main, most), *others = counts.most_common()
    # Both limits: in a short file three lines may be all that a second broker wrote.
    few = {broker for broker, count in others if count <= MAX_OUTLIERS and count * MIN_RATIO <= most}
    # One line about its own start or registration is enough: then a second broker did write here, if only briefly.
    outliers = few - set(_reporting_on_themselves(matches)) if few else few
    if not outliers:
        return matches
    for match in (matches[at] for at in matches.written_by(outliers)):
        broker = min(match.writers & outliers)
        text = f"this line says that broker {broker} wrote it, and {most:,} lines of its file that broker {main} did"
        notices.append(Notice(KIND, match.record.place, f"{text}; it is read as one of these"))
    return matches.without_writers(outliers)


def _reporting_on_themselves(matches: PackedRecords) -> Iterator[int]:
    """The brokers that are named by lines in which a process reports its own start, configuration or registration."""
    for at in matches.with_roles():
        yield from matches[at].writers
