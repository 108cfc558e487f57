"""Compiled functions that scan text in the stock Log4j layout: where records begin, when they were written, and how
many lines they have.

A function only reports what it is certain of. A line that might begin a record in another layout is a candidate, and
the regular expressions of ``line_layout`` decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.jit.jit_function import LinearFunction

LF, SPACE, OPEN, CLOSE, ZERO, DASH, COLON, COMMA, DOT, LETTER_T = 10, 32, 91, 93, 48, 45, 58, 44, 46, 84
RETURN, DOLLAR, UNDERSCORE, BEFORE_LOGGER, AFTER_LOGGER = 13, 36, 95, 40, 41
UPPER_A, UPPER_Z = 65, 90
LEVEL = 27
"""The offset of the level in a stock record, counted from the line feed before the record."""

SHORTEST = 34
"""With this many bytes behind its line feed, the header of a stock record can be read without a bounds check."""

FAR = 1 << 62
NO_MOMENT = -FAR
"""The time of a timestamp that names no moment, such as the 31st of February."""

# 2^64 divided by the golden ratio, as an odd number: a product with it spreads keys that are near each other.
FACTOR = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(29)

MONTHS = sum(1 << (ord(letter) - ord("A")) for letter in "JFMASOND")
"""The first letters of month names, as a bit set."""


@LinearFunction
def number(text: Any, at: int, size: int) -> int:
    """The number that ``size`` digits at ``at`` write; -1 if one of them is no digit."""
    found = 0
    for i in range(at, at + size):
        digit = int(text[i]) - ZERO
        if digit < 0 or digit > 9:
            return -1
        found = found * 10 + digit
    return found


@LinearFunction
def is_stamp(text: Any, at: int) -> Any:
    """Whether the separators of a stock timestamp stand here; the digits are not examined."""
    if text[at + 4] != DASH or text[at + 7] != DASH or text[at + 13] != COLON or text[at + 16] != COLON:
        return 0
    if text[at + 10] != SPACE and text[at + 10] != LETTER_T:
        return 0
    return text[at + 19] == COMMA or text[at + 19] == DOT


@LinearFunction
def day_number(year: int, month: int, day: int) -> int:
    """Days since the epoch, in the proleptic Gregorian calendar."""
    # The civil-from-days algorithm: a year begins in March, so that the leap day is its last one. 146,097 days are 400
    # years.
    years = year - (1 if month < 3 else 0)
    era = years // 400
    within = years - era * 400
    of_year = (153 * (month + (9 if month < 3 else -3)) + 2) // 5 + day - 1
    return era * 146097 + within * 365 + within // 4 - within // 100 + of_year - 719468


@LinearFunction
def moment(text: Any, at: int) -> int:
    """The milliseconds since the epoch that a stock timestamp names.

    ``NO_MOMENT`` if it names no moment, and one more than that if it is no such timestamp.
    """
    year, month, day = number(text, at, 4), number(text, at + 5, 2), number(text, at + 8, 2)
    hour, minute, second = number(text, at + 11, 2), number(text, at + 14, 2), number(text, at + 17, 2)
    fraction = number(text, at + 20, 3)
    # A negative number has its sign bit set, so one test finds any.
    if (year | month | day | hour | minute | second | fraction) < 0:
        return 1 - FAR
    # `23:59:60` is a leap second: it becomes the first second of the next minute.
    if year < 1 or month < 1 or month > 12 or day < 1 or day > 31 or hour > 23 or minute > 59 or second > 60:
        return -FAR
    # Days above 28 are compared with the first day of the next month, so no table of lengths of months is needed.
    days = day_number(year, month, day)
    if day > 28 and days >= day_number(year + month // 12, month % 12 + 1, 1):  # the month has fewer days
        return -FAR
    seconds = days * 86400 + hour * 3600 + minute * 60 + second
    return seconds * 1000 + fraction


@LinearFunction
def message_begins(text: Any, at: int) -> int:
    """Where the message of a record begins whose line feed is at ``at``, if a stock header follows; else 0."""
    # `\n[2024-01-31 23:59:59,999] INFO message`: 23 characters of time in the brackets, the level at 27.
    if text[at + 1] != OPEN or text[at + 25] != CLOSE or text[at + 26] != SPACE or not is_stamp(text, at + 2):
        return 0
    body = at + LEVEL
    while body < at + LEVEL + 5 and text[body] >= UPPER_A and text[body] <= UPPER_Z:
        body += 1
    # A level has four or five capital letters, as INFO and TRACE have. All else is left to the slow reader.
    if body < at + LEVEL + 4 or text[body] != SPACE:
        return 0
    while body < text.shape[0] and text[body] == SPACE:
        body += 1
    return body if body < text.shape[0] else 0


@LinearFunction
def may_begin(text: Any, at: int) -> int:
    """Whether a line may begin with a timestamp of any layout: with a digit or the first letter of a month, perhaps in
    a bracket.
    """
    first = int(text[at])
    if first == OPEN and at + 1 < text.shape[0]:
        first = int(text[at + 1])
    if first >= UPPER_A and first <= UPPER_Z:
        return (MONTHS >> (first - UPPER_A)) & 1
    return first >= ZERO and first < ZERO + 10


@LinearFunction
def find_candidates(text: Any, pending: int, first: int, starts: Any, bodies: Any, times: Any, lines: Any) -> int:
    """Find the line feeds before records, where their messages begin, and when they were written. Returns how many
    there are, or -1 if there is no room for them.

    It examines the very first line feed, if a stock record is ``pending`` there, and all from ``first`` on. ``lines``
    counts the latter up to each candidate. For what may be a record in another layout the message begins at 0.
    """
    found, feeds, at, end = 0, 0, 0 if pending else first, text.shape[0] - 1
    while at < end:
        while at < end and text[at] != LF:
            at += 1
        if at == end:
            break
        feeds += at >= first
        if may_begin(text, at + 1):
            if found == starts.shape[0]:
                return -1
            body, time = 0, -FAR
            if at + SHORTEST < text.shape[0]:
                body = message_begins(text, at)
            if body:
                time = moment(text, at + 2)
                # The separators of a stamp, but not its digits: the line is left to the slow reader.
                if time == 1 - FAR:
                    body = 0
            starts[found], bodies[found], times[found], lines[found] = at, body, time, feeds
            found += 1
        # Between a pending record and `first` everything was examined in the block before.
        at = first if at < first else at + 1
    return found


@LinearFunction
def find_plain(text: Any, starts: Any, lines: Any, plain: Any) -> None:
    """Which records are plain ASCII; in a record of several lines, a carriage return makes it not plain.

    ``starts`` has one entry more than there are records: where the last one ends.
    """
    for record in range(plain.shape[0]):
        # All bytes are or-ed: one above 127 shows in the result, without a branch for each.
        wide, returns = 0, 0
        for at in range(starts[record] + 1, starts[record + 1] + 1):
            returns |= text[at] == RETURN
            wide |= int(text[at])
        # A carriage return before the only line feed is part of the line ending; within several lines it may be data.
        plain[record] = wide < 128 and (lines[record + 1] == lines[record] + 1 or not returns)


@LinearFunction
def in_name(letter: int) -> Any:
    """Whether a byte may stand in a logger name, or between it and a line number."""
    # Bit 5 makes capital letters small ones. The range of digits is taken up to the colon, which follows 9 in ASCII.
    small = letter | 32
    if (small >= 97 and small <= 122) or (letter >= ZERO and letter <= COLON):
        return 1
    return letter == UNDERSCORE or letter == DOLLAR or letter == DOT or letter == DASH  # noqa: PLR1714


@LinearFunction
def logger_begins(text: Any, begin: int, end: int) -> int:
    """Where the logger in round brackets at the end of a line begins, with the blank before it; 0 if there is none."""
    if text[end - 1] != AFTER_LOGGER:
        return 0
    at = end - 2
    while at > begin and in_name(text[at]):
        at -= 1
    return at - 1 if at > begin and text[at] == BEFORE_LOGGER and text[at - 1] == SPACE else 0


@LinearFunction
def find_endings(text: Any, starts: Any, lines: Any, bodies: Any, plain: Any, ends: Any, stops: Any) -> None:
    """Where the messages of plain records end: before the logger at the end of their first line, 0 without one.

    ``stops`` receives the line feed of that line.
    """
    for record in range(ends.shape[0]):
        stop = starts[record + 1]
        # A record of one line ends where the next begins. Only in longer ones the end of the first line has to be
        # looked for.
        if lines[record + 1] > lines[record] + 1:
            stop = bodies[record]
        while text[stop] != LF:
            stop += 1
        ends[record] = logger_begins(text, bodies[record], stop) if plain[record] else 0
        stops[record] = stop


@LinearFunction
def hashed(text: Any, begin: int, end: int, fold: Any) -> Any:
    """A hash of a piece of text, each byte replaced by ``fold``.

    Four chains run side by side, because each multiplication waits for the one before it in its chain.
    """
    one, two, three, four = FACTOR, FACTOR, FACTOR, FACTOR
    fours = begin + (end - begin) // 4 * 4
    for at in range(begin, fours, 4):
        one = (one ^ np.uint64(fold[text[at]])) * FACTOR
        two = (two ^ np.uint64(fold[text[at + 1]])) * FACTOR
        three = (three ^ np.uint64(fold[text[at + 2]])) * FACTOR
        four = (four ^ np.uint64(fold[text[at + 3]])) * FACTOR
    for at in range(fours, end):
        one = (one ^ np.uint64(fold[text[at]])) * FACTOR
    one = (one ^ (two >> MIX)) * FACTOR
    three = (three ^ (four >> MIX)) * FACTOR
    return (one ^ (two << MIX) ^ (three >> MIX) ^ four) * FACTOR


@LinearFunction
def intern(text: Any, begin: int, end: int, owner: int, fold: Any, store: Any) -> Any:
    """The number of a piece of text among those of an owner, each byte replaced by ``fold``. It is -1 for a new piece
    without room.

    ``store`` holds slots (numbers from 1, 0 where free), hashes and owners. Then come where each piece begins and the
    last ends, the pieces, and how many there are.
    """
    slots, hashes, owners, offsets, pieces, count = store
    hash_code = hashed(text, begin, end, fold) ^ np.uint64(owner)
    mask = slots.shape[0] - 1
    slot = np.int64(hash_code ^ (hash_code >> MIX)) & mask
    while slots[slot]:
        known = slots[slot] - 1
        first = offsets[known]
        # Equal hashes are not enough. If two kinds were taken for one, lines would get the fields of others.
        if hashes[known] == hash_code and owners[known] == owner and offsets[known + 1] - first == end - begin:
            at = begin
            while at < end and fold[text[at]] == pieces[first + at - begin]:
                at += 1
            if at == end:
                return known
        slot = (slot + 1) & mask
    # No test for a free slot: `DigitPool` has twice as many slots as numbers.
    new = count[0]
    first = offsets[new]
    if new == hashes.shape[0] or first + end - begin > pieces.shape[0]:
        return -1
    for at in range(begin, end):
        pieces[first + at - begin] = fold[text[at]]
    slots[slot], hashes[new], owners[new] = new + 1, hash_code, owner
    offsets[new + 1], count[0] = first + end - begin, new + 1
    return new


@LinearFunction
def number_endings(text: Any, ends: Any, stops: Any, fold: Any, store: Any, numbers: Any) -> None:
    """The number of what ends the first line of each record; -1 where that is not known."""
    for record in range(numbers.shape[0]):
        numbers[record] = intern(text, ends[record], stops[record] + 1, 0, fold, store) if ends[record] else -1


@LinearFunction
def number_kinds(  # noqa: PLR0913, PLR0917
    text: Any, starts: Any, ends: Any, endings: Any, rows: Any, folds: Any, longest: int, store: Any, kinds: Any
) -> None:
    """The number of the kind of each record: of its level and its message, folded by the row for its ending.

    ``rows`` has for each ending the row of its ``fold`` table, or a number below zero that is the kind of all its
    records. The result is -1 for a record that has to be matched by itself.
    """
    for record in range(kinds.shape[0]):
        kind = -1
        if endings[record] >= 0:
            kind = rows[endings[record]]
            begin, end = starts[record] + LEVEL, ends[record]
            if kind >= 0:
                kind = intern(text, begin, end, endings[record], folds[kind], store) if end - begin <= longest else -1
        kinds[record] = kind
