"""In which order the lines of one millisecond stand in files that begin with their newest line.

``tac`` and Loki reverse all lines. A search that sorts by time alone (Kibana) leaves those of equal time as they were
written. Kinds of lines that follow each other at different times tell which of the two it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.message_templates import RecordLayout
from assay.traces.store.packed_records import PackedRecords
from assay.traces.store.record_block import Numbers


def ties_in_order_of_writing(logs: Sequence[PackedRecords]) -> bool:
    """Whether lines of equal time stand in the order of writing in these files, all of one export; else in reverse."""
    codes: dict[str, int] = {}
    pairs, ties = _pairs(logs, codes)
    if not len(pairs):
        return False
    usual, counts = np.unique(_as_numbers(pairs, codes), return_counts=True)

    def frequency(wanted: Numbers) -> Numbers:
        numbers = _as_numbers(wanted, codes)
        at = np.minimum(np.searchsorted(usual, numbers), len(usual) - 1)
        return np.where(usual[at] == numbers, counts[at], 0)

    # A tie (a, b) speaks for the order of the file if b follows a more often than a follows b, where times differ.
    return bool(np.sign(frequency(ties) - frequency(ties[:, ::-1])).sum() > 0)


def _pairs(logs: Sequence[PackedRecords], codes: dict[str, int]) -> tuple[Numbers, Numbers]:
    """The kinds of lines that follow each other: in time where times differ, and in the file where they are equal."""
    in_time, tied = [np.empty((0, 2), np.int64)], [np.empty((0, 2), np.int64)]
    for matches in logs:
        names = matches.evaluate(_patterns_of_match, _patterns_of_layout, np.object_)
        kinds = np.array([codes.setdefault(name, len(codes)) for name in names.tolist()], np.int64)
        pairs = np.stack((kinds[:-1], kinds[1:]), axis=1)
        equal = np.diff(matches.times) == 0
        in_time.append(pairs[~equal][:, ::-1])  # the newest comes first
        tied.append(pairs[equal & (pairs[:, 0] != pairs[:, 1])])
    return np.concatenate(in_time), np.concatenate(tied)


def _as_numbers(pairs: Numbers, codes: dict[str, int]) -> Numbers:
    return pairs[:, 0] * len(codes) + pairs[:, 1]


def _patterns_of_match(match: MatchedRecord) -> str:
    return " ".join(each.pattern.name for each in match.matches)


def _patterns_of_layout(layout: RecordLayout) -> str:
    return " ".join(each.pattern.name for each in layout.template_match.field_layouts)
