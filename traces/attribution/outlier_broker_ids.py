"""Which brokers wrote a file, of those that its lines name as their writers.

NOTE(strays): Where two brokers write one file, each of them says so again and again, or says once what only a process says of itself: that it starts, how it is
configured, that it registers. A line or two with another id among hundreds with one are neither. They are damaged, or were changed, and what the
file is does not hang on them: they stay lines of the process that wrote the others, under the id that they state, so that the model has to explain that, and a
notice says where they are. What states another id more often than that is taken for another broker's, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.traces.event import Notice
from assay.traces.store.packed_records import Rows

MOST = 3
"""How many lines with another id are strays at most."""

AMONG = 50
"""How many lines with one id there are for each such line at least."""

KIND = "another id"


def without_strays(matches: Rows, notices: list[Notice]) -> Rows:
    """The records of a file where no stray line says who wrote them; each is noted."""
    if len(matches.writers) < 2:
        return matches
    counts = matches.writer_counts()
    (main, most), *others = counts.most_common()
    few = {broker for broker, count in others if count <= MOST and count * AMONG <= most}
    strays = few - set(_stated_of_themselves(matches)) if few else few
    if not strays:
        return matches
    for match in (matches[at] for at in matches.written_by(strays)):
        broker = min(match.writers & strays)
        text = f"this line says that broker {broker} wrote it, and {most:,} lines of its file that broker {main} did"
        notices.append(Notice(KIND, match.record.place, f"{text}; it is read as one of these"))
    return matches.unsigned(strays)


def _stated_of_themselves(matches: Rows) -> Iterator[int]:
    """The brokers of whose own process a line tells."""
    for at in matches.telling():
        yield from matches[at].writers
